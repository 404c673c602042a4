"""Runs an ONNX model over rows of a table, and finds out what it tells: a number, or classes and how probable each is."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy
import onnxruntime
from tables import Mistake, first_line, numbers, texts

#: How the types of a model's inputs are called in numpy.
NUMBERS = {
    "tensor(float)": numpy.float32,
    "tensor(double)": numpy.float64,
    "tensor(float16)": numpy.float16,
    "tensor(int64)": numpy.int64,
    "tensor(int32)": numpy.int32,
    "tensor(bool)": numpy.bool_,
}
LABELS = ("tensor(int64)", "tensor(int32)", "tensor(string)")


@dataclass
class Scores:
    """What the model says of some rows."""

    #: The class that it decides for, or the number that it tells; (rows,).
    decided: numpy.ndarray
    #: How probable each class is, (rows, classes); none of a regression, or of a model that tells classes alone.
    probabilities: numpy.ndarray | None = None


def find_model(place, argument, workspace, run_dir, endings=(".onnx",)):
    """The model's file: `place` is one, or a folder with one, relative to the project's folder or to the run's."""
    found = next((path for path in (workspace / place, run_dir / place) if path.exists()), None)
    if found is None:
        raise Mistake(f"`{argument}`: there is no model at {place}, neither in the project's folder nor in the run's")
    while found.is_dir() and len(inside := list(found.iterdir())) == 1 and inside[0].is_dir():
        # A folder that was registered lies in the version's folder under its own name.
        found = inside[0]
    if found.is_dir():
        files = sorted(file for file in found.iterdir() if file.name.endswith(endings))
        if len(files) != 1:
            raise Mistake(f"`{argument}`: {found} has {len(files)} files that end with {' or '.join(endings)}; name one")
        return files[0]
    return found


class Model:
    """A model that ONNX Runtime has read."""

    def __init__(self, path, argument, task="classification", scores="probabilities", threads=1):
        self.path, self.argument, self.task, self.scores = Path(path), argument, task, scores
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        # Its warnings are for who made the model; errors are raised anyway.
        options.log_severity_level = 4
        try:
            self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the library has no class of its own for all that can be wrong
            raise Mistake(f"`{argument}`: {path} is no ONNX model that can be read: {first_line(error)}") from None
        self.inputs, self.outputs = self.session.get_inputs(), self.session.get_outputs()
        said = self.session.get_modelmeta().custom_metadata_map
        self.known_features, self.known_classes = (listed(said.get(name)) for name in ("features", "classes"))
        for each in self.inputs:
            if each.type not in NUMBERS and each.type != "tensor(string)":
                raise self.mistake(f"its input {each.name!r} is a {each.type}, which no column of a table has")
            if each.shape and isinstance(each.shape[0], int):
                rows = each.shape[0]
                raise self.mistake(f"it takes {rows} rows at once, no more, no less; export it with a dynamic first axis")
        self.label, self.score = self.find_outputs()
        # Of a model with one output of scores the classes are their positions.
        self.classes = self.known_classes

    def mistake(self, what, argument=None):
        return Mistake(f"`{argument or self.argument}`: {self.path}: {what}")

    def find_outputs(self):
        """The positions of the output with classes, and of the one with scores or the number."""
        label = next((at for at, each in enumerate(self.outputs) if each.type in LABELS), None)
        score = next((at for at, each in enumerate(self.outputs) if "float" in each.type or "double" in each.type), None)
        if self.task == "regression" and (label is not None or score is None):
            raise self.mistake("the model tells classes, it is no regression", "task")
        if label is None and score is None:
            raise self.mistake(f"its outputs are {', '.join(each.type for each in self.outputs)}; none of them is a score")
        return label, score

    def width(self):
        """How many features a model with one input takes, if it says so."""
        sides = self.inputs[0].shape[1:]
        return int(numpy.prod(sides)) if sides and all(isinstance(side, int) for side in sides) else None

    def features(self, chosen, columns, others):
        """The columns that the model reads, in its order: those that were chosen, those that it knows by name, or all of
        the table's but `others`."""
        if len(self.inputs) > 1:
            names = chosen or [each.name for each in self.inputs]
            if len(names) != len(self.inputs):
                raise self.mistake(f"there are {len(names)}, and the model has {len(self.inputs)} inputs", "features")
            return names
        names = chosen or self.known_features or [name for name in columns if name not in others]
        if self.width() not in (None, len(names)):
            where = "`features` has" if chosen else "the model's own list has" if self.known_features else "the table has"
            raise self.mistake(f"the model takes {self.width()} features, and {where} {len(names)}", "features")
        return names

    def __call__(self, batch, names, file):
        """The scores of a batch of rows of this file."""
        columns = [batch.column(batch.schema.get_field_index(name)) for name in names]
        if len(self.inputs) == 1:
            only = self.inputs[0]
            parts = [self.array(column, only, name, file) for column, name in zip(columns, names)]
            shape = [side if isinstance(side, int) else -1 for side in only.shape[1:]]
            shape = shape if shape.count(-1) < 2 and shape else [-1]
            feed = {only.name: numpy.stack(parts, axis=1).reshape(batch.num_rows, *shape)}
        else:
            feed = {
                each.name: self.array(column, each, name, file).reshape([-1] + [1] * (len(each.shape) - 1))
                for column, each, name in zip(columns, self.inputs, names)
            }
        return self.run(feed)

    def array(self, column, wanted, name, file):
        if wanted.type == "tensor(string)":
            return texts(column).astype(object)
        found = numbers(column, name, file)
        kind = NUMBERS[wanted.type]
        if not numpy.issubdtype(kind, numpy.floating) and numpy.isnan(found).any():
            raise Mistake(f"`data`: the column {name!r} of {file} has empty fields, which the model does not take")
        return found.astype(kind)

    def run(self, feed):
        try:
            found = self.session.run(None, feed)
        except Exception as error:  # as above
            raise self.mistake(f"the model fails: {first_line(error)}") from None
        if self.task == "regression":
            return Scores(one_column(found[self.score], self))
        return self.classified(found)

    def classified(self, found):
        label = None if self.label is None else numpy.asarray(found[self.label]).reshape(-1)
        if self.score is None:
            return Scores(label)
        raw = found[self.score]
        if isinstance(raw, list):
            # A mapping a row, as scikit-learn's converter writes them by default.
            self.classes = list(raw[0]) if raw else self.classes
            raw = numpy.array([[row[name] for name in self.classes] for row in raw])
        raw = numpy.asarray(raw, dtype=numpy.float64)
        raw = raw.reshape(len(raw), -1)
        if label is not None:
            return Scores(label, self.named(label, raw))
        probabilities = self.probabilities(raw)
        self.classes = self.classes or list(range(probabilities.shape[1]))
        return Scores(numpy.array(self.classes)[probabilities.argmax(axis=1)], probabilities)

    def named(self, label, raw):
        """The scores beside classes: none if they are no probabilities, or if nobody says whose they are."""
        if raw.size and (raw.min() < -1e-4 or raw.max() > 1 + 1e-4):
            return None
        if raw.shape[1] == 1:
            raw = numpy.hstack([1 - raw, raw])
        if self.classes is None and label.dtype.kind in "iu":
            self.classes = list(range(raw.shape[1]))
        if self.classes is None or len(self.classes) != raw.shape[1] or not numpy.isin(label, self.classes).all():
            self.classes = None
            return None
        # Sums of 32-bit numbers are a little more than 1.
        return raw.clip(0, 1)

    def probabilities(self, raw):
        """Of the only output; a single column is the second class'."""
        if self.scores == "logits":
            if raw.shape[1] == 1:
                second = 1 / (1 + numpy.exp(-raw))
                return numpy.hstack([1 - second, second])
            powers = numpy.exp(raw - raw.max(axis=1, keepdims=True))
            return powers / powers.sum(axis=1, keepdims=True)
        if raw.shape[1] == 1:
            raw = numpy.hstack([1 - raw, raw])
        if raw.size and (raw.min() < -1e-4 or abs(raw.sum(axis=1) - 1).max() > 1e-3):
            raise self.mistake("the model's scores are no probabilities; if they are logits, say `scores: logits`", "scores")
        return raw


def one_column(values, model):
    found = numpy.asarray(values, dtype=numpy.float64)
    if found.size != len(found):
        raise model.mistake(f"the model tells {found.size // len(found)} numbers a row, a regression one", "task")
    return found.reshape(-1)


def listed(text):
    return json.loads(text) if text else None
