"""Starts the processes of one worker, a number of them on each of its GPUs, and waits for their end.

    processes.py PROGRAM ARGS...

CUBELOOM_PROCESSES describes them as JSON: the `processes` and GPUs (`cards`) of a worker, the rank of the role's `first` process,
by name the `variables` in which a process differs from the worker, the `texts` of the task that refer to some of these, and whether
to `forward` a signal that ends the worker. Each process sees one GPU: CUDA_VISIBLE_DEVICES. Their output is printed line by line,
prefixed with the rank. The first that fails is named, and its exit code is the worker's; the others are ended.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

# Seconds between TERM and KILL for processes that end because another one failed. A stop from outside has its
# own grace period.
GRACE = 5
# How long to wait for their remaining output, in seconds: orphaned children may keep the pipes open.
REST = 2
CARDS = "CUDA_VISIBLE_DEVICES"
# In a container with NVIDIA's runtime this has the names of its GPUs, in index order.
GIVEN = "NVIDIA_VISIBLE_DEVICES"


def main(words):
    table = json.loads(os.environ.pop("CUBELOOM_PROCESSES"))
    worker = dict(os.environ)
    Group(table, [process(table, worker, local) for local in range(table["processes"])], words).run()


def process(table, worker, local):
    """The variables of the process `local` of a worker, and those that differ from the worker's."""
    index = int(worker["CUBELOOM_INDEX"]) * table["processes"] + local
    ranks = {"index": index, "rank": table["first"] + index, "local": local, "worker": worker["CUBELOOM_RANK"]}
    own = {name: value(rule, ranks) for name, rule in table["variables"].items()}
    told = dict(worker, **own)
    for name in table["texts"]:
        told[name] = named(told[name], own)
    told.update(card(table, worker, local))
    return told, own


def value(rule, ranks):
    if isinstance(rule, str):
        return str(ranks[rule])
    if "text" in rule:
        return rule["text"]
    before, after = rule["within"]
    return "%s%d%s" % (before, ranks["index"], after)


def named(text, own):
    """Expands `$(NAME)` for a process' own variables; `$$(NAME)` is the escaped form."""

    def piece(found):
        escaped, name = found.groups()
        if name not in own:
            return found.group()
        return "$(%s)" % name if escaped else own[name]

    return re.sub(r"(\$?)\$\(([^()]*)\)", piece, text)


def card(table, worker, local):
    """The variables that bind a process to its GPU; none without GPUs."""
    cards = table["cards"]
    if cards == 0:
        return {}
    at = local * cards // table["processes"]
    given = worker.get(GIVEN, "").split(",")
    # MIG slices have names, but no indexes.
    slices = given if len(given) == cards and given[0].startswith("MIG-") else []
    names = [name for name in worker.get(CARDS, "").split(",") if name]
    names = names or slices or [str(number) for number in range(cards)]
    if len(names) != cards:
        sys.exit("this worker was to have %d cards, and %s names %d: %s" % (cards, CARDS, len(names), ",".join(names)))
    told = {CARDS: names[at]}
    if len(given) == cards and given[0] not in ("all", "none", "void", ""):
        told[GIVEN] = given[at]
    return told


class Group:
    """The processes while they run."""

    def __init__(self, table, processes, words):
        self.table, self.processes, self.words = table, processes, words
        self.running = {}
        self.readers = []
        self.lock = threading.Lock()
        self.stopping = False
        self.stopped_by = None

    def run(self):
        signal.signal(signal.SIGTERM, self.end)
        signal.signal(signal.SIGINT, self.end)
        signal.signal(signal.SIGALRM, lambda *_: self.signal(signal.SIGKILL))
        for local, (variables, own) in enumerate(self.processes):
            if not self.stopping:
                self.start(local, variables, own)
        failed = self.wait()
        until = time.monotonic() + REST
        for reader in self.readers:
            reader.join(max(0, until - time.monotonic()))
        # An earlier failure says more than the end of the worker that followed from it.
        if not failed and self.stopped_by is not None:
            sys.exit(128 + self.stopped_by)
        sys.exit(failed)

    def start(self, local, variables, own):
        rank = own["CUBELOOM_RANK"]
        words = [named(word, own) for word in self.words]
        try:
            child = subprocess.Popen(
                words, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
        except OSError as error:
            self.say("%s cannot be started: %s" % (words[0], error.strerror))
            self.signal(signal.SIGKILL)
            sys.exit(126 if isinstance(error, PermissionError) else 127)
        self.running[child.pid] = (rank, local, child)
        for source, target in ((child.stdout, sys.stdout.buffer), (child.stderr, sys.stderr.buffer)):
            reader = threading.Thread(target=self.show, args=(rank, source, target), daemon=True)
            reader.start()
            self.readers.append(reader)

    def wait(self):
        """Waits for all. Returns the exit code of the first that failed, or 0."""
        failed = 0
        while self.running:
            pid, status = os.wait()
            rank, local, child = self.running.pop(pid, (None, None, None))
            if child is None:
                continue
            child.returncode = code = exit_code(status)
            if code == 0 or failed or self.stopping:
                continue
            failed = code
            others = len(self.running)
            self.say("rank %s (process %d of this worker) %s%s" % (rank, local, how(status), ending(others)))
            self.stop(signal.SIGTERM)
            signal.alarm(GRACE)
        return failed

    def end(self, number, _frame):
        self.stopped_by = number
        # If everything in the worker gets the signal, a second one would interrupt a process that saves its
        # state.
        self.stop(signal.SIGTERM if self.table["forward"] else None)

    def stop(self, number):
        if self.stopping:
            return
        self.stopping = True
        if number is not None:
            self.signal(number)

    def signal(self, number):
        for pid in list(self.running):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def show(self, rank, source, target):
        """Copies whole lines with a rank prefix, so that the lines of two processes do not mix."""
        mark = ("[rank %s] " % rank).encode()
        for line in iter(lambda: source.readline(1 << 16), b""):
            with self.lock:
                target.write(mark + line + (b"" if line.endswith(b"\n") else b"\n"))
                target.flush()

    def say(self, sentence):
        with self.lock:
            sys.stderr.write(sentence + "\n")
            sys.stderr.flush()


def exit_code(status):
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def how(status):
    if os.WIFSIGNALED(status):
        return "was ended by %s" % signal.Signals(os.WTERMSIG(status)).name
    return "ended with exit code %d" % os.WEXITSTATUS(status)


def ending(others):
    if others == 0:
        return ""
    return "; the %s ended because of it" % ("other process is" if others == 1 else "%d other processes are" % others)


if __name__ == "__main__":
    main(sys.argv[1:])
