"""The configuration of containerd and the pod network. Its files and its socket are private to the node."""

import json
from pathlib import Path

from .host import PLUGINS
from .place import Place

CONFIGURATION = """\
version = 3
root = "{folder}/containerd"
state = "/run/containerd"
# It would make a folder in /opt.
disabled_plugins = ["io.containerd.internal.v1.opt"]

[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = "{pause}"

[plugins.'io.containerd.cri.v1.runtime']
# Root of a machine that is itself a guest may lack the right to go below its own score.
restrict_oom_score_adj = true

[plugins.'io.containerd.cri.v1.runtime'.cni]
bin_dirs = ["{plugins}"]
conf_dir = "{folder}/network"

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
SystemdCgroup = false
"""


def write(folder: Path, place: Place, pause: str) -> Path:
    """Writes the configuration of containerd and of the network. Returns the path of the first."""
    bridge = {
        "type": "bridge",
        "bridge": place.bridge,
        "isGateway": True,
        # No masquerade, no forwarding: pods reach each other and this machine, nothing else.
        "ipam": {
            "type": "host-local",
            "dataDir": str(folder / "addresses"),
            "ranges": [[{"subnet": str(place.network)}]],
            "routes": [{"dst": "0.0.0.0/0"}],
        },
    }
    (folder / "network").mkdir()
    configuration = {"cniVersion": "1.0.0", "name": "pods", "plugins": [bridge]}
    (folder / "network" / "pods.conflist").write_text(json.dumps(configuration))
    file = folder / "containerd.toml"
    file.write_text(CONFIGURATION.format(folder=folder, pause=pause, plugins=PLUGINS))
    return file
