"""Cases that measure a program from outside, in the same way for any commit."""

import json
import os
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from figures import figure

MIB = 1024 * 1024
# The document of `compile`.
TASKS, WIDTH = 100_000, 1_000
# Memory has settled when it stays within 256 KiB for two seconds.
SETTLED_KIB, SAMPLES, EACH = 256, 8, 0.25
LONGEST = 60.0
STARTS = 100


class Failed(Exception):
    """A case of a program yielded no figures."""


def size(program, scratch):
    """The size of the program in bytes, and of the shim if that is a separate file."""
    found = [figure("program", os.path.getsize(program) / 1e6, "MB", at_most=45, exact=True)]
    shim = shim_of(program)
    if shim:
        found.append(figure("shim", os.path.getsize(shim) / 1e6, "MB", exact=True))
    return found


def shim_of(program):
    path = Path(program).parent / "cubeloom-shim"
    return path if path.exists() else None


def shim(program, scratch):
    """The start of a shim, which ends immediately without an order, next to a program that does nothing."""
    command = [shim_of(program) or program, "__shim"]
    ours, bare = [], []
    for _ in range(STARTS):
        bare.append(start_time(["/bin/true"]))
        ours.append(start_time(command))
    return [
        figure("bare start", median(bare), "ms", better=None),
        figure("start", median(ours), "ms", at_most=1),
    ]


def start_time(command):
    start = time.perf_counter()
    with open(os.devnull, "r+b") as null:
        to_null = [(os.POSIX_SPAWN_DUP2, null.fileno(), number) for number in (0, 1, 2)]
        pid = os.posix_spawn(command[0], command, os.environ, file_actions=to_null)
        os.waitpid(pid, 0)
    return (time.perf_counter() - start) * 1e3


def idle(program, scratch):
    """An idle server: its time until ready, and its memory once that has settled."""
    with own_folder(scratch) as folder:
        environment = {**os.environ, "CUBELOOM_SERVER_LISTEN": "127.0.0.1:0"}
        log = tempfile.TemporaryFile(dir=folder)
        start = time.perf_counter()
        server = subprocess.Popen(
            [program, "--data", folder, "serve"],
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log,
        )
        try:
            # The server writes this file when it is ready.
            wait_for(server, Path(folder) / "server.json", log)
            ready = time.perf_counter() - start
            memory = settled(server)
        finally:
            end(server)
    return [
        figure("start until ready", ready * 1e3, "ms"),
        figure("resident memory", memory / 1024, "MiB", at_most=25),
    ]


@contextmanager
def own_folder(scratch):
    """A scratch folder that workers of another account can reach."""
    with tempfile.TemporaryDirectory(prefix="cubeloom-bench-", dir=scratch) as folder:
        os.chmod(folder, 0o755)
        yield folder


def end(server):
    """Stops the server and waits, so that it does not write while its folder is deleted."""
    server.terminate()
    try:
        server.wait(LONGEST)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def wait_for(server, file, log):
    limit = time.perf_counter() + LONGEST
    while not file.exists():
        if server.poll() is not None or time.perf_counter() > limit:
            log.seek(0)
            said = log.read().decode(errors="replace")
            raise Failed(f"the server of the case `idle` ended or was not ready in time:\n{said}")
        time.sleep(0.002)


def settled(server):
    seen = []
    limit = time.perf_counter() + LONGEST
    while time.perf_counter() < limit:
        seen = [*seen, resident_kib(server.pid)][-SAMPLES:]
        if len(seen) == SAMPLES and max(seen) - min(seen) <= SETTLED_KIB:
            return seen[-1]
        time.sleep(EACH)
    raise Failed(f"the memory of an idle server does not settle; the last samples in KiB: {seen}")


def resident_kib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as lines:
        return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1])


def compile_large(program, scratch):
    """`cubeloom compile` of a document of 100,000 tasks. The command copies the document's folder, so the data folder is a different one."""
    with own_folder(scratch) as folder:
        path = Path(folder) / "code" / "pipeline.yaml"
        path.parent.mkdir()
        path.write_text(document(TASKS, WIDTH))
        command = [program, "--data", Path(folder) / "data", "compile", path, "--for", "local"]
        seconds, kib = run_to_end(command)
    return [figure("time", seconds, "s"), figure("peak memory", kib / 1024, "MiB", at_most=300)]


def run_to_end(command):
    """Time and peak memory of a process."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise Failed(f"`{' '.join(map(str, command))}` ended with {child.returncode}")
    return seconds, usage.ru_maxrss


def document(tasks, width):
    """`tasks` tasks, `width` in parallel, each depending on the one above it. JSON is valid YAML."""
    def task(n):
        needs = {"needs": [f"t{n - width}"]} if n >= width else {}
        return {"name": f"t{n}", "template": "command", "arguments": {"command": ["/bin/true"]}, **needs}

    listed = [task(n) for n in range(tasks)]
    return json.dumps({"apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "large", "tasks": listed})


CASES = {"size": size, "shim": shim, "idle": idle, "compile": compile_large}
