"""Converts a model to ONNX, and compares both on the same rows before it is written."""

import argparse
import importlib
import json
import os
import sys
import warnings
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
# The template's folder stays as it was: no compiled files in it.
sys.dont_write_bytecode = True
import cubeloom
from scoring import Model, find_model
from tables import Mistake, Table, files_of, numbers

ENDINGS = (".json", ".ubj", ".skops", ".joblib", ".pkl", ".pickle", ".pt", ".ts", ".torchscript")
#: The module and the class that know a format; each loads its own library alone.
SOURCES = {
    "xgboost": ("xgboost_model", "XGBoostModel"),
    "sklearn": ("sklearn_model", "SklearnModel"),
    "torchscript": ("torch_model", "TorchModel"),
}
SEED = 7


def main():
    options = arguments()
    sys.stdout.reconfigure(line_buffering=True)
    # Of libraries about each other; what matters is whether both models say the same.
    warnings.simplefilter("ignore", FutureWarning)
    try:
        run(options)
    except Mistake as mistake:
        sys.exit(str(mistake))
    except OSError as error:
        sys.exit(f"{error.filename or options.output}: {error.strerror or error}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="the model, in the project's folder or the run's")
    parser.add_argument("--output", required=True, help="the ONNX file, in the run's folder")
    parser.add_argument("--format", choices=list(SOURCES), help="by the file's ending if not said")
    parser.add_argument("--data", help="tables to compare on: a file, a folder or a pattern in the run's folder")
    parser.add_argument("--features", type=json.loads, help="the columns that the model reads, in its order")
    parser.add_argument("--rows", type=int, default=1000, help="how many rows are compared")
    parser.add_argument("--tolerance", type=float, default=1e-4)
    parser.add_argument("--trusted", type=json.loads, default=[], help="types in a skops file that may be loaded")
    parser.add_argument("--shape", type=json.loads, default=[], help="the shape of a row of PyTorch's model")
    return parser.parse_args()


def run(options):
    path = find_model(options.model, "model", cubeloom.workspace, cubeloom.run_dir, ENDINGS)
    kind = options.format or cubeloom.model_format(path)
    if kind == "other":
        raise Mistake(f"`format`: the ending of {path.name} does not say what it is; say it here")
    module, name = SOURCES.get(kind, (kind, None))
    if not Path(__file__).with_name(f"{module}.py").exists():
        hint = "; TorchScript is exported by `pytorch-export`" if kind in ("pytorch", "torchscript") else ""
        raise Mistake(f"`model`: {path} is of the format {kind}, which this template does not convert{hint}")
    source = getattr(importlib.import_module(module), name)(path, options)
    features = options.features or source.features
    if options.features and len(options.features) != source.width:
        raise Mistake(f"`features`: the model takes {source.width} features, and there are {len(options.features)}")
    rows = inputs(options, source, features)
    proto = source.convert()
    for name, values in (("features", features), ("classes", source.classes)):
        if values is not None:
            proto.metadata_props.add(key=name, value=json.dumps(values))
    target = Path(os.path.abspath(cubeloom.run_dir / options.output))
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = target.with_name(f".{target.name}.part")
    try:
        aside.write_bytes(proto.SerializeToString())
        difference = compare(source, aside, rows, options.tolerance)
        aside.rename(target)
    finally:
        aside.unlink(missing_ok=True)
    cubeloom.metric("difference", difference)
    cubeloom.outputs(
        model=str(target), difference=difference, rows=len(rows), generated=options.data is None, features=features
    )


def inputs(options, source, features):
    """The rows that both models are compared on; 32-bit numbers, as ONNX has them."""
    if options.data is None:
        rows = generate(source, options.rows)
        print(f"no `data`: {len(rows)} rows are drawn at random")
        return rows
    parts, count = [], 0
    for file in files_of(options.data, cubeloom.run_dir):
        table = Table(file)
        if features is None and len(table.columns) != source.width:
            raise Mistake(
                f"`features`: the model takes {source.width} and does not know their names, and {file} has "
                f"{len(table.columns)} columns; name those that it reads"
            )
        names = features or table.columns
        table.need(names, "features")
        for _, batch in table.batches(names, options.rows, [(0, options.rows - count)]):
            parts.append(numpy.stack([numbers(batch.column(at), name, file) for at, name in enumerate(names)], axis=1))
            count += batch.num_rows
        if count >= options.rows:
            break
    if not count:
        raise Mistake(f"`data`: there are no rows at {options.data}")
    return numpy.concatenate(parts).astype(numpy.float32)


def generate(source, rows):
    """Rows on both sides of where the model decides; some of the values are missing where it can do with that."""
    low, high = source.ranges()
    margin = numpy.maximum((high - low) / 4, 1e-3)
    random = numpy.random.default_rng(SEED)
    found = random.uniform(low - margin, high + margin, (rows, source.width))
    if source.takes_missing:
        found[random.random(found.shape) < 0.05] = numpy.nan
    return found.astype(numpy.float32)


def compare(source, path, rows, tolerance):
    """The largest difference between both models; fails if it is too large."""
    model = Model(path, "model", "classification" if source.classes else "regression")
    feed = {model.inputs[0].name: rows.reshape(-1, *source.shape)}
    label, scores = source.predict(rows)
    if source.raw:
        return worst(model.session.run(None, feed)[0].reshape(len(rows), -1), scores, tolerance)
    said = model.run(feed)
    if scores is None:
        wrong = said.decided.astype(str) != numpy.asarray(label).astype(str)
        return verdict(float(wrong.mean()), f"{int(wrong.sum())} of {len(rows)} rows are of another class", tolerance)
    return worst(said.probabilities if source.classes else said.decided, scores, tolerance)


def worst(own, scores, tolerance):
    if own is None or own.shape != scores.shape:
        raise Mistake("`model`: the converted model has other outputs than the original; it cannot be converted")
    apart = numpy.nan_to_num(abs(own - scores) / numpy.maximum(1, abs(scores)), nan=numpy.inf).reshape(len(own), -1)
    difference, row = float(apart.max()), int(apart.max(axis=1).argmax())
    return verdict(difference, f"largest difference {difference:.3g}, in row {row} of {len(own)}", tolerance)


def verdict(difference, what, tolerance):
    print(f"original and ONNX: {what}")
    if difference > tolerance:
        raise Mistake(
            f"`tolerance`: the converted model differs from the original by {difference:.3g}, more than {tolerance:g}; "
            f"nothing is written ({what})"
        )
    return difference


main()
