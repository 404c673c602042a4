"""The tests of a single worker: a CPU core, memory, folders and GPUs.

It is also a program, for tests that may hang: `--write FOLDER`, `--read FOLDER`, `--cards`.
"""

import errno
import hashlib
import os
import socket
import subprocess
import sys
import threading
import time

# Timeout of a GPU test in seconds, including the start of its libraries.
CARDS = 180
# A folder that takes so many times as long as on other workers is too slow.
SLOWER = 10
# The exit code of a folder test that was refused: the folder is full, or the task may not write to it.
REFUSED = 4


def say(sentence):
    sys.stderr.write(sentence + "\n")
    sys.stderr.flush()


def test(table):
    """This worker's results, and its `tests` by kind: `None` if passed, else the reason, and `by`, its evidence: a `value`, with or
    without its `floor` crossed; the `task`, which lacks something that it needs; or the failure itself."""
    bounds, floors, tests = table["bounds"], table["floors"], {}
    found = {"cpu": processor(), "memory": memory(), "card": None, "mount": None, "folders": {}, "tests": tests}

    def judge(kind, why, by="itself", floor=False):
        tests[kind] = {"why": why, "by": by, "floor": floor} if why else None

    for kind, what in (("cpu", "a core hashes"), ("memory", "its memory copies")):
        why = "%s %g MB/s; at least %g is required" % (what, found[kind], round(bounds[kind], 1))
        judge(kind, why if found[kind] < bounds[kind] else None, "value", found[kind] < floors[kind])
    for name, folder, read_only in folders(table):
        took, why, by = mount(folder, read_only, bounds["mount"])
        found["mount"] = max(found["mount"] or 0, took)
        found["folders"][name] = took
        judge(name, "%s: %s" % (folder, why) if why else None, by, took > floors["mount"])
    role = os.environ["CUBELOOM_ROLE"]
    count = table["cards"].get(role, 0)
    if count:
        slices = role in table.get("slices", []) or is_sliced()
        # A program sees only one of several slices, and slices of different sizes are not comparable.
        tested, speed, why = cards(0 if slices else count)
        found["card"] = None if slices else speed
        if tested:
            judge("card", why)
        if found["card"] is not None and found["card"] < bounds["card"] and not why:
            why = "a GPU multiplies %g TFLOP/s; at least %g is required" % (found["card"], round(bounds["card"], 2))
            judge("card", why, "value", found["card"] < floors["card"])
    return found


def is_sliced():
    """Whether the worker's GPUs are MIG slices although its task does not request slices."""
    return any("MIG-" in os.environ.get(name, "") for name in ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"))


def processor():
    """Hash rate of a core in MB/s of CPU time: the load of others does not matter."""
    block, count, began = bytes(1 << 20), 0, time.process_time()
    while count < 64 and time.process_time() - began < 0.2:
        hashlib.sha256(block).digest()
        count += 1
    return round(count * len(block) / 1e6 / max(1e-6, time.process_time() - began), 1)


def memory():
    """Copy rate of a core in MB/s of CPU time, and whether the copy is intact."""
    source, count, began = os.urandom(1 << 20) * 8, 0, time.process_time()
    while count < 64 and time.process_time() - began < 0.2:
        copy = bytearray(source)
        count += 1
    speed = round(count * len(source) / 1e6 / max(1e-6, time.process_time() - began), 1)
    return speed if copy == source else 0.0


def folders(table):
    """The folders of a worker, each with its variable and whether it is read-only."""
    for name in ("CUBELOOM_WORKSPACE", "CUBELOOM_CHECKPOINT_DIR"):
        if os.environ.get(name):
            yield name, os.environ[name], False
    for name, value in sorted(os.environ.items()):
        if name.startswith("CUBELOOM_VOLUME_"):
            yield name, value, name in table["read_only"]


def mount(folder, read_only, most):
    """The seconds that a small file takes in a folder, the problem, and its evidence. A child process does it, because it may
    hang."""
    began = time.monotonic()
    kind = "--read" if read_only else "--write"
    child = subprocess.Popen(
        [sys.executable, os.path.abspath(__file__), kind, folder], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True,
    )
    told = []
    reader = threading.Thread(target=lambda: told.append(child.stderr.read().strip()), daemon=True)
    reader.start()
    # The interpreter's own start does not count as the folder's time.
    reader.join(most + 10)
    took = round(time.monotonic() - began, 3)
    if reader.is_alive():
        child.kill()
        return took, "it did not respond within %g s" % round(most, 1), "itself"
    if child.wait() != 0:
        by = "task" if child.returncode == REFUSED else "itself"
        return took, (told[0].splitlines() or ["it failed"])[-1], by
    took = float(told[0] or 0)
    return took, "it took %g s; at most %g is allowed" % (took, round(most, 1)) if took > most else None, "value"


def touch(kind, folder):
    """Writes, reads and deletes a small file, or lists the folder. Prints the duration."""
    began = time.monotonic()
    # A folder that the task may not write, such as a project's folder on a shared claim, is only read.
    if kind == "--write" and os.path.isdir(folder) and not os.access(folder, os.W_OK):
        kind = "--read"
    try:
        if kind == "--read":
            os.listdir(folder)
        else:
            os.makedirs(folder, exist_ok=True)
            path = os.path.join(folder, ".preflight-%s-%d" % (socket.gethostname(), os.getpid()))
            text = os.urandom(4096)
            try:
                with open(path, "wb") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
                with open(path, "rb") as file:
                    if file.read() != text:
                        sys.exit("the file read differs from the file written")
            finally:
                if os.path.exists(path):
                    os.unlink(path)
    except OSError as error:
        say("it cannot be %s: %s" % ("read" if kind == "--read" else "written", error.strerror))
        # A full or read-only folder refuses the task on every node.
        refused = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS)
        sys.exit(REFUSED if error.errno in refused else 1)
    sys.stderr.write("%.3f" % (time.monotonic() - began))


def cards(count):
    """Whether the GPUs can be tested at all, the TFLOP/s of the slowest (`None` without a PyTorch that can use GPUs), and the
    problem, for instance fewer than `count`."""
    found, why = asked([sys.executable, os.path.abspath(__file__), "--cards"])
    if found is not None and found.strip() != "none":
        speeds = [float(word) for word in found.split()]
        missing = count - len(speeds)
        why = "%d of its %d GPUs are missing" % (missing, count) if missing > 0 else None
        return True, min(speeds, default=None), why
    if why:
        return True, None, "its GPUs cannot be used: %s" % why
    query = ["nvidia-smi", "--query-gpu=ecc.errors.uncorrected.volatile.total", "--format=csv,noheader"]
    found, why = asked(query)
    if found is None:
        # An image without it says nothing about the GPUs.
        return bool(why), None, why and "nvidia-smi: %s" % why
    bad = [word for word in found.split() if word.isdigit() and int(word) > 0]
    return True, None, "a GPU has %s uncorrected memory errors" % bad[0] if bad else None


def asked(words):
    """The output of a program, or the reason of its failure; neither if it cannot be started."""
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=CARDS)
    except subprocess.TimeoutExpired:
        return None, "it did not respond within %d s" % CARDS
    except OSError:
        return None, None
    if done.returncode == 0:
        return done.stdout, None
    return None, (done.stderr.strip().splitlines() or ["exit code %d" % done.returncode])[-1]


def multiply():
    """Prints the TFLOP/s of each GPU, and fails if a product is wrong."""
    try:
        import torch
    except ImportError:
        return print("none")
    if torch.version.cuda is None and torch.version.hip is None:
        # A CPU-only build sees no GPU even if there is one.
        return print("none")
    speeds = []
    for card in range(torch.cuda.device_count()):
        size, times = 4096, 20
        with torch.cuda.device(card):
            one = torch.ones(size, size, device="cuda", dtype=torch.float16)
            product = one @ one
            torch.cuda.synchronize()
            began = time.monotonic()
            for _ in range(times):
                product = one @ one
            torch.cuda.synchronize()
            took = time.monotonic() - began
            if not bool((product == size).all()):
                sys.exit("GPU %d computes wrong results" % card)
        speeds.append("%.2f" % (2 * size**3 * times / took / 1e12))
    print(" ".join(speeds))


if __name__ == "__main__":
    if sys.argv[1] == "--cards":
        multiply()
    else:
        touch(*sys.argv[1:])
