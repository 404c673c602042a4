"""Helm, built for the tests, and the rendered chart."""

import functools
import os
import subprocess
import tempfile
from pathlib import Path

import yaml
from harness.api import Object

CHART, VALUES = "deploy/chart", Path("tests/cluster/chart")
RELEASE = "cubeloom"


class Refused(Exception):
    """Helm's error, if any."""


def call(*words: str | Path) -> str:
    """Helm's output, without a cluster and without the user's settings."""
    with tempfile.TemporaryDirectory() as home:
        environment = {"PATH": os.environ["PATH"], "HOME": home}
        done = subprocess.run([_program(), *map(str, words)], capture_output=True, text=True, env=environment)
    if done.returncode:
        raise Refused((done.stderr + done.stdout).strip())
    return done.stdout


def objects(namespace: str, values: Path, *words: str) -> list[Object]:
    """The chart's manifests, for a release in a namespace."""
    return [each for each in yaml.load_all(_template(namespace, values, *words), yaml.CSafeLoader) if each]


def _template(namespace: str, values: Path, *words: str) -> str:
    return call("template", RELEASE, CHART, "--namespace", namespace, "--values", values, *words)


@functools.cache
def _program() -> Path:
    printed = subprocess.run(["tests/cluster/build", "helm"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return Path(printed.strip()) / "bin" / "helm"
