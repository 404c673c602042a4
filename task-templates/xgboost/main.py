"""Distributed XGBoost: every rank reads its share of the files and all ranks build the same trees.

Rank 0 (the master) also runs the tracker, through which the ranks find each other, on MASTER_ADDR:MASTER_PORT.
It alone reports, and writes checkpoints and the model.
"""

import argparse
import ast
import os
import sys
import time
import warnings
from pathlib import Path

import numpy
import xgboost
from xgboost import collective
from xgboost.tracker import RabitTracker

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
# The template's folder stays as it was: no compiled files in it.
sys.dont_write_bytecode = True
import cubeloom
from shards import DataError, differ, load, share_of

#: How long the ranks wait for each other to come up, in seconds.
PATIENCE = 120

#: How long a rank that lost another waits until it is stopped, in seconds.
STOPPED_WITHIN = 5


def main():
    options = arguments()
    sys.stdout.reconfigure(line_buffering=True)
    tracker = start_tracker() if cubeloom.rank == 0 else None
    try:
        join()
        train(options)
        collective.finalize()
    except (DataError, OSError, xgboost.core.XGBoostError) as error:
        give_up(error)
    if tracker is not None:
        tracker.wait_for(PATIENCE)


def give_up(error):
    """Says why, in xgboost's words without its stack, and leaves at once: a tracker that lost a rank may never end.

    A rank that lost another waits to be stopped: it would otherwise be the first to end, and its error would be reported
    instead of the other's.
    """
    reason = str(error).partition("Stack trace:")[0].strip()
    print(f"rank {cubeloom.rank} stops: {reason}", file=sys.stderr, flush=True)
    if "/collective/" in str(error):
        time.sleep(STOPPED_WITHIN)
    os._exit(1)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="path or glob of the training files")
    parser.add_argument("--label", default="y", help="column (csv) or array (npz) that is learnt")
    parser.add_argument("--validation", help="path or glob of files to report a metric for")
    parser.add_argument("--params", nargs="*", type=named_value, default=[], help="xgboost's parameters: eta=0.3 ...")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--model", type=Path, required=True, help="the model file, .json or .ubj")
    parser.add_argument("--checkpoint-every", type=int, default=20, help="rounds between checkpoints")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    # The folder in which a worker is started goes with it.
    options.data = str(cubeloom.run_dir / options.data)
    options.validation = options.validation and str(cubeloom.run_dir / options.validation)
    options.model = cubeloom.run_dir / options.model
    return options


def named_value(text):
    """`eta=0.3` -> ("eta", 0.3). Values are as expressions render them: 0.3, True, ['auc']; anything else is a text."""
    name, _, value = text.partition("=")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def start_tracker():
    tracker = RabitTracker(
        cubeloom.world_size,
        os.environ["MASTER_ADDR"],
        int(os.environ["MASTER_PORT"]),
        sortby="task",
        timeout=PATIENCE,
    )
    tracker.start()
    return tracker


def join():
    """Joins the other ranks. They start together, in no order: the first ones find no tracker yet and try again.

    xgboost's own retries wait for seconds and warn each time; ranks are sorted by task id, as text, hence the zeros.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            with warnings.catch_warnings(action="ignore"):
                return collective.init(
                    dmlc_tracker_uri=os.environ["MASTER_ADDR"],
                    dmlc_tracker_port=int(os.environ["MASTER_PORT"]),
                    dmlc_task_id=f"{cubeloom.rank:06}",
                    dmlc_timeout=PATIENCE,
                    dmlc_retry=1,
                )
        except xgboost.core.XGBoostError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def train(options):
    matrices = [(matrix(options.data, options), "train")]
    if options.validation:
        matrices.append((matrix(options.validation, options), "validation"))
    rows = int(collective.allreduce(numpy.array([matrices[0][0].num_row()]), collective.Op.SUM)[0])
    start, booster = last_checkpoint()
    booster = xgboost.train(
        {"nthread": options.threads, **dict(options.params)},
        matrices[0][0],
        num_boost_round=options.rounds - start,
        evals=matrices,
        verbose_eval=False,
        xgb_model=booster,
        callbacks=[Report(start, options.rounds, options.checkpoint_every)],
    )
    if cubeloom.rank == 0:
        options.model.parent.mkdir(parents=True, exist_ok=True)
        save(booster, options.model)
        cubeloom.outputs(model=str(options.model), rounds=booster.num_boosted_rounds(), rows=rows)


def matrix(pattern, options):
    """This rank's rows."""
    files = share_of(pattern, cubeloom.rank, cubeloom.world_size)
    columns, features, labels = load(files, options.label)
    first = collective.broadcast(columns, 0)
    if columns != first:
        raise DataError(f"{files[0]}: {differ(columns, first, 'worker 0')}")
    print(f"rank {cubeloom.rank} has {features.shape[0]} rows of {features.shape[1]} features in {len(files)} files")
    return xgboost.DMatrix(features, label=labels, nthread=options.threads)


def last_checkpoint():
    """The rounds done and their model. Rank 0 reads and the others get it from there, so that all start alike."""
    found = b""
    if cubeloom.rank == 0:
        saved = sorted(cubeloom.checkpoint_dir.glob("round-*.ubj"))
        found = saved[-1].read_bytes() if saved else b""
    found = collective.broadcast(found, 0)
    if not found:
        return 0, None
    booster = xgboost.Booster(model_file=bytearray(found))
    print(f"going on from the checkpoint of round {booster.num_boosted_rounds()}")
    return booster.num_boosted_rounds(), booster


class Report(xgboost.callback.TrainingCallback):
    """After each round, on rank 0: the metrics, how far it is, and now and then a checkpoint."""

    def __init__(self, start, total, checkpoint_every):
        self.start, self.total, self.checkpoint_every = start, total, checkpoint_every

    def after_iteration(self, model, epoch, evals_log):
        done = self.start + epoch + 1
        if cubeloom.rank == 0:
            for data, metrics in evals_log.items():
                for name, values in metrics.items():
                    cubeloom.metric(f"{data}-{name}", values[-1], step=done)
            cubeloom.progress(done, self.total)
            if done % self.checkpoint_every == 0 and done < self.total:
                save_checkpoint(model, done)
        return False


def save(model, path):
    """Written aside and renamed: what has the name is complete, and what had it before stays until then.

    xgboost's own file is not looked at when it is closed, so it may be cut off on a full disk and nobody is told.
    """
    aside = path.with_name(f"writing-{path.name}")
    try:
        aside.write_bytes(model.save_raw(raw_format=path.suffix.removeprefix(".")))
        aside.rename(path)
    finally:
        aside.unlink(missing_ok=True)


def save_checkpoint(model, done):
    path = cubeloom.checkpoint_dir / f"round-{done:06}.ubj"
    with cubeloom.saving(done, path):
        save(model, path)


main()
