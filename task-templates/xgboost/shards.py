"""Reads the files of one rank as features and labels."""

import array
import csv
import glob
import gzip
import math
import zipfile
import zlib
from pathlib import Path

import numpy
import scipy.sparse


class DataError(Exception):
    """Files that cannot be trained on; the message names the file or the pattern."""


#: What a file that is cut off, or is none of its kind, makes its reader raise.
UNREADABLE = (KeyError, ValueError, OSError, EOFError, csv.Error, zipfile.BadZipFile, zlib.error)


def share_of(pattern, rank, world_size):
    """The files that this rank reads: every `world_size`-th of the pattern's, in order of their names."""
    files = sorted(Path(name) for name in glob.glob(pattern))
    if len(files) < world_size:
        raise DataError(f"{pattern} matches {len(files)} files; {world_size} workers need at least one each")
    return files[rank::world_size]


def load(files, label):
    """Columns, features (rows, columns) and labels (rows,) of all files together; float32, sparse for libsvm.

    Columns are the names of a csv's features, the number of an npz's, and nothing of libsvm's. All files must have the same.
    """
    parts = [load_file(path, label) for path in files]
    columns, features, labels = zip(*parts)
    if scipy.sparse.issparse(features[0]):
        width = max(part.shape[1] for part in features)
        for part in features:
            part.resize(part.shape[0], width)
        return None, scipy.sparse.vstack(features, format="csr"), numpy.concatenate(labels)
    for path, own in zip(files, columns):
        if own != columns[0]:
            raise DataError(f"{path}: {differ(own, columns[0], files[0])}")
    return columns[0], numpy.concatenate(features), numpy.concatenate(labels)


def differ(own, others, whose):
    """Says that a file has other columns: rows would be added to the wrong features."""
    told = (", ".join(names) if isinstance(names, list) else str(names) for names in (own, others))
    return "its columns are {}; those of {} are {}".format(next(told), whose, next(told))


def load_file(path, label):
    name = path.name.removesuffix(".gz")
    try:
        if name.endswith(".npz"):
            return load_npz(path, label)
        if name.endswith(".csv"):
            return load_csv(path, label)
        if name.endswith((".libsvm", ".svm")):
            return None, *load_libsvm(path)
    except UNREADABLE as error:
        raise DataError(f"{path}: {error}") from error
    raise DataError(f"{path}: the ending must be .npz, .csv, .csv.gz, .libsvm or .svm")


def load_npz(path, label):
    with numpy.load(path) as arrays:
        features = arrays["X"].astype(numpy.float32)
        return features.shape[1], features, arrays[label].astype(numpy.float32)


def load_csv(path, label):
    """A line of names, then numbers; an empty field is a missing value."""
    with open_text(path) as lines:
        rows = csv.reader(lines)
        names = next(rows, None)
        if names is None:
            raise ValueError("it is empty")
        if label not in names:
            raise ValueError(f"there is no column {label!r}; it has {', '.join(names)}")
        values = array.array("f")
        for row in rows:
            if row:
                values.extend(numbers(row, names, rows.line_num))
    table = numpy.frombuffer(values, dtype=numpy.float32).reshape(-1, len(names))
    column = names.index(label)
    return names[:column] + names[column + 1 :], numpy.delete(table, column, axis=1), table[:, column]


def numbers(row, names, line):
    if len(row) != len(names):
        raise ValueError(f"line {line} has {len(row)} fields, and the first one {len(names)}")
    try:
        return [float(field) if field.strip() else math.nan for field in row]
    except ValueError:
        name, field = next((name, field) for name, field in zip(names, row) if field.strip() and not is_number(field))
        raise ValueError(f"line {line}: {name} is {field!r}, and must be a number") from None


def is_number(field):
    try:
        float(field)
    except ValueError:
        return False
    return True


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
