"""A worker: takes messages of a queue, does what the task says for each, and ends when the queue is empty.

A message is acknowledged when its work is done and what came of it is confirmed by the broker: before that it goes back to
the queue, whatever ends this worker. So each is done at least once.
"""

import argparse
import os
import signal
import sys
import time
from collections import deque

# The template's folder stays as it was: no compiled files in it.
sys.dont_write_bytecode = True
import pika

import link
import runners
from ledger import Ledger, cubeloom
from link import Away, Hopeless
from message import Message
from runners import Failed

#: How long what happens at the broker is waited for at a time, in seconds.
TICK = 1.0
#: How long a batch that is not full waits for more.
LINGER = 1.0
#: Pauses between tries of a message, and of the broker: these, doubled each time up to the longest.
FIRST, LONGEST = 1.0, 15.0
#: A connection that held for so long was a good one: the next loss is a new one.
STEADY = 5.0
#: How long the others' last counts are waited for.
PARTING = 5.0
#: How much of a reason goes into a message's header.
SAID = 500
#: How often progress is told.
TOLD = 2.0


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    runner = runners.Script(options) if options.script else runners.Command(options)
    ledger = Ledger()
    consumer = Consumer(options, runner, ledger)
    try:
        consumer.run()
    except Hopeless as problem:
        sys.exit(str(problem))
    finally:
        runner.kill()
        consumer.leave()
        ledger.close()
    # Who failed too often ends before the others do, and tells of them, too.
    end = time.monotonic() + PARTING
    while not ledger.others_rest(None) and time.monotonic() < end:
        time.sleep(0.2)
    ledger.settle(options.tolerate, options.rejected and f"the queue {options.rejected}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True)
    parser.add_argument("--queue", required=True)
    parser.add_argument("--script", help="a file of the pipeline's folder with a function `handle`")
    parser.add_argument("--prefetch", type=int, default=1)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--idle", type=float, default=10)
    parser.add_argument("--max-messages", type=int, help="of all workers together")
    parser.add_argument("--attempts", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--rejected")
    parser.add_argument("--tolerate", type=int, default=0)
    parser.add_argument("--output-queue")
    parser.add_argument("--broker-timeout", type=float, default=60)
    parser.add_argument("command", nargs="*", help="a program and its arguments; with a script, the script's")
    options = parser.parse_args()
    options.has_output = options.output_queue is not None
    return options


class Consumer:
    def __init__(self, options, runner, ledger):
        self.options, self.runner, self.ledger = options, runner, ledger
        self.share = share(options.max_messages, ledger)
        self.held, self.taken = deque(), 0
        self.connection = self.channel = self.tag = None
        #: Whether everything was there once: what is missing later may come back, as after a broker's start.
        self.was_open = self.was_cancelled = False
        self.opened_at, self.last, self.told_at = None, time.monotonic(), 0.0

    def run(self):
        """Works until the queue is empty; while the broker is away, it is waited for."""
        away_since, pause = None, FIRST
        while True:
            began, self.opened_at = time.monotonic(), None
            try:
                self.open()
                return self.consume()
            except Away as away:
                self.drop()
                now = time.monotonic()
                if self.opened_at is not None and now - self.opened_at >= STEADY:
                    away_since, pause = None, FIRST
                if away_since is None:
                    # One that takes connections and says nothing was away before that was known.
                    away_since = began if self.opened_at is None else now
                left = away_since + self.options.broker_timeout - now
                if left <= 0:
                    limit = self.options.broker_timeout
                    raise Hopeless(f"the broker at {self.options.url} was away for {limit:.0f} s: {away}") from None
                wait = min(pause, left)
                print(f"{away}; again in {wait:.0f} s, {left:.0f} s at most", flush=True)
                time.sleep(wait)
                pause = min(pause * 2, LONGEST)

    def open(self):
        options = self.options
        with link.told(options.url):
            self.connection = link.connect(options.url)
            self.channel = self.connection.channel()
            self.channel.confirm_delivery()
            self.was_cancelled = False
            self.channel.add_on_cancel_callback(self.notice)
        for field in ("queue", "rejected", "output_queue"):
            if name := getattr(options, field):
                with link.told(options.url, None if self.was_open else f"`{field}`"):
                    self.channel.queue_declare(name, passive=True)
        self.was_open, self.opened_at = True, time.monotonic()
        # Before anything is taken: what cannot be loaded would fail every message.
        loaded = self.wait_for(self.runner.load)
        if isinstance(loaded, Failed):
            raise Hopeless(f"`script`: {options.script} cannot be loaded: {loaded}")
        self.last = time.monotonic()
        with link.told(options.url):
            self.channel.basic_qos(prefetch_count=min(options.prefetch, max(self.share - self.taken, 1)))
        if self.taken < self.share:
            self.start()

    def start(self):
        self.ledger.note(resting=False)
        with link.told(self.options.url):
            self.tag = self.channel.basic_consume(self.options.queue, self.take)

    def notice(self, _frame):
        self.was_cancelled = True

    def cancel(self):
        """Nothing more is wanted for now. What is on its way goes back by itself."""
        with link.told(self.options.url):
            self.channel.basic_cancel(self.tag)
        self.tag = None

    def take(self, _channel, method, properties, body):
        self.held.append(Message(method, properties, body))
        self.last = time.monotonic()

    def consume(self):
        while not self.ledger.has_failed(self.options.tolerate):
            if self.tag and self.taken + len(self.held) >= self.share:
                self.cancel()
                self.give_back(self.taken + len(self.held) - self.share)
            if batch := self.gather():
                self.work(batch)
                self.last = time.monotonic()
                self.tell()
            elif self.is_over():
                break
            else:
                self.pump(TICK)
                self.tell()

    def gather(self):
        """The next messages, so many as make a batch."""
        if not self.held:
            return None
        end = time.monotonic() + LINGER
        while len(self.held) < self.options.batch and self.tag and time.monotonic() < end:
            self.pump(end - time.monotonic())
        return [self.held.popleft() for _ in range(min(len(self.held), self.options.batch))]

    def is_over(self):
        """Whether the queue is empty: nothing came for a while, nothing is ready, and nobody holds what may come back."""
        if self.taken >= self.share:
            self.ledger.note(resting=True)
            return self.ledger.others_rest(None)
        if time.monotonic() - self.last < self.options.idle:
            return False
        with link.told(self.options.url):
            counted = self.channel.queue_declare(self.options.queue, passive=True).method
        if counted.message_count:
            if self.tag is None:
                self.start()
            return False
        if self.tag is not None:
            # A worker that only waits is no consumer: who still is one may hold messages.
            self.cancel()
            self.ledger.note(resting=not self.held)
            return False
        return self.ledger.others_rest(counted.consumer_count)

    def work(self, batch):
        self.taken += len(batch)
        # On the disk before it begins: what ends this worker must not end the next ones without limit.
        self.ledger.began(batch)
        lost = self.ledger.tries_lost([message for message in batch if message.redelivered], self.pump)
        if len(batch) > 1 and not any(lost.values()):
            result = self.attempt(batch, 1)
            if not isinstance(result, Failed):
                return self.finish(batch, result)
            print(f"a batch of {len(batch)} failed: {result}; its messages are tried one by one", flush=True)
        for message in batch:
            self.settle(message, lost.get(message.digest, 0))

    def settle(self, message, tries):
        """Tries one message as often as it may fail."""
        result = Failed(f"{tries} workers ended in the middle of it")
        while tries < self.options.attempts:
            tries += 1
            result = self.attempt([message], tries)
            if not isinstance(result, Failed):
                return self.finish([message], result)
            print(f"{message.name}: try {tries} of {self.options.attempts} failed: {result}", flush=True)
            if tries < self.options.attempts:
                end = time.monotonic() + min(FIRST * 2 ** (tries - 1), LONGEST)
                while (left := end - time.monotonic()) > 0:
                    self.pump(left)
        self.reject(message, str(result), tries)

    def attempt(self, batch, tries):
        return self.wait_for(lambda: self.runner.run(batch, tries))

    def wait_for(self, do):
        """What `do` returns, which takes its time in a thread: the connection lives on by what is done here."""
        job = runners.Job(do, lambda: self.connection.add_callback_threadsafe(lambda: None))
        try:
            while not job.is_done():
                self.pump(TICK)
        except BaseException:
            # Without the connection the message is somebody else's: no two should work on it.
            self.runner.kill()
            job.join()
            raise
        return job.result

    def finish(self, batch, results):
        if self.options.output_queue:
            correlation = (batch[0].correlation_id or batch[0].id) if len(batch) == 1 else None
            for body, content_type in results:
                properties = pika.BasicProperties(content_type=content_type, correlation_id=correlation, delivery_mode=2)
                self.publish("output_queue", body, properties)
        for message in batch:
            with link.told(self.options.url):
                self.channel.basic_ack(message.tag)
        self.ledger.ended(batch, done=len(batch), published=len(results) if self.options.output_queue else 0)

    def reject(self, message, error, tries):
        if self.options.rejected:
            properties = message.properties_with({"x-cubeloom-error": error[:SAID], "x-cubeloom-tries": tries})
            self.publish("rejected", message.body, properties)
        # The broker may forget it after this.
        self.ledger.failed(message, error, tries, whole=not self.options.rejected)
        with link.told(self.options.url):
            if self.options.rejected:
                self.channel.basic_ack(message.tag)
            else:
                # A queue that has a dead-letter exchange of its own sends it there.
                self.channel.basic_reject(message.tag, requeue=False)
        self.ledger.ended([message], failed=1)

    def publish(self, field, body, properties):
        """Ends when the broker has confirmed it."""
        queue, end = getattr(self.options, field), time.monotonic() + self.options.broker_timeout
        while True:
            try:
                with link.told(self.options.url):
                    return self.channel.basic_publish("", queue, body, properties, mandatory=True)
            except link.Unroutable:
                raise Hopeless(f"`{field}`: there is no queue {queue} any more") from None
            except link.Refused:
                if time.monotonic() > end:
                    limit = self.options.broker_timeout
                    raise Hopeless(f"`{field}`: the queue {queue} took no message for {limit:.0f} s; is it full?") from None
                self.pump(TICK)

    def pump(self, seconds):
        with link.told(self.options.url):
            # What `start_consuming` calls. The connection's own of that name says nothing of a channel that was closed.
            self.channel._process_data_events(time_limit=max(seconds, 0))
        if self.was_cancelled:
            raise Away(f"the broker stopped handing out messages of {self.options.queue}: was the queue deleted?")

    def tell(self):
        """How far all workers are, of what is known to be there now."""
        if time.monotonic() - self.told_at < TOLD:
            return
        with link.told(self.options.url):
            ready = self.channel.queue_declare(self.options.queue, passive=True).method.message_count
        self.told_at = time.monotonic()
        self.ledger.tell(ready + self.ledger.working())

    def give_back(self, count):
        """The last ones that were handed out in advance."""
        for _ in range(count):
            with link.told(self.options.url):
                self.channel.basic_reject(self.held.pop().tag, requeue=True)

    def drop(self):
        """The connection is gone, and with it the right to acknowledge what came over it."""
        self.held.clear()
        self.tag = None
        self.ledger.note(working=[])
        self.close()

    def leave(self):
        """What was taken and not acknowledged goes back at once."""
        self.ledger.note(working=[], resting=True, share=self.taken)
        self.close()

    def close(self):
        connection, self.connection = self.connection, None
        try:
            if connection is not None and connection.is_open:
                connection.close()
        except (pika.exceptions.AMQPError, OSError):
            pass


def share(most, ledger):
    """How many messages this worker may take."""
    if most is None:
        return float("inf")
    workers, index = int(os.environ["VC_WORKER_NUM"]), cubeloom.index
    equal = most // workers + (index < most % workers) if index < workers else 0
    return ledger.take_share(most, equal)


if __name__ == "__main__":
    main()
