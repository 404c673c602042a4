"""A list that the workers of an indexed job share, and one report of all of them.

Worker i of n takes the items i, i + n, i + 2n, ... Each writes what it did into the run's folder; worker 0 waits for the
others and puts it together. A worker that is lost ends the job, so nobody waits for it.
"""

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
# The template's folder stays as it was: no compiled files in it.
sys.dont_write_bytecode = True
import cubeloom

INDEX, WORKERS = int(os.environ["JOB_COMPLETION_INDEX"]), int(os.environ["VC_WORKER_NUM"])
#: Of this attempt only: one before it may have left some.
REPORTS = cubeloom.run_dir / ".reports" / f"{os.environ['CUBELOOM_TASK']}.{os.environ['CUBELOOM_INSTANCE']}.{os.environ['CUBELOOM_ATTEMPT']}"
#: How many failures the task's message names.
NAMED = 3


class Failed(Exception):
    """What is wrong with one item, in a sentence."""


def work(items, do, parallel, tolerate, failures, counts):
    """Does `do(item)` for this worker's share, so many at a time; it returns numbers by name (`counts`), which are added up,
    or raises `Failed`. `failures` is the file for what failed; more than `tolerate` of them fail the task."""
    mine = items[INDEX::WORKERS]
    totals, failed = dict.fromkeys(["items", "failed", *counts], 0), []
    with ThreadPoolExecutor(parallel) as pool:
        for done, (item, result) in enumerate(zip(mine, pool.map(lambda item: attempt(do, item), mine)), 1):
            totals["items"] += 1
            if isinstance(result, Failed):
                totals["failed"] += 1
                failed.append({"item": str(item), "error": str(result)})
                print(f"{item}: {result}", flush=True)
            else:
                for name, number in result.items():
                    totals[name] += number
            if INDEX == 0:
                cubeloom.progress(done, len(mine))
    write(REPORTS / f"{INDEX}.json", json.dumps({"totals": totals, "failed": failed}))
    if INDEX == 0:
        settle(tolerate, failures)


def attempt(do, item):
    try:
        return do(item)
    except Failed as failed:
        return failed
    except OSError as error:
        # Of the disk: no room, no permission.
        return Failed(f"{error.filename or 'its result'}: {error.strerror or error}")


def settle(tolerate, failures):
    """Puts the reports of all workers together."""
    totals, failed = {}, []
    for index in range(WORKERS):
        path = REPORTS / f"{index}.json"
        while not path.exists():
            time.sleep(0.2)
        report = json.loads(path.read_text())
        failed += report["failed"]
        for name, number in report["totals"].items():
            totals[name] = totals.get(name, 0) + number
    write(failures, "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in failed))
    cubeloom.outputs(**totals, failures=str(failures.relative_to(cubeloom.run_dir)))
    if len(failed) > tolerate:
        named = "; ".join(f"{one['item']}: {one['error']}" for one in failed[:NAMED])
        sys.exit(f"{len(failed)} of {totals['items']} failed, {tolerate} may: {named}; all of them are in {failures}")


def write(path, text):
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{INDEX}.part")
    aside.write_text(text, encoding="utf-8")
    aside.rename(path)
