"""Tests a worker and the network to its peers, and becomes its program when all workers of the job are good enough.

    preflight.py PROGRAM ARGS...

preflight.json, beside it, holds the `workers` in rank order (role, index, address, port), how many `cards` one of each role has,
the roles whose cards are `slices`, the variables of volumes that are `read_only`, how many seconds the workers `wait` for each
other, and the `bounds` of what is measured (MB/s; of cards TFLOP/s; of folders seconds at the most). The first worker leads: it
tells the others when to measure with whom, so that pairs do not disturb each other, and decides. What all measured is one line of
its outputs. The worker that is blamed ends with exit code 3, and the others wait to be ended because of it. It is `sure` that it
is this one only where others of this job are good: what is wrong with all alike, an image or a volume, is no node's, and the
bounds are of other jobs, which may have had other machines. Between workers of one host no network is measured: it is none.

PREFLIGHT_SLOW, `worker-1=2.5`, makes the network of a worker as slow as that, in MB/s: to see what happens then, also on one host,
where it is measured but not told, for it is not to be learned from.
"""

import errno
import hashlib
import json
import os
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time

# What the exit code of a worker is that has failed, or whose peer has.
FAILED = 3
# What one worker sends another to measure the network: so many bytes, or for so many seconds.
BYTES = 32 << 20
SECONDS = 1.0
CHUNK = 256 << 10
# How long, in seconds, a pair of workers may take.
PAIR = 30
# With so many peers a worker measures at the most.
PEERS = 7
# How long, in seconds, a card may be tested, its libraries' start included.
CARDS = 180
# Who connects has to say who it is within so many seconds: it may be no worker.
FIRST = 5
# More of a line is not read, in bytes.
LINE = 1 << 20
# The exit code of the test of a folder that refuses the task: it is full, or not the task's to write.
REFUSED = 4
# How long one who waits to be ended waits, in seconds.
END = 60


def main(words):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "preflight.json")) as file:
        table = json.load(file)
    slow = os.environ.pop("PREFLIGHT_SLOW", "")
    names = ["%s-%d" % (role, index) for role, index, _, _ in table["workers"]]
    me = names.index("%s-%s" % (os.environ["CUBELOOM_ROLE"], os.environ["CUBELOOM_INDEX"]))
    limit = dict(one.split("=") for one in slow.split(",") if "=" in one).get(names[me])
    worker = Worker(table, names, me, float(limit) * 1e6 if limit else None)
    worker.drill = bool(slow)
    verdict = Leader(worker).run() if me == 0 else worker.follow()
    if verdict is None:
        os.execvp(words[0], words)
    say("%s failed the pre-flight: %s" % (verdict["worker"], verdict["why"]))
    if verdict["worker"] != names[me]:
        time.sleep(END)
    sys.exit(FAILED)


def say(sentence):
    sys.stderr.write(sentence + "\n")
    sys.stderr.flush()


class Lost(Exception):
    """A worker that does not answer."""


def host():
    """What workers of one host have in common: pods there have names and addresses of their own, but one kernel."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return socket.gethostname()


def listening(address, port):
    """A socket that is bound to a worker's port."""
    # A pod has its address of the cluster, not by the name that others know it by: of either kind.
    ways = [(socket.AF_INET, address if address.startswith("127.") else "")]
    if not ways[0][1] and getattr(socket, "has_dualstack_ipv6", lambda: False)():
        ways.insert(0, (socket.AF_INET6, "::"))
    for at, (family, local) in enumerate(ways):
        made = socket.socket(family, socket.SOCK_STREAM)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            made.bind((local, port))
            return made
        except OSError:
            made.close()
            # A host without IPv6 may say so only here.
            if at + 1 == len(ways):
                raise


class Worker:
    """This worker: what it measures, and its way to the leader."""

    # Whether one of the workers is made slow.
    drill = False

    def __init__(self, table, names, me, limit):
        self.table, self.names, self.me, self.limit = table, names, me, limit
        self.until = time.monotonic() + table["wait"]
        _, _, address, port = table["workers"][me]
        self.listener = listening(address, int(port) if len(names) > 1 else 0)
        if len(names) > 1:
            # Who is no worker may wait there, too.
            self.listener.listen(len(names) + 64)
            self.listener.settimeout(PAIR / 2)

    def connect(self, peer, until, patience):
        """A connection to a peer, which may not be there yet; it waits for so many seconds for what comes over it."""
        _, _, address, port = self.table["workers"][peer]
        while True:
            try:
                made = socket.create_connection((address, int(port)), timeout=PAIR / 3)
                made.settimeout(patience)
                made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return made
            except OSError as error:
                if time.monotonic() > until:
                    raise Lost("%s cannot be reached: %s" % (self.names[peer], error))
            time.sleep(0.2)

    def follow(self):
        """Does what the leader says. Its verdict."""
        own = test(self.table)
        try:
            # The leader may have begun later, and waits as long: it is to say who did not come, before this one gives up.
            until = self.until + self.table["wait"]
            line = Lines(self.connect(0, until, 2 * self.table["wait"] + PEERS * 2 * PAIR))
            line.send({"from": self.me, "host": host(), "own": own})
            while True:
                said = line.read()
                if "peer" not in said:
                    line.socket.close()
                    self.listener.close()
                    return said["verdict"]
                line.send({"speed": self.measure(said["peer"])})
        except (OSError, ValueError, TypeError, KeyError, Lost) as error:
            return {"worker": self.names[0], "why": "it did not answer %s: %s" % (self.names[self.me], error)}

    def measure(self, peer):
        """The network between this worker and a peer in MB/s, one way after the other; 0 where they do not meet."""
        try:
            if self.me < peer:
                with self.connect(peer, time.monotonic() + PAIR / 3, PAIR / 2) as made:
                    made.sendall(struct.pack("!I", self.me))
                    there = self.send(made)
                    back = receive(made)
            else:
                with self.accept(peer) as made:
                    back = receive(made)
                    there = self.send(made)
                    receive_end(made)
                    # Who closes first keeps the port for a while, which the program needs: a reset does not.
                    made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return round(min(there, back) / 1e6, 1)
        except (OSError, Lost):
            return 0

    def accept(self, peer):
        """The connection of a peer: one that came too late in an earlier round may still wait."""
        while True:
            made, _ = self.listener.accept()
            made.settimeout(FIRST)
            try:
                if struct.unpack("!I", exactly(made, 4))[0] == peer:
                    made.settimeout(PAIR / 2)
                    return made
            except (OSError, Lost):
                # No worker.
                pass
            made.close()

    def send(self, made):
        """Sends what is measured by. Bytes a second, until the peer has all of it."""
        chunk, sent, began = bytes(CHUNK), 0, time.monotonic()
        while sent < BYTES and time.monotonic() - began < SECONDS:
            made.sendall(struct.pack("!I", CHUNK) + chunk)
            sent += CHUNK
            if self.limit:
                time.sleep(max(0, began + sent / self.limit - time.monotonic()))
        made.sendall(struct.pack("!I", 0))
        exactly(made, 1)
        return sent / max(1e-6, time.monotonic() - began)


def receive(made):
    """Takes what a peer sends. Bytes a second."""
    got, began = 0, time.monotonic()
    while True:
        (length,) = struct.unpack("!I", exactly(made, 4))
        if length == 0:
            made.sendall(b".")
            return got / max(1e-6, time.monotonic() - began)
        exactly(made, length)
        got += length


def receive_end(made):
    """Waits until the peer has closed."""
    while made.recv(1):
        pass


def exactly(made, length):
    parts = []
    while length > 0:
        part = made.recv(min(length, CHUNK))
        if not part:
            raise Lost("it closed")
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


class Lines:
    """JSON, a line each, over a connection."""

    def __init__(self, made):
        self.socket, self.file = made, made.makefile("rb")

    def send(self, value):
        self.socket.sendall(json.dumps(value).encode() + b"\n")

    def read(self):
        line = self.file.readline(LINE)
        if not line:
            raise Lost("it closed")
        return json.loads(line)


class Leader:
    """The first worker, which leads the others."""

    def __init__(self, worker):
        self.worker, self.names, self.table = worker, worker.names, worker.table
        self.lines, self.own, self.speeds = {}, {}, [{} for _ in worker.names]
        self.hosts = {0: host()}

    def run(self):
        """Tests all. What becomes of them: `None` where they go on, or who is blamed, and why."""
        self.own[0] = test(self.table)
        try:
            self.gather()
            for pairs in rounds(len(self.names)):
                self.round([pair for pair in pairs if self.worker.drill or self.apart(*pair)])
            verdict = self.judge()
        except Lost as error:
            verdict = error.args[0]
        self.write(verdict)
        for line in self.lines.values():
            try:
                line.send({"verdict": verdict})
                # Who closes first keeps the port for a while, which the program needs: a worker closes first.
                receive_end(line.socket)
            except OSError:
                pass
            line.socket.close()
        self.worker.listener.close()
        return verdict

    def apart(self, one, other):
        """Whether there is a network between two workers."""
        return self.hosts[one] != self.hosts[other]

    def gather(self):
        """Waits for all workers."""
        while len(self.lines) < len(self.names) - 1:
            if time.monotonic() > self.worker.until:
                missing = [name for at, name in enumerate(self.names) if at and at not in self.lines]
                self.blame(missing[0], "it did not come within %g s" % self.table["wait"])
            self.worker.listener.settimeout(max(0.1, self.worker.until - time.monotonic()))
            try:
                made, _ = self.worker.listener.accept()
            except OSError:
                continue
            try:
                self.meet(made)
            except (OSError, ValueError, TypeError, KeyError, AttributeError, Lost):
                # Anybody may connect: who says nothing, or no sense, is no worker.
                made.close()
        self.worker.listener.settimeout(PAIR / 2)

    def meet(self, made):
        """Takes in what a worker says first."""
        made.settimeout(FIRST)
        line = Lines(made)
        said = line.read()
        at, own = said["from"], said["own"]
        if at not in range(1, len(self.names)) or at in self.lines:
            raise ValueError(at)
        [failed and (failed["why"], failed["by"]) for failed in own["tests"].values()]
        self.hosts[at], self.own[at] = str(said["host"]), own
        made.settimeout(2 * PAIR)
        self.lines[at] = line

    def round(self, pairs):
        """Lets the pairs measure, and waits for all of them."""
        mine = None
        for one, other in pairs:
            for at, peer in ((one, other), (other, one)):
                if at:
                    self.tell(at, {"peer": peer})
                else:
                    mine = peer
        if mine is not None:
            self.speeds[0][mine] = self.worker.measure(mine)
        for one, other in pairs:
            for at, peer in ((one, other), (other, one)):
                if at:
                    self.speeds[at][peer] = self.ask(at)

    def tell(self, at, value):
        try:
            self.lines[at].send(value)
        except OSError as error:
            self.blame(self.names[at], "it did not answer: %s" % error)

    def ask(self, at):
        try:
            return float(self.lines[at].read()["speed"])
        except (OSError, ValueError, TypeError, KeyError, Lost) as error:
            self.blame(self.names[at], "it did not answer: %s" % error)

    def blame(self, name, why):
        # Whether it is its node or a way to it nobody can say.
        raise Lost({"worker": name, "why": why, "sure": False})

    def judge(self):
        """Who is blamed: the first whose own tests failed, rather one of whom that is sure, else the one with the slowest network,
        where that is too slow."""
        bad = []
        for at in range(len(self.names)):
            for kind, failed in self.own[at]["tests"].items():
                if failed:
                    bad.append((not self.sure(at, kind, failed), at, failed["why"]))
        if bad:
            unsure, at, why = min(bad, key=lambda one: one[:2])
            return {"worker": self.names[at], "why": why, "sure": not unsure}
        least = self.table["bounds"]["network"]
        slow = [(self.network(at), sum(self.speeds[at].values()), -at) for at in range(len(self.names))]
        slow = [one for one in slow if one[0] is not None and one[0] < least]
        if not slow:
            return None
        speed, _, at = min(slow)
        peers = len(self.speeds[-at])
        why = "its network to %s came to %g MB/s, of at least %g" % (
            "its peer" if peers == 1 else "%d peers" % peers, speed, round(least, 1)
        )
        others = [self.network(other) for other in range(len(self.names)) if other != -at]
        return {"worker": self.names[-at], "why": why, "sure": peers > 1 and stands_out(speed, others)}

    def sure(self, at, kind, failed):
        """Whether it is the worker's node for which a test failed: what all fail alike is the task's, or a volume's."""
        # Another role may have other cards.
        role = self.table["workers"][at][0]
        others = [
            own for other, own in self.own.items()
            if other != at and (kind != "card" or self.table["workers"][other][0] == role)
        ]
        if failed["by"] == "task" or not any(kind in own["tests"] and not own["tests"][kind] for own in others):
            return False
        # The bound is of other jobs' machines.
        return failed["by"] != "value" or stands_out(self.own[at][kind], [own.get(kind) for own in others])

    def network(self, at, measured=lambda _: True):
        """The median of a worker's peers, the better of two: one slow peer makes nobody slow."""
        speeds = [speed for peer, speed in self.speeds[at].items() if measured(peer)]
        return statistics.median_high(speeds) if speeds else None

    def write(self, verdict):
        """Tells what all measured."""
        workers = []
        for at, name in enumerate(self.names):
            own = self.own.get(at, {})
            one = {key: own.get(key) for key in ("cpu", "memory", "card", "mount")}
            one["wrong"] = [failed["why"] for failed in own.get("tests", {}).values() if failed]
            one.update(worker=name, network=self.network(at, lambda peer, at=at: self.apart(at, peer)))
            workers.append({key: value for key, value in one.items() if value not in (None, [])})
        line = {"preflight": {"workers": workers, "blamed": verdict}}
        with open(os.environ["CUBELOOM_OUTPUTS"], "a") as outputs:
            outputs.write(json.dumps(line) + "\n")


def stands_out(value, others):
    """Whether a value is below half of what the other workers of this job came to, of whom there must be two."""
    others = [other for other in others if other is not None]
    return len(others) > 1 and value < statistics.median(others) / 2


def rounds(count):
    """Who measures with whom, round by round: of each round every worker is in one pair at most (the circle method)."""
    places = list(range(count)) + ([None] if count % 2 else [])
    for _ in range(min(PEERS, len(places) - 1)):
        half = len(places) // 2
        pairs = zip(places[:half], reversed(places[half:]))
        yield [tuple(sorted(pair)) for pair in pairs if None not in pair]
        places.insert(1, places.pop())


def test(table):
    """What this worker measures by itself, and its `tests` by kind: nothing of one that it passed, else why not, and `by` what that
    is seen: by a `value`, by the `task`, which is not given what it needs, or by itself."""
    bounds, tests = table["bounds"], {}
    found = {"cpu": processor(), "memory": memory(), "card": None, "mount": None, "tests": tests}

    def judge(kind, why, by="itself"):
        tests[kind] = {"why": why, "by": by} if why else None

    for kind, what in (("cpu", "a core hashes"), ("memory", "its memory copies")):
        why = "%s %g MB/s, of at least %g" % (what, found[kind], round(bounds[kind], 1))
        judge(kind, why if found[kind] < bounds[kind] else None, "value")
    for name, folder, read_only in folders(table):
        took, why, by = mount(folder, read_only, bounds["mount"])
        found["mount"] = max(found["mount"] or 0, took)
        judge(name, "%s: %s" % (folder, why) if why else None, by)
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
            why = "a card multiplies %g TFLOP/s, of at least %g" % (found["card"], round(bounds["card"], 2))
            judge("card", why, "value")
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
    return took, "it took %g s, of at most %g" % (took, round(most, 1)) if took > most else None, "itself"


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
        why = "%d of its %d cards are not there" % (missing, count) if missing > 0 else None
        return True, min(speeds, default=None), why
    if why:
        return True, None, "its cards cannot be used: %s" % why
    query = ["nvidia-smi", "--query-gpu=ecc.errors.uncorrected.volatile.total", "--format=csv,noheader"]
    found, why = asked(query)
    if found is None:
        # An image without it says nothing of the cards.
        return bool(why), None, why and "nvidia-smi: %s" % why
    bad = [word for word in found.split() if word.isdigit() and int(word) > 0]
    return True, None, "a card has %s memory errors that were not corrected" % bad[0] if bad else None


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
                sys.exit("card %d multiplies wrongly" % card)
        speeds.append("%.2f" % (2 * size**3 * times / took / 1e12))
    print(" ".join(speeds))


if __name__ == "__main__":
    if sys.argv[1] in ("--read", "--write"):
        touch(*sys.argv[1:])
    elif sys.argv[1] == "--cards":
        multiply()
    else:
        main(sys.argv[1:])
