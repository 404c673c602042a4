"""The objects to check: of pipelines by the program, and of the compiler's own snapshots."""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml
from harness.api import Object

SNAPSHOTS = Path("server/compiler/tests/it/kubernetes/snapshots")


def of_pipeline(file: Path, facts: Path | None = None) -> Iterator[tuple[str, list[Object]]]:
    """Each job's task and objects, for a cluster with these facts; without them, for one that has everything."""
    with tempfile.TemporaryDirectory() as data:
        command = [os.environ["CUBELOOM_TEST_PROGRAM"], "--data", data, "compile", str(file)]
        command += ["--for", "kubernetes", "--output", "json"]
        command += ["--facts", str(facts)] if facts else []
        printed = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    for task in json.loads(printed)["tasks"]:
        for job in task["jobs"]:
            yield task["task"], job["objects"]


def of_snapshots() -> Iterator[tuple[str, list[Object]]]:
    """Each snapshot's name and objects."""
    for file in sorted(SNAPSHOTS.glob("*.snap")):
        _, _, text = file.read_text().split("---\n", 2)
        yield file.stem.removeprefix("compiler__kubernetes__"), yaml.safe_load(text)["objects"]
