"""The cluster's DNS: CoreDNS on the bridge, where pods query it."""

from pathlib import Path

from ..parts import Parts, listens
from .place import Place

CONFIGURATION = """\
.:53 {{
    bind {address}
    errors
    kubernetes cluster.local {{
        kubeconfig {kubeconfig}
    }}
}}
"""


def start(parts: Parts, programs: Path, place: Place) -> None:
    """Starts it. It answers afterwards."""
    file = parts.state / "Corefile"
    file.write_text(CONFIGURATION.format(address=place.gateway, kubeconfig=parts.state / "kubeconfig"))
    part = parts.start("coredns", [str(programs / "bin" / "coredns"), "-conf", str(file)])
    parts.wait(part, "its port", lambda: listens(53, place.gateway))
