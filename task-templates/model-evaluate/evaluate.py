"""Evaluates an ONNX model on a table whose answers are known, and compares it with another model on the same rows."""

import argparse
import csv
import io
import json
import os
import sys
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
# The template's folder stays as it was: no compiled files in it.
sys.dont_write_bytecode = True
import cubeloom
from metrics import LESS, confusion, of_classification, of_regression
from scoring import Model, Scores, find_model
from tables import Mistake, Table, files_of, numbers, texts

#: How many rows are scored at once.
ROWS = 8192
#: The files of a report, and what they are called among the run's artifacts.
ARTIFACTS = {"confusion.csv": "confusion matrix", "report.json": "report"}


def main():
    options = arguments()
    sys.stdout.reconfigure(line_buffering=True)
    try:
        run(options)
    except Mistake as mistake:
        sys.exit(str(mistake))
    except OSError as error:
        sys.exit(f"{error.filename or folder_of(options)}: {error.strerror or error}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="the model, in the project's folder or the run's")
    parser.add_argument("--against", help="another one to compare it with")
    parser.add_argument("--data", required=True, help="tables: a file, a folder or a pattern in the run's folder")
    parser.add_argument("--target", required=True, help="the column with the answers")
    parser.add_argument("--features", type=json.loads, help="the columns that the model reads, in its order")
    parser.add_argument("--task", choices=["classification", "regression"], default="classification")
    parser.add_argument("--scores", choices=["probabilities", "logits"], default="probabilities")
    parser.add_argument("--by", default="accuracy", help="the metric that decides which model is better")
    parser.add_argument("--report", help="the folder for the report, in the run's folder")
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def run(options):
    places = {"model": options.model} | ({"against": options.against} if options.against else {})
    models = [opened(place, argument, options) for argument, place in places.items()]
    files = files_of(options.data, cubeloom.run_dir)
    truth, scored = score(models, files, options)
    found = [judge(truth, each, model, options) for model, each in zip(models, scored)]
    for argument, figures in zip(places, found):
        print(f"{argument}, on {len(truth)} rows: " + ", ".join(f"{name} {value:.6g}" for name, value in figures.items()))
        for name, value in figures.items():
            cubeloom.metric(name if argument == "model" else f"{argument}_{name}", value)
    better = compare(options.by, *found) if options.against else None
    write_report(folder_of(options), options, truth, scored[0], found, better)
    cubeloom.outputs(
        rows=len(truth), metrics=found[0], against=found[1] if options.against else None, better=better
    )


def opened(place, argument, options):
    path = find_model(place, argument, cubeloom.workspace, cubeloom.run_dir)
    return Model(path, argument, options.task, options.scores, options.threads)


def score(models, files, options):
    """The answers of all rows, and what each model says of them. Features are read once and not kept."""
    truth, scored, total = [], [[] for _ in models], 0
    for file in files:
        table = Table(file)
        table.need([options.target], "target")
        names = [model.features(options.features, table.columns, [options.target]) for model in models]
        for each in names:
            table.need(each, "features")
        # Each column once, though both models read it.
        columns = list(dict.fromkeys([options.target, *(name for each in names for name in each)]))
        for _, batch in table.batches(columns, ROWS):
            truth.append(answers(batch, options, file))
            for model, each, said in zip(models, names, scored):
                said.append(model(batch, each, file))
            total += batch.num_rows
        print(f"{file}: {total} rows so far")
    if not total:
        raise Mistake(f"`data`: there are no rows in {', '.join(map(str, files))}")
    scored = [together(each) for each in scored]
    decided = [each.decided for each in scored] if options.task == "classification" else []
    return labels(truth, decided, options) if decided else numpy.concatenate(truth), scored


def answers(batch, options, file):
    column = batch.column(0)
    if options.task == "classification":
        found = texts(column)
        missing = found == ""
    else:
        found = numbers(column, options.target, file)
        missing = ~numpy.isfinite(found)
    if missing.any():
        raise Mistake(f"`target`: {int(missing.sum())} rows of {file} have no value in the column {options.target!r}")
    return found


def together(parts):
    """Probabilities that a model could tell of some batches alone are none."""
    probabilities = [part.probabilities for part in parts]
    whole = None if any(part is None for part in probabilities) else numpy.concatenate(probabilities)
    return Scores(numpy.concatenate([part.decided for part in parts]), whole)


def labels(parts, decided, options):
    """The answers as the models write their classes: numbers, or texts."""
    found = numpy.concatenate(parts).astype(str)
    if not all(each.dtype.kind in "iu" for each in decided):
        return found
    values, place = numpy.unique(found, return_inverse=True)
    try:
        return numpy.array([whole_number(value) for value in values], dtype=numpy.int64)[place]
    except ValueError:
        shown = ", ".join(repr(str(value)) for value in values[:5])
        raise Mistake(f"`target`: the model's classes are whole numbers, and {options.target!r} has {shown}") from None


def whole_number(text):
    """`3`, `3.0` and `true`."""
    if text.lower() in ("true", "false"):
        return int(text.lower() == "true")
    return int(text) if float(text).is_integer() else int("")


def as_labels(values, truth):
    """Classes as the answers are written."""
    return numpy.asarray(values).astype(truth.dtype if truth.dtype.kind in "iu" else str)


def judge(truth, scores, model, options):
    if options.task == "regression":
        return of_regression(truth, scores.decided)
    classes = None if model.classes is None else as_labels(model.classes, truth).tolist()
    if classes and (strange := numpy.setdiff1d(truth, classes)).size:
        shown = ", ".join(str(each) for each in strange[:5])
        print(f"{int(numpy.isin(truth, strange).sum())} rows are of classes that {model.path} does not know: {shown}")
    if scores.probabilities is None:
        print(f"{model.path} tells no probabilities, or not of which classes: there is no log loss and no AUC")
    return of_classification(truth, as_labels(scores.decided, truth), scores.probabilities, classes)


def compare(by, own, other):
    """Whether the model is better than the other; equally good is not."""
    if by not in own or by not in other:
        known = ", ".join(name for name in own if name in other)
        raise Mistake(f"`by`: there is no {by} of both models; there is {known}")
    better = own[by] < other[by] if by in LESS else own[by] > other[by]
    print(f"the model is {'better' if better else 'not better'} than the other by {by}: {own[by]:.6g}, {other[by]:.6g}")
    return bool(better)


def folder_of(options):
    if options.report:
        return cubeloom.run_dir / options.report
    instance = os.environ.get("CUBELOOM_INSTANCE", "0")
    task = os.environ.get("CUBELOOM_TASK", "model")
    return cubeloom.run_dir / "evaluation" / (task if instance == "0" else f"{task}-{instance}")


def write_report(folder, options, truth, scores, found, better):
    report, files = {"model": options.model, "data": options.data, "rows": len(truth), "metrics": found[0]}, {}
    if options.against:
        report |= {"against": {"model": options.against, "metrics": found[1]}, "by": options.by, "better": better}
    if options.task == "classification":
        classes, counts = confusion(truth, as_labels(scores.decided, truth))
        report["confusion"] = {"classes": classes, "counts": counts.tolist()}
        files["confusion.csv"] = table_of(classes, counts.tolist())
    files["report.json"] = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
    write_whole(folder, files)
    for name in files:
        tell(ARTIFACTS[name], folder / name)


def table_of(classes, counts):
    file = io.StringIO(newline="")
    table = csv.writer(file, lineterminator="\n")
    table.writerow(["true \\ predicted", *classes])
    table.writerows([name, *row] for name, row in zip(classes, counts))
    return file.getvalue()


def write_whole(folder, texts):
    """All files are written aside before the first has its name: they are of one evaluation, or of the one before."""
    folder.mkdir(parents=True, exist_ok=True)
    aside = {name: folder / f".{name}.part" for name in texts}
    try:
        for name, text in texts.items():
            aside[name].write_text(text, encoding="utf-8", newline="")
        for name, path in aside.items():
            path.rename(folder / name)
    finally:
        for path in aside.values():
            path.unlink(missing_ok=True)


def tell(name, path):
    if path.is_relative_to(cubeloom.run_dir):
        cubeloom.artifact(name, path)


main()
