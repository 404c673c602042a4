"""The project whose pods are simulated."""

from pathlib import Path

from harness import project
from harness.api import Api

NAMESPACE = "cubeloom-default"


def make(api: Api) -> None:
    """Creates its namespace and the required contents."""
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    project.make(api, NAMESPACE, Path("/nowhere"))
