"""Who has which shard. Pure: worker 0 calls it under a lock, and does what it answers.

A run is one lease of one shard to one worker. It is known until it ends, or another run of its shard is counted; when its
worker is lost it stays known, for the worker may come back with a result. A shard is counted once, by the first of its runs
that ends well.
"""

import time
from collections import Counter, deque
from dataclasses import dataclass

#: After how many ticks without a word a worker is lost. Ticks, not seconds: while worker 0 itself stands still, it hears
#: nobody, and nobody is to blame for that.
SILENCE = 10


@dataclass
class Run:
    shard: int
    #: The process that has it; a worker that is started again is another one.
    holder: str
    worker: str
    since: float
    lost: bool = False
    ticks: int = 0


class Leases:
    def __init__(self, shards, done, lease, attempts, queues=1, clock=time.monotonic):
        """Worker i takes from queue i modulo `queues`: with one queue every worker takes every shard, and those that are
        slow are leased again; with one for each worker a shard waits for its own."""
        self.shards, self.lease, self.attempts, self.clock = shards, lease, attempts, clock
        self.done = set(done)
        self.queues = [deque() for _ in range(queues)]
        for shard in range(shards):
            if shard not in self.done:
                self.queue(shard).append(shard)
        self.runs = {}
        #: How often each shard was leased.
        self.leases = Counter()
        #: How often each shard failed, or took its worker with it.
        self.tries = Counter()
        self.leased_again = self.failed = self.duplicates = 0
        self.by_worker = Counter()
        #: Why the task fails.
        self.failure = None

    @property
    def over(self):
        return self.failure is not None or len(self.done) == self.shards

    def queue(self, number):
        return self.queues[number % len(self.queues)]

    def take(self, holder, worker, index, prefix):
        """A shard for this worker, as (name of the run, shard), or `None` when there is none for it now."""
        # Who asks for work has none: the answer that gave it some did not arrive.
        self.gone(holder)
        if self.over:
            return None
        queue = self.queue(index)
        shard = queue.popleft() if queue else self.slow()
        if shard is None:
            return None
        self.leased_again += any(run.shard == shard for run in self.runs.values())
        self.leases[shard] += 1
        name = f"{shard}.{prefix}-{self.leases[shard]}"
        self.runs[name] = Run(shard, holder, worker, self.clock())
        return name, shard

    def slow(self):
        """The shard that has been out for longest, of those whose every lease is over."""
        if len(self.queues) > 1:
            return None
        newest = {}
        for run in self.live():
            newest[run.shard] = max(run.since, newest.get(run.shard, run.since))
        late = [(since, shard) for shard, since in newest.items() if self.clock() - since > self.lease]
        return min(late)[1] if late else None

    def live(self, shard=None):
        return [run for run in self.runs.values() if not run.lost and shard in (None, run.shard)]

    def beat(self, name):
        """Whether the run is still wanted."""
        run = self.runs.get(name)
        if run is None or self.over:
            return False
        run.ticks = 0
        if run.lost and run.shard in self.queue(run.shard):
            # It comes back before anybody else has taken its shard.
            self.queue(run.shard).remove(run.shard)
            run.lost = False
            self.tries[run.shard] -= 1
        return True

    def count(self, name):
        """Counts the result of a run that ended well; false when another one was first."""
        run = self.runs.pop(name, None)
        if run is None or run.shard in self.done:
            self.duplicates += run is not None
            return False
        for other in [other for other, each in self.runs.items() if each.shard == run.shard and not each.lost]:
            del self.runs[other]
            self.duplicates += 1
        if run.shard in self.queue(run.shard):
            self.queue(run.shard).remove(run.shard)
        self.done.add(run.shard)
        self.by_worker[run.worker] += 1
        return True

    def fail(self, name, how):
        """A run ended badly; `how` is said after "failed 3 times: "."""
        run = self.runs.pop(name, None)
        if run is None or run.shard in self.done:
            return
        self.failed += 1
        self.tries[run.shard] += not run.lost
        self.again(run.shard, how)

    def gone(self, holder):
        """A worker has gone away; the runs that it leaves."""
        left = [name for name, run in self.runs.items() if run.holder == holder and not run.lost]
        return self.lose(left)

    def tick(self):
        """A second has passed; the runs whose workers are lost by now."""
        for run in self.live():
            run.ticks += 1
        return self.lose([name for name, run in self.runs.items() if not run.lost and run.ticks > SILENCE])

    def lose(self, names):
        for run in map(self.runs.get, names):
            run.lost = True
            self.tries[run.shard] += 1
            self.again(run.shard, f"{run.worker} was lost with it")
        return names

    def again(self, shard, how):
        """The shard waits again, unless somebody has it, or it has failed too often."""
        if self.tries[shard] >= self.attempts:
            times = "once" if self.attempts == 1 else f"{self.attempts} times"
            self.failure = self.failure or f"shard {shard} failed {times}: {how}"
        elif not self.live(shard) and shard not in self.queue(shard):
            self.queue(shard).append(shard)
