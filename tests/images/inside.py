"""One pod: its image's files, read-only, its own network and processes, and a user that is not root.

`network` starts it in its own namespaces, with a description of the pod. It stays as their first process,
like a pod's pause container, and exits with the program's exit code.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}


def main() -> None:
    pod = json.loads(Path(sys.argv[1]).read_text())
    root = Path(pod["root"])
    mount("--make-rprivate", "/")
    mount("--bind", root, root)
    for path in ("proc", "dev", "tmp"):
        (root / path).mkdir(exist_ok=True)
    mount("-t", "proc", "proc", root / "proc")
    mount("-t", "tmpfs", "-o", "mode=0755", "tmpfs", root / "dev")
    for device in DEVICES:
        (root / "dev" / device).touch()
        mount("--bind", Path("/dev") / device, root / "dev" / device)
    for link, to in LINKS.items():
        (root / "dev" / link).symlink_to(to)
    (root / "dev/shm").mkdir()
    for path in ("tmp", "dev/shm"):
        mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", root / path)
    for source, target, read_only in pod["mounts"]:
        mount("--bind", source, root / target.lstrip("/"))
        if read_only:
            mount("-o", "remount,bind,ro", root / target.lstrip("/"))
    mount("-o", "remount,bind,ro", root)
    subprocess.run(["hostname", pod["name"]], check=True)
    codes = (run(root, pod["folder"], pod["uid"], command, pod["variables"]) for command in pod["commands"])
    sys.exit(next((code for code in codes if code), 0))


def mount(*words: str | Path) -> None:
    subprocess.run(["mount", *words], check=True)


def run(root: Path, folder: str, uid: int, command: list[str], variables: dict[str, str]) -> int:
    """Runs a program to its end. Returns its exit code, or 128 plus the number of the signal that ended it.
    """
    child = os.fork()
    if child == 0:
        os.chroot(root)
        os.chdir(folder)
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
        try:
            os.execvpe("setpriv", ["setpriv", "--no-new-privs", *command], variables)
        except OSError as error:
            print(f"the command {command[0]} cannot be started: {error.strerror}", file=sys.stderr)
            os._exit(127)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
    while True:
        # Orphans of a program become children of this process.
        ended, status = os.wait()
        if ended == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


if __name__ == "__main__":
    main()
