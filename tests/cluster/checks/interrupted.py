"""`tests/cluster/up --node`, interrupted with Ctrl-C, leaves this machine unchanged."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from harness.api import Api

UP = Path("tests/cluster/up")
CGROUPS = Path("/sys/fs/cgroup")
PATIENCE = 240.0  # seconds
#: Settings that a kubelet, containerd and network plugins would change for the whole machine.
SETTINGS = (
    "net/ipv4/ip_forward",
    "net/ipv4/conf/all/route_localnet",
    "vm/overcommit_memory",
    "vm/panic_on_oom",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/keys/root_maxkeys",
    "kernel/keys/root_maxbytes",
)


def results(_api: Api) -> Iterator[tuple[str, str]]:
    """The differences afterwards, when interrupted during the start and while everything runs."""
    for when, word in (("while it starts", "bridge"), ("when it runs", "KUBECONFIG=")):
        yield f"a cluster with a real node that is ended by Ctrl-C {when} leaves nothing", _left(word)


def _left(word: str) -> str:
    before = _machine()
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        state, log = Path(folder, "state"), Path(folder, "log")
        with log.open("wb") as output:
            command = [str(UP), "--bare", "--node", "--no-images", "--state", str(state)]
            # Ctrl-C reaches every process of the terminal's foreground group.
            group = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        changed = _wait(lambda: group.poll() is not None or _came(word, log, before))
        during = _machine()
        if group.poll() is not None:
            return f"it ended by itself with {group.returncode}: {log.read_text()}"
        os.killpg(group.pid, signal.SIGINT)
        _wait(lambda: group.poll() is not None)
        if not changed or group.returncode != 0:
            return f"it ended with {group.returncode}: {log.read_text()}"
        if state.exists():
            return f"its files remain: {list(state.iterdir())}"
        if left := [line for line in _commands() if str(state) in line]:
            return f"it is still running: {left}"
    if during == before:
        return "there was nothing to undo"
    # The guard is a separate process, which ends a moment later.
    _wait(lambda: _machine() == before)
    return _differs(before, _machine())


def _came(word: str, log: Path, before: dict[str, object]) -> bool:
    return _machine()["links"] != before["links"] if word == "bridge" else word in log.read_text()


def _machine() -> dict[str, object]:
    """The state of this machine that a real node might change."""
    hierarchies = [CGROUPS, *(each for each in CGROUPS.iterdir() if each.is_dir())]
    return {
        # Pods of the checks' own node come and go with their `veth` links; this cluster runs no pod.
        "links": sorted(name for name in os.listdir("/sys/class/net") if not name.startswith("veth")),
        "routes": sorted(Path("/proc/net/route").read_text().splitlines()),
        "cgroups": sorted(str(each) for root in hierarchies for each in root.glob("cubeloom-node-*")),
        "controllers": [each.read_text() for each in CGROUPS.glob("cgroup.subtree_control")],
        "records": sorted(str(each) for each in Path("/run").glob("cubeloom-node-*")),
        "mounts": sorted(line for line in Path("/proc/self/mounts").read_text().splitlines()),
        "settings": {name: Path("/proc/sys", name).read_text() for name in SETTINGS if Path("/proc/sys", name).exists()},
    }


def _commands() -> Iterator[str]:
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield each.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it has just ended
            continue


def _differs(before: dict[str, object], after: dict[str, object]) -> str:
    return "; ".join(f"{key}: {before[key]} became {after[key]}" for key in before if before[key] != after[key])


def _wait(holds) -> bool:
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True
