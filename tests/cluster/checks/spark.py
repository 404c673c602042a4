"""A real Spark through the spark-operator on a real node: its driver creates executors, which share the work.
"""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from harness.api import Api, Object

from . import gateway
from .real import Job, differs, jobs_of


PROGRAM = Path("task-templates/spark/words.py")


def results(api: Api) -> Iterator[tuple[str, str]]:
    """The checks of a succeeding and a failing application. Skipped with a message if SPARK_HOME is not set.
    """
    if "SPARK_HOME" not in os.environ:
        print("skipped: spark: SPARK_HOME is not a folder", flush=True)
        return
    # Drivers use no other port.
    with gateway.forwarded(api, 443):
        jobs = jobs_of(api, "spark")
        for job in jobs.values():
            driver = job.thing["spec"]["driver"]["template"]["spec"]
            gateway.alias(driver)
            _put(driver["containers"][0]["volumeMounts"])
        yield "the executors of a SparkApplication share its work, and its driver reports", _counted(jobs["count"])
        yield "a SparkApplication fails as its program does", _ended(jobs["torn"], "Failed")


def _put(mounts: list[Object]) -> None:
    """Puts the pipeline's code where the driver looks for it."""
    (code,) = (mount["subPath"] for mount in mounts if mount["mountPath"] == "/cubeloom/code")
    folder = Path(os.environ["CUBELOOM_TEST_WORKSPACE"], code)
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(PROGRAM, folder)


def _ended(job: Job, how: str) -> str:
    for folder in (job.run, *job.run.parents[:1]):
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o777)
    job.start()
    wrong = differs(job.end(), how)
    return f"{wrong}; its pods said {job.logs()}" if wrong else ""


def _counted(job: Job) -> str:
    wrong = _ended(job, "Succeeded")
    if wrong:
        return wrong
    reported = job.run / ".attempts" / "count" / "0" / "1"
    lines = [line for file in reported.rglob("outputs.jsonl") for line in file.read_text().splitlines()]
    told = [json.loads(line) for line in lines]
    if [line.get("output", {}).get("executors") for line in told] != [2]:
        return f"it reported {told}"
    return "" if list((job.run / "counts").glob("*.parquet")) else "the table is missing"
