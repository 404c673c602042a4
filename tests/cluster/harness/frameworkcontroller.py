"""frameworkcontroller. The Go proxy does not have its module, so it runs only if FRAMEWORKCONTROLLER names
its program. Otherwise only its CRD is installed, against which the API server checks its manifests."""

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
    """The program, if given."""
    return os.environ.get("FRAMEWORKCONTROLLER")


def start(parts: Parts, program: str, api: Api) -> None:
    """Starts it. It serves its kind afterwards, through its own CRD."""
    # It reads this file from its working folder. An empty one keeps the defaults.
    (parts.state / "frameworkcontroller.yaml").write_text("{}\n")
    part = parts.start("frameworkcontroller", [program], {"KUBECONFIG": str(parts.state / "kubeconfig")})
    parts.wait(part, "its kind", lambda: _is_served(api))


def _is_served(api: Api) -> bool:
    conditions = ((api.get(KIND) or {}).get("status") or {}).get("conditions") or []
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)


def serve(parts: Parts, kinds: Path, api: Api) -> None:
    """Installs the CRD without a controller."""
    for thing in documents(kinds / "frameworkcontroller.microsoft.com_frameworks.yaml"):
        apply_when_served(parts, api, thing)
