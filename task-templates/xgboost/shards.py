"""Reads the files of one rank as features and labels."""

import glob
import gzip
from pathlib import Path

import numpy
import scipy.sparse


class DataError(Exception):
    """Files that cannot be trained on; the message names the file or the pattern."""


def share_of(pattern, rank, world_size):
    """The files that this rank reads: every `world_size`-th of the pattern's, in order of their names."""
    files = sorted(Path(name) for name in glob.glob(pattern))
    if len(files) < world_size:
        raise DataError(f"{pattern} matches {len(files)} files; {world_size} workers need at least one each")
    return files[rank::world_size]


def load(files, label):
    """Features (rows, columns) and labels (rows,) of all files together; float32, sparse for libsvm."""
    parts = [load_file(path, label) for path in files]
    features, labels = zip(*parts)
    if scipy.sparse.issparse(features[0]):
        width = max(part.shape[1] for part in features)
        for part in features:
            part.resize(part.shape[0], width)
        return scipy.sparse.vstack(features, format="csr"), numpy.concatenate(labels)
    return numpy.concatenate(features), numpy.concatenate(labels)


def load_file(path, label):
    name = path.name.removesuffix(".gz")
    try:
        if name.endswith(".npz"):
            return load_npz(path, label)
        if name.endswith(".csv"):
            return load_csv(path, label)
        if name.endswith((".libsvm", ".svm")):
            return load_libsvm(path)
    except (KeyError, ValueError, OSError) as error:
        raise DataError(f"{path}: {error}") from error
    raise DataError(f"{path}: the ending must be .npz, .csv, .csv.gz, .libsvm or .svm")


def load_npz(path, label):
    with numpy.load(path) as arrays:
        return arrays["X"].astype(numpy.float32), arrays[label].astype(numpy.float32)


def load_csv(path, label):
    """A line of names, then numbers; an empty field is a missing value."""
    with open_text(path) as lines:
        names = next(lines).strip().split(",")
        table = numpy.genfromtxt(lines, delimiter=",", dtype=numpy.float32, ndmin=2)
    if label not in names:
        raise ValueError(f"there is no column {label!r}; it has {', '.join(names)}")
    column = names.index(label)
    return numpy.delete(table, column, axis=1), table[:, column]


def load_libsvm(path):
    """`label index:value index:value ...` a line, indices from 0 or 1 alike."""
    labels, values, columns, ends = [], [], [], [0]
    with open_text(path) as lines:
        for line in lines:
            words = line.split("#")[0].split()
            if not words:
                continue
            labels.append(float(words[0]))
            for word in words[1:]:
                column, value = word.split(":")
                columns.append(int(column))
                values.append(float(value))
            ends.append(len(values))
    features = scipy.sparse.csr_matrix((values, columns, ends), dtype=numpy.float32)
    return features, numpy.array(labels, dtype=numpy.float32)


def open_text(path):
    return gzip.open(path, "rt") if path.suffix == ".gz" else open(path)
