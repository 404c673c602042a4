"""frameworkcontroller. Its module cannot be had through the Go proxy, so it runs where FRAMEWORKCONTROLLER names its program;
elsewhere only its kind is there, by which the API server checks its objects."""

import os
from pathlib import Path

from .api import Api, documents
from .nodes import apply_when_served
from .parts import Parts

KIND = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "frameworks.frameworkcontroller.microsoft.com"},
}


def program() -> str | None:
    """The program, where there is one."""
    return os.environ.get("FRAMEWORKCONTROLLER")


def start(parts: Parts, program: str, api: Api) -> None:
    """Starts it; it serves its kind afterwards, by its own definition."""
    # Read from the folder in which it works; without a word in it, all is as usual.
    (parts.state / "frameworkcontroller.yaml").write_text("{}\n")
    part = parts.start("frameworkcontroller", [program], {"KUBECONFIG": str(parts.state / "kubeconfig")})
    parts.wait(part, "its kind", lambda: _is_served(api))


def _is_served(api: Api) -> bool:
    conditions = ((api.get(KIND) or {}).get("status") or {}).get("conditions") or []
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)


def serve(parts: Parts, kinds: Path, api: Api) -> None:
    """Has the kind served, of which nothing makes pods."""
    for thing in documents(kinds / "frameworkcontroller.microsoft.com_frameworks.yaml"):
        apply_when_served(parts, api, thing)
