"""Tests a worker and the network to its peers, and becomes its program when all workers of the job are good enough.

    preflight.py PROGRAM ARGS...

preflight.json, beside it, holds the `workers` in rank order (role, index, address, port), how many `cards` one of each role has,
the roles whose cards are `slices`, the variables of volumes that are `read_only`, how many seconds the workers `wait` for each
other, and the `bounds` of what is measured (MB/s; of cards TFLOP/s; of folders seconds at the most) and their `floors`. The first
worker leads: it tells the others when to measure with whom, so that pairs do not disturb each other, and decides. What all measured
is one line of its outputs. The worker that is blamed ends with exit code 3, and the others wait to be ended because of it. It is
`sure` that it is this one only where others of this job are good: what is wrong with all alike, an image or a volume, is no node's, and the
bounds are of other jobs, which may have had other machines. Between workers of one host no network is measured: it is none.

Only a worker that is worse than its peers by far is blamed for a value, or one below the bounds that is below the `floors`, too, to
which every sound machine comes.
A gang that is slow throughout is one of slower nodes: what it measured is told, beside what is normal.

PREFLIGHT_SLOW, `worker-1=2.5`, makes the network of a worker as slow as that, in MB/s: to see what happens then, also on one host,
where it is measured but not told, for it is not to be learned from.
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
    """A file beside this one. Its folder may be one to enter and not to list, where Python finds no modules by itself."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(HERE, name + ".py"))
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])


sys.dont_write_bytecode = True
part("preflight_link")
part("preflight_tests")

from preflight_link import CHUNK, Door, Lines, Lost, MEASURE, TALK, drop, exactly, prove  # noqa: E402
from preflight_tests import SLOWER, say, test  # noqa: E402

# What the exit code of a worker is that has failed, or whose peer has.
FAILED = 3
# What one worker sends another to measure the network: so many bytes, or for so many seconds.
BYTES = 32 << 20
SECONDS = 1.0
# How long, in seconds, a pair of workers may take.
PAIR = 30
# With so many peers a worker measures at the most.
PEERS = 7
# What a worker says first it says at once, in seconds.
FIRST = 5
# How long one who waits to be ended waits, in seconds.
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
    say("%s failed the pre-flight: %s" % (verdict["worker"], verdict["why"]))
    if verdict["worker"] != names[me]:
        time.sleep(END)
    sys.exit(FAILED)


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
        self.door = None
        if len(names) > 1:
            self.token = os.environ["CUBELOOM_JOB_TOKEN"].encode()
            self.door = Door(listening(address, int(port)), self.token, me, len(names))

    def close(self):
        if self.door:
            self.door.close()

    def connect(self, peer, purpose, until, patience):
        """A connection to a peer, which may not be there yet, and its key; it waits for so many seconds for what comes over it."""
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
        """Does what the leader says. Its verdict."""
        own = test(self.table)
        try:
            # The leader may have begun later, and waits as long: it is to say who did not come, before this one gives up.
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
            return {"worker": self.names[0], "why": "it did not answer %s: %s" % (self.names[self.me], error)}

    def measure(self, peer):
        """The network between this worker and a peer in MB/s, one way after the other; 0 where they do not meet."""
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
                # Who closes first keeps the port for a while, which the program needs: a worker closes first.
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
            # A worker whose connection was lost on the way comes again: the next one counts.
            while at not in self.lines:
                try:
                    made, key = self.worker.door.take(TALK, at, self.worker.until - time.monotonic())
                except Lost:
                    self.blame(self.names[at], "it did not come within %g s" % self.table["wait"])
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
        """A value below the bound, which is of other jobs' machines, is no failure where others of this job are like it."""
        for at, own in self.own.items():
            for kind, failed in own["tests"].items():
                if failed and failed["by"] == "value" and not failed["floor"]:
                    others = [value_of(self.own[other], kind) for other in self.peers(at, kind)]
                    if not worse(kind, value_of(own, kind), others):
                        own["tests"][kind] = None

    def peers(self, at, kind):
        """With whom a worker is compared: another role may have other cards."""
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
        why = "its network to %s came to %g MB/s, of at least %g" % (
            "its peer" if peers == 1 else "%d peers" % peers, speed, round(least, 1)
        )
        others = networks[:-at] + networks[-at + 1:]
        return {"worker": self.names[-at], "why": why, "sure": peers > 1 and stands_out("network", speed, others)}

    def sure(self, at, kind, failed):
        """Whether it is the worker's node for which a test failed: what all fail alike is the task's, or a volume's."""
        others = [self.own[other] for other in self.peers(at, kind)]
        if failed["by"] == "task" or not any(kind in own["tests"] and not own["tests"][kind] for own in others):
            return False
        values = [value_of(own, kind) for own in others]
        return failed["by"] != "value" or stands_out(kind, value_of(self.own[at], kind), values)

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


def value_of(own, kind):
    """What a worker measured of a kind; of folders, each is one, and it is how long it took."""
    folders = own.get("folders", {})
    return folders[kind] if kind in folders else own.get(kind)


def worse(kind, value, others):
    """Whether a value is far below what the other workers of this job came to: below half of it; of a folder, so many times above."""
    others = [other for other in others if other is not None]
    if not others:
        return False
    middle = statistics.median(others)
    is_folder = kind not in ("cpu", "memory", "card", "network")
    return value > middle * SLOWER if is_folder else value < middle / 2


def stands_out(kind, value, others):
    """The same where there are two others at least: of two workers nobody can say which is unlike."""
    return len([other for other in others if other is not None]) > 1 and worse(kind, value, others)


def rounds(count):
    """Who measures with whom, round by round: of each round every worker is in one pair at most (the circle method)."""
    places = list(range(count)) + ([None] if count % 2 else [])
    for _ in range(min(PEERS, len(places) - 1)):
        half = len(places) // 2
        pairs = zip(places[:half], reversed(places[half:]))
        yield [tuple(sorted(pair)) for pair in pairs if None not in pair]
        places.insert(1, places.pop())


if __name__ == "__main__":
    main(sys.argv[1:])
