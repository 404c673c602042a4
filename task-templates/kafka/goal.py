"""When the task is over: the group's lag, the time, and what the workers of a task have to agree on.

No worker decides by what it did itself. The lag is of the whole group, by the offsets that are committed: while a worker has
a message that it may leave behind, the lag is not 0, and the others stay to take its partitions.
"""

import datetime
import json
import os
import time

from ledger import cubeloom


class Goal:
    def __init__(self, options, cluster, ledger):
        self.options, self.cluster, self.zero_since = options, cluster, None
        self.began = agreed(ledger.folder / f"began-{ledger.attempt}", lambda: {"at": time.time()})["at"]
        ends = [self.began + options.duration] if options.duration is not None else []
        ends += [datetime.datetime.fromisoformat(options.until).timestamp()] if options.until else []
        self.deadline = min(ends, default=None)
        self.targets = None
        if options.end == "snapshot":
            # Of the first attempt, so that the next ones do the same messages.
            kept = agreed(ledger.folder / "targets", self.snapshot)
            self.targets = {(topic, partition): offset for topic, partition, offset in kept}

    def snapshot(self):
        ends = self.cluster.until_answered(lambda: self.cluster.ends(self.cluster.partitions()))
        return [[*place, offset] for place, offset in sorted(ends.items())]

    def is_late(self):
        return self.deadline is not None and time.time() >= self.deadline

    def seconds(self):
        """Since the first worker began."""
        return max(round(time.time() - self.began), 0)

    def target(self, place):
        """The offset from which on the messages of a partition are not this task's; None where all are."""
        return self.targets.get(place, 0) if self.targets is not None else None

    def lag(self):
        """How many messages the group has not done, and whether that is known of every partition.

        A partition in which the group has not begun has no lag that is known: its first owner says where it begins.
        """
        places = self.cluster.partitions() if self.targets is None else list(self.targets)
        ends = self.cluster.ends(places)
        wanted = ends if self.targets is None else {place: min(offset, ends[place]) for place, offset in self.targets.items()}
        at = self.cluster.committed(places)
        # An offset behind the last message is of a topic that was deleted and created again.
        is_known = len(at) == len(places) and not self.cluster.beyond(at, ends)
        starts = {} if is_known else self.cluster.starts(places)
        return sum(max(wanted[place] - at.get(place, starts.get(place, 0)), 0) for place in places), is_known

    def is_reached(self, quiet):
        """Whether everything is done; `quiet` is for how many seconds this worker has had nothing to do."""
        lag, is_known = self.lag()
        now = time.monotonic()
        if lag or not is_known:
            self.zero_since = None
            return False
        self.zero_since = self.zero_since or now
        idle = 0 if self.targets is not None else self.options.idle
        return min(quiet, now - self.zero_since) >= idle


def agreed(path, make):
    """What the first worker wrote there; whole or not at all."""
    if not path.exists():
        aside = path.with_name(f".{path.name}-{cubeloom.index}-{os.getpid()}-{time.time_ns()}")
        aside.write_text(json.dumps(make()))
        try:
            os.link(aside, path)
        except FileExistsError:
            aside.unlink()
        except OSError:
            # A file system without links: of two workers that begin together, the last one counts.
            aside.rename(path)
        else:
            aside.unlink()
    return json.loads(path.read_text())
