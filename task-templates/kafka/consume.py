"""A worker: a member of a consumer group, which does what the task says for each message of its topics.

An offset is committed when the work of its message is done, and the brokers have confirmed what came of it. If this worker
ends before that, the next owner of the partition reads the message again. So each is done at least once.
"""

import contextlib
import signal
import sys
import time

# The template's folder stays as it was: no compiled files in it.
sys.dont_write_bytecode = True
import runners
from cluster import Cluster
from goal import Goal
from ledger import Ledger, cubeloom
from link import Away, Hopeless, Patience
from member import Member
from options import arguments
from output import Output, TooLarge
from runners import Failed

#: How long anything of the group is waited for at a time, in seconds.
TICK = 0.5
#: How long a batch that is not full waits for more.
LINGER = 1.0
#: Pauses between tries of a message: these, doubled each time up to the longest.
FIRST, LONGEST = 1.0, 15.0
#: How long the others' last counts are waited for.
PARTING = 5.0
#: How often the lag is looked up: while there is nothing to do, and otherwise.
LOOK, REPORT = 1.0, 5.0
#: How long an attempt may still take after SIGTERM: less than the time until SIGKILL.
LAST_WORK = 20.0


def main():
    options = arguments(__doc__)
    ledger = Ledger()
    runner = runners.Script(options) if options.script else runners.Command(options)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    worker = Worker(options, runner, ledger)
    try:
        worker.run()
    except Hopeless as problem:
        sys.exit(str(problem))
    finally:
        worker.leave()
        ledger.close()
    if worker.stop_by is not None:
        sys.exit(128 + signal.SIGTERM)
    # Those that end by failures end before the others, and report their counts, too.
    end = time.monotonic() + PARTING
    while not ledger.others_rest(None) and time.monotonic() < end:
        time.sleep(0.2)
    cubeloom.outputs(lag=worker.lag)
    ledger.settle(options.tolerate, options.rejected and f"the topic {options.rejected}")


class Worker:
    def __init__(self, options, runner, ledger):
        self.options, self.runner, self.ledger = options, runner, ledger
        self.cluster = self.goal = self.member = self.output = self.job = self.stop_by = self.lag = None
        self.patience = Patience(options, self.abandon)
        #: What is begun, and neither committed nor left to another worker.
        self.batch = []
        self.looked_at = self.reported_at = 0.0

    def run(self):
        self.open()
        # From here on a signal lets the work that is going on end, and commits it.
        signal.signal(signal.SIGTERM, lambda *_: self.stop())
        self.member.join()
        while not self.is_over():
            if batch := self.gather():
                self.work(batch)
                self.report()
            else:
                self.member.pump(TICK)
                self.member.tidy()
        self.reported_at = 0.0
        with contextlib.suppress(Away, Hopeless):
            self.report()

    def open(self):
        """Everything that a person may have to change is found out before the first message is taken."""
        options = self.options
        self.cluster = Cluster(options, self.patience)
        for field in ("topics", "rejected", "output_topic"):
            if getattr(options, field):
                self.cluster.until_answered(lambda: self.cluster.partitions(field))
        self.cluster.until_answered(self.cluster.check_group)
        self.goal = Goal(options, self.cluster, self.ledger)
        self.member = Member(options, self.cluster, self.patience, self.ledger, self.goal)
        self.member.let_go, self.member.lose = self.let_go, self.lose
        if options.output_topic or options.rejected:
            self.output = Output(options)
        self.cluster.until_answered(self.goal.lag)
        # What cannot be loaded would fail every message.
        job = runners.Job(self.runner.load, lambda: None)
        job.join()
        if isinstance(job.result, Failed):
            raise Hopeless(f"`script`: {options.script} cannot be loaded: {job.result}")

    def stop(self):
        self.stop_by = self.stop_by or time.monotonic() + LAST_WORK

    def is_ending(self):
        return self.stop_by is not None or self.goal.is_late()

    def is_over(self):
        if self.is_ending() or self.ledger.has_failed(self.options.tolerate):
            return True
        now = time.monotonic()
        if self.member.held or now - self.looked_at < LOOK:
            return False
        self.looked_at = now
        if self.options.end == "never":
            self.report()
            return False
        try:
            is_reached = self.goal.is_reached(now - self.member.last)
        except Away as away:
            self.patience.failed(away, now)
            return False
        self.patience.worked()
        self.report()
        return is_reached

    def report(self):
        """The group's lag, where it can be known now."""
        if time.monotonic() - self.reported_at < REPORT:
            return
        self.reported_at, self.lag = time.monotonic(), None
        try:
            self.lag, _ = self.goal.lag()
        except Away as away:
            return self.patience.failed(away, self.reported_at)
        self.patience.worked()
        self.ledger.tell(self.lag)
        return cubeloom.metric("lag", self.lag, step=self.goal.seconds())

    def gather(self):
        """The next messages, so many as make a batch."""
        member, end = self.member, time.monotonic() + LINGER
        if time.monotonic() - member.polled > TICK:
            # Many that are done quickly one after the other: the group is served between them.
            member.pump(0, is_working=True)
        if not member.held:
            return None
        while len(member.held) < self.options.batch and not member.is_paused and time.monotonic() < end and not self.is_ending():
            member.pump(min(TICK, max(end - time.monotonic(), 0)))
        return [member.held.popleft() for _ in range(min(len(member.held), self.options.batch))]

    def work(self, batch):
        self.batch = list(batch)
        begun = self.member.begin(batch)
        # On the disk before it begins: what ends this worker must not end the next ones without limit.
        self.ledger.began(batch, begun=begun)
        again = [message for message in batch if message.redelivered]
        lost = self.ledger.tries_lost(again, lambda seconds: self.member.pump(seconds, is_working=True))
        if len(self.batch) > 1 and not any(lost.values()):
            result = self.attempt(list(self.batch), 1, is_last=False)
            if self.batch:
                print(f"a batch of {len(batch)} failed: {result}; its messages are tried one by one", flush=True)
        for message in batch:
            self.settle(message, lost.get(message.digest, 0))

    def settle(self, message, tries):
        """Tries one message as often as it may fail; until it is committed, or no longer this worker's."""
        if message in self.batch and tries >= self.options.attempts:
            return self.reject(message, f"{tries} workers ended in the middle of it", tries)
        while message in self.batch:
            if self.is_ending():
                return self.let_be([message])
            tries += 1
            result = self.attempt([message], tries, is_last=tries == self.options.attempts)
            if isinstance(result, Failed):
                print(f"{message.name}: try {tries} of {self.options.attempts} failed: {result}", flush=True)
            end = time.monotonic() + min(FIRST * 2 ** (tries - 1), LONGEST)
            while message in self.batch and (left := end - time.monotonic()) > 0 and not self.is_ending():
                self.member.pump(min(left, TICK), is_working=True)
        return None

    def let_be(self, messages):
        """These are not committed: they are done again, by another worker or in another run."""
        for message in messages:
            self.batch.remove(message)
        self.ledger.ended(messages)

    def attempt(self, batch, tries, is_last):
        """Why it failed, or what came of it; then it is committed."""
        job = self.job = runners.Job(lambda: (self.runner.load(), self.runner.run(batch, tries))[1], lambda: None)
        job.batch, job.tries, job.is_last, job.is_settled = batch, tries, is_last, False
        try:
            self.wait(lambda: self.member.pump(0, is_working=True))
            self.conclude()
        finally:
            self.job = None
        return job.result

    def wait(self, meanwhile):
        """Until the work that is going on ends. The worker stays a member of the group by what is done meanwhile."""
        while not self.job.done.wait(TICK):
            if self.stop_by is not None and time.monotonic() > self.stop_by:
                self.runner.kill()
            meanwhile()

    def conclude(self):
        """What came of the work is sent and committed, once."""
        job = self.job
        if job.is_settled:
            return
        job.is_settled = True
        if not isinstance(job.result, Failed) and self.options.output_topic:
            try:
                self.output.send_results(job.batch, job.result)
            except TooLarge as problem:
                job.result = Failed(str(problem))
        if not isinstance(job.result, Failed):
            self.finish(job.batch, len(job.result))
        elif job.is_last and self.stop_by is None:
            self.reject(job.batch[0], str(job.result), job.tries)

    def let_go(self, places):
        """Partitions go to another worker: what is going on in them ends, and is committed, before they do."""
        if self.job is not None and any(message.place in places for message in self.job.batch):
            self.wait(lambda: None)
            self.conclude()
        self.let_be([message for message in self.batch if message.place in places])

    def lose(self, places):
        """Partitions are another worker's already, as after a long silence: no two should work on a message."""
        if self.job is not None and any(message.place in places for message in self.job.batch):
            self.job.is_settled = True
            self.runner.kill()
        if gone := [message for message in self.batch if message.place in places]:
            print(f"{len(gone)} messages are another worker's now, and are done there", flush=True)
        self.let_be(gone)

    def finish(self, batch, published):
        if self.member.commit({message.place: message.offset + 1 for message in batch}):
            self.end(batch, done=len(batch), published=published)
        else:
            print(f"{len(batch)} messages were done, and are another worker's now: they are done again", flush=True)
            self.let_be(batch)

    def end(self, batch, **counts):
        for message in batch:
            self.batch.remove(message)
        self.ledger.ended(batch, **counts)

    def reject(self, message, error, tries):
        is_kept = self.options.rejected is not None
        if is_kept:
            try:
                self.output.send_rejected(message, error, tries)
            except TooLarge as problem:
                print(f"{message.name} is kept in the file of failures: {problem}", flush=True)
                is_kept = False
        # The brokers may forget it after this.
        self.ledger.failed(message, error, tries, whole=not is_kept)
        if self.member.commit({message.place: message.offset + 1}):
            self.end([message], failed=1)
        else:
            self.let_be([message])

    def abandon(self):
        self.runner.kill()
        self.ledger.note(working=[], resting=True)

    def leave(self):
        """Its partitions go to the others at once."""
        self.abandon()
        if self.member is not None:
            self.member.leave()


if __name__ == "__main__":
    main()
