"""The kind of frameworkcontroller, so that the API server checks its objects. Nothing makes their pods."""

from pathlib import Path

from .api import Api, documents
from .nodes import apply_when_served
from .parts import Parts


def start(parts: Parts, kinds: Path, api: Api) -> None:
    """Has it served."""
    for thing in documents(kinds / "frameworkcontroller.microsoft.com_frameworks.yaml"):
        apply_when_served(parts, api, thing)
