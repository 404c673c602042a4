"""The pods of one task, on their own isolated network: what an image lacks cannot be downloaded.

`run` starts it as a process in its own namespaces, with descriptions of the pods. It ends when the pods of
the first role have ended, or one has failed; everything it created is removed with it.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

#: How long workers that wait forever may take to end, in seconds.
GRACE = 10.0


def run(pods: list[Path], patience: float) -> tuple[bool, str]:
    """Whether the task has succeeded, and a message. Each pod's log is beside its description."""
    space = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    command = [*space, sys.executable, "-m", "images.network", *map(str, pods)]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=patience)
    except subprocess.TimeoutExpired:
        return False, f"it had not ended after {patience:.0f} seconds"
    return done.returncode == 0, done.stdout.strip()


def main() -> None:
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
    ip("link add pods type bridge")
    ip("addr add 10.99.0.1/16 dev pods")
    ip("link set pods up")
    files = [Path(word) for word in sys.argv[1:]]
    pods = [json.loads(file.read_text()) for file in files]
    processes = [start(number, pod, file) for number, (pod, file) in enumerate(zip(pods, files))]
    first = [process for process, pod in zip(processes, pods) if pod["role"] == pods[0]["role"]]
    while any(process.poll() is None for process in first) and not any(process.poll() for process in processes):
        time.sleep(0.1)
    failed = [(pod["name"], process.poll()) for pod, process in zip(pods, processes) if process.poll()]
    until = time.monotonic() + GRACE
    while any(process.poll() is None for process in processes) and time.monotonic() < until and not failed:
        time.sleep(0.1)
    for process in processes:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
    if failed:
        print(f"{failed[0][0]} ended with {failed[0][1]}")
    sys.stdout.flush()
    os._exit(bool(failed))


def start(number: int, pod: dict[str, object], file: Path) -> "subprocess.Popen[bytes]":
    name = f"pod{number}"
    ip(f"netns add {name}")
    ip(f"link add {name} type veth peer name eth0 netns {name}")
    ip(f"link set {name} master pods up")
    ip(f"-n {name} link set lo up")
    ip(f"-n {name} addr add {pod['address']}/16 dev eth0")
    ip(f"-n {name} link set eth0 up")
    space = ["ip", "netns", "exec", name, "unshare", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child"]
    with file.with_suffix(".log").open("wb") as log:
        command = [*space, sys.executable, "-m", "images.inside", str(file)]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def ip(words: str) -> None:
    subprocess.run(["ip", *words.split()], check=True)


if __name__ == "__main__":
    main()
