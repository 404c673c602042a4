"""The manifests to check: compiled pipelines, and the compiler's own snapshots."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml
from harness.api import Object

TEMPLATES = Path("task-templates")
#: Templates for tests only: some replace a real one under its name.
TEST_TEMPLATES = Path("tests/cluster/templates")
SNAPSHOTS = Path("server/compiler/tests/it/kubernetes/snapshots")


def of_pipeline(file: Path, facts: Path | None = None) -> Iterator[tuple[str, list[Object]]]:
    """Each job's task and manifests, for a cluster with these facts; without facts, for one with everything
    installed."""
    for task, job in _jobs(file, facts):
        yield task, job["objects"]


def words(file: Path, facts: Path) -> dict[str, list[str]]:
    """The decisions for each task, as sentences."""
    return {task: job["decisions"] for task, job in _jobs(file, facts)}


def _jobs(file: Path, facts: Path | None) -> Iterator[tuple[str, Object]]:
    with tempfile.TemporaryDirectory() as data:
        for folder in (TEMPLATES, TEST_TEMPLATES) if file.is_relative_to("tests") else (TEMPLATES,):
            shutil.copytree(folder, Path(data, "templates"), dirs_exist_ok=True)
        command = [os.environ["CUBELOOM_TEST_PROGRAM"], "--data", f"{data}/data"]
        command += ["--templates", f"{data}/templates"]
        command += ["compile", str(file)]
        command += ["--for", "kubernetes", "--output", "json"]
        command += ["--facts", str(facts)] if facts else []
        printed = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    for task in json.loads(printed)["tasks"]:
        jobs = task["jobs"]
        # A string says why the jobs are known only later.
        for job in [] if isinstance(jobs, str) else jobs:
            yield task["task"], job


def of_snapshots() -> Iterator[tuple[str, list[Object]]]:
    """Each snapshot's name and manifests."""
    for file in sorted(SNAPSHOTS.glob("*.snap")):
        _, _, text = file.read_text().split("---\n", 2)
        yield file.stem.removeprefix("compiler__kubernetes__"), yaml.safe_load(text)["objects"]
