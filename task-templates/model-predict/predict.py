"""Runs an ONNX model over tables in several workers, and writes a folder of parts.

Worker 0 looks at everything first and writes a plan: which rows of which file are which part. Every worker makes the parts
that are its own and not there yet. They lie in a folder beside the target, which gets the target's name when all of them
are there: nobody sees half of it, and another attempt goes on with what the one before has left.
"""

import argparse
import ctypes
import hashlib
import json
import os
import shutil
import sys
import time
from pathlib import Path

import numpy
import pyarrow
from pyarrow import csv, parquet

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
# The template's folder stays as it was: no compiled files in it.
sys.dont_write_bytecode = True
import cubeloom
from scoring import Model, find_model
from tables import Mistake, Table, files_of

#: How many rows are scored at once.
ROWS = 8192
#: How long is waited between two looks for the others' work, in seconds.
PAUSE = 0.1
SUCCESS = "_SUCCESS"
ATTEMPT = os.environ.get("CUBELOOM_ATTEMPT", "1")


def main():
    options = arguments()
    sys.stdout.reconfigure(line_buffering=True)
    try:
        run(options)
    except Mistake as mistake:
        sys.exit(str(mistake))
    except OSError as error:
        sys.exit(f"{error.filename or options.output}: {error.strerror or error}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="the model, in the project's folder or the run's")
    parser.add_argument("--data", required=True, help="tables: a file, a folder or a pattern in the run's folder")
    parser.add_argument("--output", required=True, help="the folder that is written, in the run's folder")
    parser.add_argument("--file-format", choices=["parquet", "csv"], default="parquet")
    parser.add_argument("--features", type=json.loads, help="the columns that the model reads, in its order")
    parser.add_argument("--keep", type=json.loads, default=[], help="columns that are copied")
    parser.add_argument("--task", choices=["classification", "regression"], default="classification")
    parser.add_argument("--predict", choices=["class", "probabilities", "both"], default="both")
    parser.add_argument("--scores", choices=["probabilities", "logits"], default="probabilities")
    parser.add_argument("--rows-per-part", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def run(options):
    target = Path(os.path.abspath(cubeloom.run_dir / options.output))
    who = [os.environ.get(f"CUBELOOM_{name}", "0") for name in ("RUN", "TASK", "INSTANCE")]
    aside = target.with_name(f".{target.name}.{'.'.join(who)}.part")
    # The plan of another attempt may be of tables that have changed since.
    plan_file = aside / f"plan-{ATTEMPT}.json"
    path = find_model(options.model, "model", cubeloom.workspace, cubeloom.run_dir)
    model = Model(path, "model", options.task, options.scores, options.threads)
    if cubeloom.rank == 0:
        prepare(options, model, target, aside, plan_file)
    wait_for(plan_file)
    plan = json.loads(plan_file.read_text())
    work(options, model, plan, aside)
    mark(aside, cubeloom.rank).touch()
    if cubeloom.rank == 0:
        finish(plan, target, aside)


def prepare(options, model, target, aside, plan_file):
    """Looks at all that could be wrong before anything is written, and makes the plan."""
    old = old_of(aside)
    if old.exists():
        # An attempt was ended between two renames, or behind both.
        shutil.rmtree(old) if target.exists() else old.rename(target)
    if target.exists():
        own = lambda file: file.name == SUCCESS or file.name.startswith("part-")
        strange = next((file for file in target.iterdir() if not own(file)), None) if target.is_dir() else target
        if strange:
            raise Mistake(f"`output`: {strange} is there, which this task has not written; name a folder of its own")
    parts, seen, types = [], [], None
    for file in files_of(options.data, cubeloom.run_dir):
        table = Table(file)
        table.need(options.keep, "keep")
        table.need(model.features(options.features, table.columns, options.keep), "features")
        kept = [str(table.schema.field(name).type) for name in options.keep]
        types = types or kept
        if kept != types:
            before, here = ", ".join(types), ", ".join(kept)
            raise Mistake(f"`keep`: the columns of {file} are {here}, those of the files before {before}")
        rows, status = table.rows(), file.stat()
        seen.append([str(file), status.st_size, status.st_mtime_ns])
        for start in range(0, rows, options.rows_per_part):
            parts.append([str(file), start, min(start + options.rows_per_part, rows)])
    # Parts of an attempt before are good as long as the same would be made again.
    same = {**vars(options), "threads": None, "tables": seen, "of": cubeloom.model_digest(model.path)}
    signature = hashlib.sha256(json.dumps(same, sort_keys=True).encode()).hexdigest()
    if not (aside / signature).exists():
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        (aside / signature).touch()
    there = sum((aside / name_of(number, options)).exists() for number in range(len(parts)))
    print(f"{sum(last - first for _, first, last in parts)} rows in {len(parts)} parts, of which {there} are there already")
    write_whole(plan_file, json.dumps(parts))


def wait_for(path):
    """Without a limit: the platform ends this worker when the one that makes it is lost."""
    while not path.exists():
        time.sleep(PAUSE)


def work(options, model, plan, aside):
    """This worker's parts, file by file, so that each is read once."""
    mine = [(number, *part) for number, part in enumerate(plan) if number % cubeloom.world_size == cubeloom.rank]
    left = [part for part in mine if not (aside / name_of(part[0], options)).exists()]
    for file in dict.fromkeys(file for _, file, _, _ in left):
        predict_file(options, model, Path(file), [part for part in left if part[1] == file], plan, aside)
    rows = sum(last - first for _, _, first, last in mine)
    print(f"worker {cubeloom.rank} of {cubeloom.world_size} has done {len(mine)} parts with {rows} rows")


def predict_file(options, model, file, parts, plan, aside):
    table = Table(file)
    names = model.features(options.features, table.columns, options.keep)
    columns = list(dict.fromkeys([*options.keep, *names]))
    number_of = {first: number for number, _, first, _ in parts}
    end_of = {number: last for number, _, _, last in parts}
    done = 0
    for start, batch in table.batches(columns, ROWS, [(first, last) for _, _, first, last in parts]):
        if start in number_of:
            number = number_of[start]
            writing, writer = aside / f"writing-{name_of(number, options)}", None
        found = predictions(options, model, batch, names, file)
        if writer is None:
            writer = open_writer(options, writing, found.schema)
        writer.write_batch(found)
        if start + batch.num_rows == end_of[number]:
            writer.close()
            done += 1
            writing.rename(aside / name_of(number, options))
            progress(plan, aside)
    if done != len(parts):
        raise Mistake(f"`data`: {file} has changed while it was read")


def predictions(options, model, batch, names, file):
    """What is written of a batch: the columns that are kept, and what the model says."""
    scores = model(batch, names, file)
    columns = {name: batch.column(batch.schema.get_field_index(name)) for name in options.keep}
    if options.predict != "probabilities":
        decided = scores.decided.astype(str) if scores.decided.dtype.kind in "OU" else scores.decided
        columns["prediction"] = pyarrow.array(decided)
    if options.task == "classification" and options.predict != "class":
        if scores.probabilities is None:
            raise model.mistake("the model tells no probabilities, or not of which classes; say `class`", "predict")
        for position, name in enumerate(model.classes):
            if f"probability_{name}" in columns:
                raise Mistake(f"`keep`: 'probability_{name}' is written by this task; rename the table's own column before")
            values = numpy.ascontiguousarray(scores.probabilities[:, position], dtype=numpy.float32)
            columns[f"probability_{name}"] = pyarrow.array(values)
    return pyarrow.RecordBatch.from_pydict(columns)


def open_writer(options, path, schema):
    path.unlink(missing_ok=True)
    if options.file_format == "csv":
        return csv.CSVWriter(path, schema, write_options=csv.WriteOptions(quoting_style="needed"))
    return parquet.ParquetWriter(path, schema, compression="zstd")


def name_of(number, options):
    return f"part-{number:05}.{options.file_format}"


def progress(plan, aside):
    """Of all workers, told by one."""
    if cubeloom.rank == 0:
        cubeloom.progress(sum(name.startswith("part-") for name in os.listdir(aside)), len(plan))


def mark(aside, rank):
    """Tells that a worker has nothing left to do, and needs the plan no more."""
    return aside / f"done-{ATTEMPT}-{rank}"


def finish(plan, target, aside):
    """Waits for the others; the platform ends this when one of them is lost."""
    for rank in range(cubeloom.world_size):
        wait_for(mark(aside, rank))
        progress(plan, aside)
    for file in aside.iterdir():
        if not file.name.startswith("part-"):
            file.unlink()
    (aside / SUCCESS).touch()
    if not target.exists():
        aside.rename(target)
    elif exchange(aside, target):
        shutil.rmtree(aside, ignore_errors=True)
    else:
        target.rename(old_of(aside))
        aside.rename(target)
        shutil.rmtree(old_of(aside), ignore_errors=True)
    rows = sum(last - first for _, first, last in plan)
    print(f"{rows} rows in {len(plan)} parts of {target}")
    cubeloom.outputs(path=str(target), rows=rows, parts=len(plan))


def old_of(aside):
    """Where the target lies for a moment, on a file system that cannot exchange two folders."""
    return aside.with_suffix(".old")


def exchange(one, other):
    """Gives two folders each other's name in one step (renameat2(2)); false where the file system cannot, as NFS."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    here, swap = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return rename is not None and rename(here, os.fsencode(one), here, os.fsencode(other), swap) == 0


def write_whole(path, text):
    writing = path.with_name(f"writing-{path.name}")
    writing.write_text(text)
    writing.rename(path)


main()
