"""The fields of a record about the machine and the program's origin."""

import os
import subprocess
import tempfile
import time
from datetime import datetime, timezone
from statistics import median

ROUNDS_OF_DISK = 200


def describe(scratch, root):
    return {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "commit": output(["git", "rev-parse", "HEAD"], root) or "unknown",
        "dirty": bool(output(["git", "status", "--porcelain"], root)),
        "rustc": output(["rustc", "--version"], root) or "unknown",
        "cores": len(os.sched_getaffinity(0)),
        "model": field("/proc/cpuinfo", "model name"),
        "memory_kib": int(field("/proc/meminfo", "MemTotal").split()[0]),
        "kernel": os.uname().release,
        "load": os.getloadavg()[0],
        "fdatasync_ms": round(fdatasync(scratch), 3),
    }


def output(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def field(path, key):
    with open(path, encoding="utf-8") as lines:
        values = (line.split(":", 1)[1].strip() for line in lines if line.startswith(key))
        return next(values, "unknown")


def fdatasync(folder):
    """The median time of a durable 4 KiB write, in milliseconds: every commit waits for one."""
    times = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(ROUNDS_OF_DISK):
            os.write(file.fileno(), b"x" * 4096)
            start = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append((time.perf_counter() - start) * 1e3)
    return median(times)
