"""Tests a worker and the network to its peers, and becomes its program when all workers of the job are good enough.

    preflight.py PROGRAM ARGS...

preflight.json, in the same folder, has the `workers` in rank order (role, index, address, port), the number of GPUs (`cards`) of
one worker of each role, the roles whose GPUs are `slices`, the variables of `read_only` volumes, how many seconds the workers
`wait` for each other, the `bounds` of the measured values (MB/s; TFLOP/s for GPUs; maximum seconds for folders), and their `floors`.

The first worker leads: it schedules the pairs, so that they do not disturb each other, and decides. All results are one line of its
outputs. The blamed worker ends with exit code 3, and the others wait to be ended. The verdict is `sure` only if other workers of
this job are good. A fault of all workers, such as an image or a volume, is not a node's fault. The bounds come from other jobs,
which may have run on other machines. Between workers of one host no network is measured, because there is none.

A worker is blamed for a value only if it is far worse than its peers, or below both the bounds and the `floors`, which every healthy
machine reaches. A gang that is slow throughout has slower nodes: its results are reported next to the normal values.

PREFLIGHT_SLOW, `worker-1=2.5`, limits the network of a worker to this rate, in MB/s, for drills. On one host the network is then
measured but not reported, because it must not affect what is normal.
"""

import importlib.util
import json
import os
import socket
import statistics
import struct
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def part(name):
    """Loads a module of this folder. The folder may not be listable, and then Python finds no modules in it."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(HERE, name + ".py"))
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])


sys.dont_write_bytecode = True
part("preflight_link")
part("preflight_tests")

from preflight_link import CHUNK, Door, Lines, Lost, MEASURE, TALK, drop, exactly, prove  # noqa: E402
from preflight_tests import SLOWER, say, test  # noqa: E402

# The exit codes of a worker that has failed, and of one whose peer has.
FAILED = 3
# How much one worker sends another to measure the network: at most so many bytes, or for so many seconds.
BYTES = 32 << 20
SECONDS = 1.0
# Timeout of a pair of workers, in seconds.
PAIR = 30
# Maximum number of peers that a worker measures with.
PEERS = 7
# Timeout of a worker's first message, in seconds.
FIRST = 5
# How long a worker waits to be ended, in seconds.
END = 60


def main(words):
    with open(os.path.join(HERE, "preflight.json")) as file:
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
    say("%s failed the pre-flight tests: %s" % (verdict["worker"], verdict["why"]))
    if verdict["worker"] != names[me]:
        time.sleep(END)
    sys.exit(FAILED)


def host():
    """Identifies the host: its pods have different names and addresses, but share a kernel."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return socket.gethostname()


def listening(address, port):
    """A socket bound to a worker's port."""
    # A pod cannot bind the name that others know it by. It listens on all its addresses, of either family.
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
            # A host without IPv6 may fail only here.
            if at + 1 == len(ways):
                raise


class Worker:
    """This worker: its measurements, and its connection to the leader."""

    # Whether one of the workers is slowed down for a drill.
    drill = False

    def __init__(self, table, names, me, limit):
        self.table, self.names, self.me, self.limit = table, names, me, limit
        self.until = time.monotonic() + table["wait"]
        _, _, address, port = table["workers"][me]
        self.door = None
        if len(names) > 1:
            self.token = os.environ["CUBELOOM_JOB_TOKEN"].encode()
            self.door = Door(listening(address, int(port)), self.token, me, len(names))

    def close(self):
        if self.door:
            self.door.close()

    def connect(self, peer, purpose, until, patience):
        """Connects to a peer, which may not listen yet. Returns the socket, with a read timeout of `patience` seconds, and its key."""
        _, _, address, port = self.table["workers"][peer]
        while True:
            try:
                made = socket.create_connection((address, int(port)), timeout=PAIR / 3)
                try:
                    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    key = prove(made, self.token, purpose, self.me, peer)
                    made.settimeout(patience)
                    return made, key
                except (OSError, Lost):
                    drop(made)
                    raise
            except (OSError, Lost) as error:
                if time.monotonic() > until:
                    raise Lost("%s cannot be reached: %s" % (self.names[peer], error))
            time.sleep(0.2)

    def follow(self):
        """Follows the leader's commands. Returns its verdict."""
        own = test(self.table)
        try:
            # The leader may have begun later and waits as long. It should report missing workers before this
            # one gives up.
            until = self.until + self.table["wait"]
            made, key = self.connect(0, TALK, until, 2 * self.table["wait"] + PEERS * 2 * PAIR)
            line = Lines(made, key, b"worker", b"leader")
            line.send({"from": self.me, "host": host(), "own": own})
            while True:
                said = line.read()
                if "peer" not in said:
                    line.socket.close()
                    self.close()
                    return said["verdict"]
                line.send({"speed": self.measure(said["peer"])})
        except (OSError, ValueError, TypeError, KeyError, Lost) as error:
            return {"worker": self.names[0], "why": "it did not respond to %s: %s" % (self.names[self.me], error)}

    def measure(self, peer):
        """The network bandwidth to a peer in MB/s, the lower of both directions; 0 if they cannot connect."""
        try:
            if self.me < peer:
                with self.connect(peer, MEASURE, time.monotonic() + PAIR / 3, PAIR / 2)[0] as made:
                    there = self.send(made)
                    back = receive(made)
            else:
                made, _ = self.door.take(MEASURE, peer, PAIR / 2)
                try:
                    made.settimeout(PAIR / 2)
                    back = receive(made)
                    there = self.send(made)
                    receive_end(made)
                finally:
                    drop(made)
            return round(min(there, back) / 1e6, 1)
        except (OSError, Lost):
            return 0

    def send(self, made):
        """Sends test data. Returns bytes per second until the peer has received all of it."""
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
    """Receives a peer's test data. Returns bytes per second."""
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


class Leader:
    """The first worker, which leads the others."""

    def __init__(self, worker):
        self.worker, self.names, self.table = worker, worker.names, worker.table
        self.lines, self.own, self.speeds = {}, {}, [{} for _ in worker.names]
        self.hosts = {0: host()}

    def run(self):
        """Tests all workers. Returns the verdict: `None` if they go on, else the blamed worker and the reason."""
        self.own[0] = test(self.table)
        try:
            self.gather()
            self.settle()
            for pairs in rounds(len(self.names)):
                self.round([pair for pair in pairs if self.worker.drill or self.apart(*pair)])
            verdict = self.judge()
        except Lost as error:
            verdict = error.args[0]
        self.write(verdict)
        for line in self.lines.values():
            try:
                line.send({"verdict": verdict})
                # The side that closes first keeps the port for a while, which the program needs: a worker
                # closes first.
                receive_end(line.socket)
            except OSError:
                pass
            line.socket.close()
        self.worker.close()
        return verdict

    def apart(self, one, other):
        """Whether there is a network between two workers."""
        return self.hosts[one] != self.hosts[other]

    def gather(self):
        """Waits for all workers."""
        for at in range(1, len(self.names)):
            # A worker that lost its connection connects again: the latest connection counts.
            while at not in self.lines:
                try:
                    made, key = self.worker.door.take(TALK, at, self.worker.until - time.monotonic())
                except Lost:
                    self.blame(self.names[at], "it did not connect within %g s" % self.table["wait"])
                made.settimeout(FIRST)
                line = Lines(made, key, b"leader", b"worker")
                try:
                    said = line.read()
                except (OSError, ValueError, Lost):
                    drop(made)
                    continue
                self.hosts[at], self.own[at] = said["host"], said["own"]
                made.settimeout(2 * PAIR)
                self.lines[at] = line

    def settle(self):
        """Clears values below the bound if other workers of this job are alike: the bound comes from other jobs' machines."""
        for at, own in self.own.items():
            for kind, failed in own["tests"].items():
                if failed and failed["by"] == "value" and not failed["floor"]:
                    others = [value_of(self.own[other], kind) for other in self.peers(at, kind)]
                    if not worse(kind, value_of(own, kind), others):
                        own["tests"][kind] = None

    def peers(self, at, kind):
        """The workers to compare with: other roles may have other GPUs."""
        role = self.table["workers"][at][0]
        others = [other for other in self.own if other != at]
        return [other for other in others if kind != "card" or self.table["workers"][other][0] == role]

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
            self.blame(self.names[at], "it did not respond: %s" % error)

    def ask(self, at):
        try:
            return float(self.lines[at].read()["speed"])
        except (OSError, ValueError, TypeError, KeyError, Lost) as error:
            self.blame(self.names[at], "it did not respond: %s" % error)

    def blame(self, name, why):
        # The cause may be its node or a path to it.
        raise Lost({"worker": name, "why": why, "sure": False})

    def judge(self):
        """The blamed worker: the first whose own tests failed, preferably a sure case, else the one with the slowest network if that
        is too slow."""
        bad = []
        for at in range(len(self.names)):
            for kind, failed in self.own[at]["tests"].items():
                if failed:
                    bad.append((not self.sure(at, kind, failed), at, failed["why"]))
        if bad:
            unsure, at, why = min(bad, key=lambda one: one[:2])
            return {"worker": self.names[at], "why": why, "sure": not unsure}
        least, floor = self.table["bounds"]["network"], self.table["floors"]["network"]
        networks = [self.network(at) for at in range(len(self.names))]

        def is_slow(at):
            speed, others = networks[at], networks[:at] + networks[at + 1:]
            return speed is not None and speed < least and (speed < floor or worse("network", speed, others))

        slow = [(networks[at], sum(self.speeds[at].values()), -at) for at in range(len(self.names)) if is_slow(at)]
        if not slow:
            return None
        speed, _, at = min(slow)
        peers = len(self.speeds[-at])
        why = "its network to %s reached %g MB/s; at least %g is required" % (
            "its peer" if peers == 1 else "%d peers" % peers, speed, round(least, 1)
        )
        others = networks[:-at] + networks[-at + 1:]
        return {"worker": self.names[-at], "why": why, "sure": peers > 1 and stands_out("network", speed, others)}

    def sure(self, at, kind, failed):
        """Whether a test failed because of the worker's node: a failure of all is the task's, or a volume's."""
        others = [self.own[other] for other in self.peers(at, kind)]
        if failed["by"] == "task" or not any(kind in own["tests"] and not own["tests"][kind] for own in others):
            return False
        values = [value_of(own, kind) for own in others]
        return failed["by"] != "value" or stands_out(kind, value_of(self.own[at], kind), values)

    def network(self, at, measured=lambda _: True):
        """The median over a worker's peers, the better of two: one slow peer does not make a worker slow."""
        speeds = [speed for peer, speed in self.speeds[at].items() if measured(peer)]
        return statistics.median_high(speeds) if speeds else None

    def write(self, verdict):
        """Reports all results."""
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


def value_of(own, kind):
    """A worker's result of a kind. Each folder is a kind, with its duration as the result."""
    folders = own.get("folders", {})
    return folders[kind] if kind in folders else own.get(kind)


def worse(kind, value, others):
    """Whether a value is far worse than those of the job's other workers: below half the median; for a folder, SLOWER times above."""
    others = [other for other in others if other is not None]
    if not others:
        return False
    middle = statistics.median(others)
    is_folder = kind not in ("cpu", "memory", "card", "network")
    return value > middle * SLOWER if is_folder else value < middle / 2


def stands_out(kind, value, others):
    """The same, with at least two others: of two different workers neither is the outlier."""
    return len([other for other in others if other is not None]) > 1 and worse(kind, value, others)


def rounds(count):
    """The pairs of each round; a worker is in at most one pair per round (the circle method)."""
    places = list(range(count)) + ([None] if count % 2 else [])
    for _ in range(min(PEERS, len(places) - 1)):
        half = len(places) // 2
        pairs = zip(places[:half], reversed(places[half:]))
        yield [tuple(sorted(pair)) for pair in pairs if None not in pair]
        places.insert(1, places.pop())


if __name__ == "__main__":
    main(sys.argv[1:])
