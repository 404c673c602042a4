"""What a worker that is tested measures by itself: a core, memory, folders and cards.

It is also a program of its own, for what may hang: `--write FOLDER`, `--read FOLDER`, `--cards`.
"""

import errno
import hashlib
import os
import socket
import subprocess
import sys
import threading
import time

# How long, in seconds, a card may be tested, its libraries' start included.
CARDS = 180
# A folder that takes so many times as long as it does elsewhere is too slow.
SLOWER = 10
# The exit code of the test of a folder that refuses the task: it is full, or not the task's to write.
REFUSED = 4


def say(sentence):
    sys.stderr.write(sentence + "\n")
    sys.stderr.flush()


def test(table):
    """What this worker measures by itself, and its `tests` by kind: nothing of one that it passed, else why not, and `by` what that
    is seen: by a `value`, which is beyond its `floor` or not, by the `task`, which is not given what it needs, or by itself."""
    bounds, floors, tests = table["bounds"], table["floors"], {}
    found = {"cpu": processor(), "memory": memory(), "card": None, "mount": None, "folders": {}, "tests": tests}

    def judge(kind, why, by="itself", floor=False):
        tests[kind] = {"why": why, "by": by, "floor": floor} if why else None

    for kind, what in (("cpu", "a core hashes"), ("memory", "its memory copies")):
        why = "%s %g MB/s, of at least %g" % (what, found[kind], round(bounds[kind], 1))
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
        # Of several slices a program sees one, and of different sizes none is like another.
        tested, speed, why = cards(0 if slices else count)
        found["card"] = None if slices else speed
        if tested:
            judge("card", why)
        if found["card"] is not None and found["card"] < bounds["card"] and not why:
            why = "a GPU multiplies %g TFLOP/s, of at least %g" % (found["card"], round(bounds["card"], 2))
            judge("card", why, "value", found["card"] < floors["card"])
    return found


def is_sliced():
    """Whether what the worker was given are slices of cards, though its task does not say so."""
    return any("MIG-" in os.environ.get(name, "") for name in ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"))


def processor():
    """What a core hashes in MB/s, by its own time: what others do on it is no matter."""
    block, count, began = bytes(1 << 20), 0, time.process_time()
    while count < 64 and time.process_time() - began < 0.2:
        hashlib.sha256(block).digest()
        count += 1
    return round(count * len(block) / 1e6 / max(1e-6, time.process_time() - began), 1)


def memory():
    """What a core copies in MB/s, by its own time, and whether it is what it was."""
    source, count, began = os.urandom(1 << 20) * 8, 0, time.process_time()
    while count < 64 and time.process_time() - began < 0.2:
        copy = bytearray(source)
        count += 1
    speed = round(count * len(source) / 1e6 / max(1e-6, time.process_time() - began), 1)
    return speed if copy == source else 0.0


def folders(table):
    """The folders that a worker is given, each with the variable that names it and whether it may only be read."""
    for name in ("CUBELOOM_WORKSPACE", "CUBELOOM_CHECKPOINT_DIR"):
        if os.environ.get(name):
            yield name, os.environ[name], False
    for name, value in sorted(os.environ.items()):
        if name.startswith("CUBELOOM_VOLUME_"):
            yield name, value, name in table["read_only"]


def mount(folder, read_only, most):
    """How long a small file takes in a folder, in seconds, what is wrong, and by what that is seen. A process of its own does it: it
    may hang."""
    began = time.monotonic()
    kind = "--read" if read_only else "--write"
    child = subprocess.Popen(
        [sys.executable, os.path.abspath(__file__), kind, folder], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True,
    )
    told = []
    reader = threading.Thread(target=lambda: told.append(child.stderr.read().strip()), daemon=True)
    reader.start()
    # The interpreter's own start is not the folder's.
    reader.join(most + 10)
    took = round(time.monotonic() - began, 3)
    if reader.is_alive():
        child.kill()
        return took, "it did not answer within %g s" % round(most, 1), "itself"
    if child.wait() != 0:
        by = "task" if child.returncode == REFUSED else "itself"
        return took, (told[0].splitlines() or ["it failed"])[-1], by
    took = float(told[0] or 0)
    return took, "it took %g s, of at most %g" % (took, round(most, 1)) if took > most else None, "value"


def touch(kind, folder):
    """Writes, reads and deletes a small file, or lists the folder. Says how long it took."""
    began = time.monotonic()
    # What is not the task's to write, such as a project's folder on a shared claim, is only read.
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
                        sys.exit("what was written is not what is read")
            finally:
                if os.path.exists(path):
                    os.unlink(path)
    except OSError as error:
        say("it cannot be %s: %s" % ("read" if kind == "--read" else "written", error.strerror))
        # A folder that is full or not the task's refuses it on every node.
        refused = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS)
        sys.exit(REFUSED if error.errno in refused else 1)
    sys.stderr.write("%.3f" % (time.monotonic() - began))


def cards(count):
    """Whether the cards can be tested at all, what the slowest multiplies in TFLOP/s, `None` where no PyTorch can use cards, and
    what is wrong: fewer than `count` are, too."""
    found, why = asked([sys.executable, os.path.abspath(__file__), "--cards"])
    if found is not None and found.strip() != "none":
        speeds = [float(word) for word in found.split()]
        missing = count - len(speeds)
        why = "%d of its %d GPUs are not there" % (missing, count) if missing > 0 else None
        return True, min(speeds, default=None), why
    if why:
        return True, None, "its GPUs cannot be used: %s" % why
    query = ["nvidia-smi", "--query-gpu=ecc.errors.uncorrected.volatile.total", "--format=csv,noheader"]
    found, why = asked(query)
    if found is None:
        # An image without it says nothing of the cards.
        return bool(why), None, why and "nvidia-smi: %s" % why
    bad = [word for word in found.split() if word.isdigit() and int(word) > 0]
    return True, None, "a GPU has %s memory errors that were not corrected" % bad[0] if bad else None


def asked(words):
    """What a program prints, or why not; neither where it cannot be started."""
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=CARDS)
    except subprocess.TimeoutExpired:
        return None, "it did not answer within %d s" % CARDS
    except OSError:
        return None, None
    if done.returncode == 0:
        return done.stdout, None
    return None, (done.stderr.strip().splitlines() or ["exit code %d" % done.returncode])[-1]


def multiply():
    """Prints what each card multiplies, in TFLOP/s, and fails where the product is wrong."""
    try:
        import torch
    except ImportError:
        return print("none")
    if torch.version.cuda is None and torch.version.hip is None:
        # Made for processors alone, it sees no card where there is one.
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
                sys.exit("GPU %d multiplies wrongly" % card)
        speeds.append("%.2f" % (2 * size**3 * times / took / 1e12))
    print(" ".join(speeds))


if __name__ == "__main__":
    if sys.argv[1] == "--cards":
        multiply()
    else:
        touch(*sys.argv[1:])
