"""The first process in the node's own namespaces: mounts what the kubelet expects, starts containerd and the
kubelet.

When it ends, the kernel ends all others in there. Its argument is a `Plan`, as JSON.
"""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

#: Kernel settings that the kubelet and the bridge plugin would change for the whole machine. They find them
#: set already, in files of ours.
SYSCTLS = {
    "kernel/panic": "10",
    "kernel/panic_on_oops": "1",
    "kernel/keys/root_maxbytes": "25000000",
    "kernel/keys/root_maxkeys": "1000000",
    "net/ipv4/ip_forward": "1",
    "vm/overcommit_memory": "1",
    "vm/panic_on_oom": "0",
}
SOCKET = Path("/run/containerd/containerd.sock")
PATIENCE = 60.0  # seconds until containerd answers
GRACE = 10.0  # seconds between TERM and KILL


@dataclass
class Plan:
    """What to start, and the paths of its files."""

    folder: str
    logs: str
    containerd: list[str]
    ctr: str
    archive: str  # of the images to import; empty for none
    kubelet: list[str]

    def text(self) -> str:
        return json.dumps(asdict(self))


class Node:
    """The processes, and their shutdown."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.ended = False
        self.children: dict[str, subprocess.Popen[bytes]] = {}
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._end)

    def _end(self, _number: int, _frame: object) -> None:
        self.ended = True

    def run(self) -> int:
        """The whole life of the node. Returns its exit code."""
        mount(Path(self.plan.folder))
        self.start("containerd", self.plan.containerd)
        self.wait_for_containerd()
        self.import_images()
        self.start("kubelet", self.plan.kubelet)
        while not self.ended:
            self.reap()
            time.sleep(0.1)
        for name in reversed(self.children):
            self.children[name].terminate()
            try:
                self.children[name].wait(GRACE)
            except subprocess.TimeoutExpired:
                self.children[name].kill()
        return 0

    def start(self, name: str, command: list[str]) -> None:
        with Path(self.plan.logs, f"{name}.log").open("wb") as log:
            self.children[name] = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)

    def reap(self) -> None:
        """Reaps ended processes: orphans of containers become children of this one."""
        while (ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
            own = next((name for name, child in self.children.items() if child.pid == ended.si_pid), None)
            if own:
                sys.exit(f"{own} ended with {self.children[own].wait()}: {self.last_words(own)}")
            os.waitpid(ended.si_pid, 0)

    def last_words(self, name: str) -> str:
        log = Path(self.plan.logs, f"{name}.log")
        lines = log.read_text(errors="replace").splitlines()[-8:]
        return f"see its log {log}\n" + "\n".join(lines)

    def wait_for_containerd(self) -> None:
        end = time.monotonic() + PATIENCE
        while subprocess.run([self.plan.ctr, "version"], capture_output=True).returncode:
            self.reap()
            if time.monotonic() > end:
                sys.exit(f"containerd did not respond within {PATIENCE:.0f} s: {self.last_words('containerd')}")
            if self.ended:
                sys.exit(0)
            time.sleep(0.1)

    def import_images(self) -> None:
        if not self.plan.archive:
            return
        command = [self.plan.ctr, "--namespace", "k8s.io", "images", "import", self.plan.archive]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"the images could not be imported: {done.stderr.strip()}")
        Path(self.plan.archive).unlink()


def mount(folder: Path) -> None:
    """The node's file system changes are visible only to itself, and end with it."""
    _mount("--make-rshared", "/")  # among the mounts of this namespace
    (folder / "log").mkdir()
    _mount("--bind", str(folder / "log"), "/var/log")
    for name, value in SYSCTLS.items():
        place = Path("/proc/sys", name)
        if place.exists():
            file = folder / name.replace("/", ".")
            file.write_text(f"{value}\n")
            _mount("--bind", str(file), str(place))
    _mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run")
    # The device plugin socket, and results of network plugins, have fixed paths there.
    upper, work = Path("/run/lib/upper"), Path("/run/lib/work")
    upper.mkdir(parents=True)
    work.mkdir()
    _mount("-t", "overlay", "-o", f"lowerdir=/var/lib,upperdir={upper},workdir={work}", "overlay", "/var/lib")


def _mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True)


if __name__ == "__main__":
    sys.exit(Node(Plan(**json.loads(sys.argv[1]))).run())
