"""What each worker has done, in files of the run's folder that all of them read.

Every worker writes one, again each second: one that stays as it is belongs to a worker that was lost. Those of earlier
attempts at the task stay and count, for what they did is done.
"""

import json
import os
import secrets
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
import cubeloom

from message import readable

#: How often a worker writes, in seconds.
BEAT = 1.0
#: A worker that is silent for so long is lost: when the broker has no consumer any more, and when it has, since folders of
#: several machines may be shown late.
SILENT, SILENT_FOR_LONG = 4.0, 60.0
COUNTS = ("taken", "redelivered", "done", "failed", "published")
#: How many failures the task's message names.
NAMED = 3


class Ledger:
    def __init__(self):
        task, instance, self.attempt = (os.environ[f"CUBELOOM_{name}"] for name in ("TASK", "INSTANCE", "ATTEMPT"))
        self.folder = cubeloom.run_dir / ".reports" / f"{task}.{instance}"
        self.folder.mkdir(parents=True, exist_ok=True)
        # Never used twice: a worker may get the number of one that was lost.
        self.path = self.folder / f"{self.attempt}-{cubeloom.index}-{secrets.token_hex(4)}.json"
        self.failures = cubeloom.run_dir / "failures" / f"{task}-{instance}.jsonl"
        self.state = {"worker": cubeloom.index, "attempt": self.attempt, "beat": 0, "resting": False, "working": [], "share": 0}
        self.state |= dict.fromkeys(COUNTS, 0)
        self.seen, self.told, self.counted = {}, None, (-BEAT, 0, 0)
        self.lock, self.over = threading.Lock(), threading.Event()
        self.write()
        self.thread = threading.Thread(target=self.keep_on, daemon=True)
        self.thread.start()

    def keep_on(self):
        while not self.over.wait(BEAT):
            self.write()

    def close(self):
        self.over.set()
        self.thread.join()
        self.write()

    def write(self):
        """Whole or not at all."""
        with self.lock:
            self.state["beat"] += 1
            aside = self.path.with_suffix(".part")
            aside.write_text(json.dumps(self.state))
            aside.rename(self.path)

    def note(self, **values):
        with self.lock:
            is_new = any(self.state[name] != value for name, value in values.items())
            self.state.update(values)
        if is_new:
            self.write()

    def take_share(self, most, share):
        """Of `most` messages of all workers as many as `share`, where the others leave so many. Who comes later finds what
        those have left who went."""
        left = most - sum(state["share"] for _, state in self.others())
        share = max(0, min(share, left))
        self.note(share=share)
        return share

    def began(self, batch, **more):
        with self.lock:
            self.state.update(more)
            self.state["working"] = [message.digest for message in batch]
            self.state["taken"] += len(batch)
            self.state["redelivered"] += sum(bool(message.redelivered) for message in batch)
        self.write()

    def ended(self, batch, **counts):
        with self.lock:
            for message in batch:
                self.state["working"].remove(message.digest)
            for name, count in counts.items():
                self.state[name] += count

    def failed(self, message, error, tries, whole):
        """Writes a message that could not be done down, with its body where it is kept nowhere else."""
        facts = {name: value for name, value in message.facts(tries).items() if value not in (None, {}, "")}
        record = {"error": error, "worker": cubeloom.index, **facts} | (readable(message.body) if whole else {})
        with self.path.with_suffix(".failed").open("ab") as file:
            file.write(f"{json.dumps(record, ensure_ascii=False)}\n".encode())
            file.flush()
            os.fsync(file.fileno())

    def states(self):
        """Those of all workers; the own one as it is now."""
        found = []
        for path in sorted(self.folder.glob("*.json")):
            if path == self.path:
                with self.lock:
                    found.append((path, json.loads(json.dumps(self.state))))
                continue
            try:
                found.append((path, json.loads(path.read_text())))
            except (OSError, ValueError):
                # Shown late, or just replaced: it is read again soon.
                pass
        return found

    def has_failed(self, tolerate):
        """Whether more failed than may; of the others' failures it knows after a moment."""
        now, own = time.monotonic(), self.state["failed"]
        if now - self.counted[0] > BEAT or own != self.counted[1]:
            self.counted = (now, own, sum(state["failed"] for _, state in self.states()))
        return self.counted[2] > tolerate

    def others_rest(self, consumers):
        """Whether no other worker of this attempt holds a message, or may: they say that they rest, or were lost."""
        now, all_rest = time.monotonic(), True
        for path, state in self.others():
            beat, since = self.seen.get(path, (None, now))
            if beat != state["beat"]:
                since = now
            self.seen[path] = (state["beat"], since)
            limit = SILENT if consumers == 0 else SILENT_FOR_LONG
            all_rest = all_rest and (state["resting"] or now - since > limit)
        return all_rest

    def others(self):
        return [(path, state) for path, state in self.states() if path != self.path and state["attempt"] == self.attempt]

    def tries_lost(self, messages, pump):
        """How many workers were lost in the middle of each of these messages."""
        names = {message.digest for message in messages}
        lost = [name for _, state in self.states() if state["attempt"] != self.attempt for name in names.intersection(state["working"])]
        beats = {path: state["beat"] for path, state in self.others() if names.intersection(state["working"])}
        end = time.monotonic() + SILENT
        # A live one may have another message that is just the same.
        while beats and (left := end - time.monotonic()) > 0:
            pump(left)
            now = {path: state["beat"] for path, state in self.others()}
            beats = {path: beat for path, beat in beats.items() if now.get(path) == beat}
        lost += [name for path, state in self.others() if path in beats for name in names.intersection(state["working"])]
        return {name: lost.count(name) for name in names}

    def working(self):
        """How many messages the workers of this attempt are at."""
        return sum(len(state["working"]) for _, state in self.states() if state["attempt"] == self.attempt)

    def tell(self, left):
        """How far all workers are, where so many messages are left."""
        ended = sum(state["done"] + state["failed"] for _, state in self.states())
        if ended + left and (ended, ended + left) != self.told:
            self.told = (ended, ended + left)
            cubeloom.progress(*self.told)

    def settle(self, tolerate, kept):
        """Puts what all workers did together. Each of them does it, for nobody knows who stays to the end. `kept` says where
        failed messages are beside the file, if they are."""
        states = [state for _, state in self.states()]
        totals = {name: sum(state[name] for state in states) for name in COUNTS}
        numbers = sorted({state["worker"] for state in states})
        of_worker = [
            {"worker": number} | {name: sum(state[name] for state in states if state["worker"] == number) for name in COUNTS}
            for number in numbers
        ]
        failed = self.gather_failures()
        where = str(self.failures.relative_to(cubeloom.run_dir)) if failed else None
        print(", ".join(f"{name} {count}" for name, count in totals.items()), flush=True)
        cubeloom.outputs(**totals, workers=of_worker, failures=where)
        if totals["failed"] > tolerate:
            named = "; ".join(f"message {one.get('id', 'without an id')}: {one['error']}" for one in failed[:NAMED])
            place = f"{where} of the run's folder" + (f" and in {kept}" if kept else "")
            counts = f"{totals['failed']} of {totals['taken']} messages failed, {tolerate} may"
            sys.exit(f"{counts}: {named}; all of them are in {place}")

    def gather_failures(self):
        lines = [line for path in sorted(self.folder.glob("*.failed")) for line in path.read_text().splitlines(keepends=True)]
        if lines:
            self.failures.parent.mkdir(exist_ok=True)
            aside = self.failures.with_name(f".{self.failures.name}.{self.path.stem}")
            aside.write_text("".join(lines))
            aside.rename(self.failures)
        return [json.loads(line) for line in lines if line.endswith("\n")]
