"""A worker's membership in the consumer group: its partitions, the messages that it has fetched, and its commits.

Everything here runs in the main thread. The library sends heartbeats from a thread of its own; partitions are only taken from
a worker while it polls, in a callback, so that what it works on can be ended and committed before that.
"""

import time
from collections import deque

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from link import LOST, Hopeless, client, meaning, settings
from message import Message
from runners import Job

#: How many messages are held at most beside a batch while work is going on, and how many bytes.
HELD, HELD_BYTES = 100, 8 << 20
#: What the library may fetch in advance, in KiB, and the pause before a request is sent again, in seconds.
FETCHED_KIB, PAUSE = 16 << 10, 0.5
#: How long leaving may take, in seconds.
PARTING = 10.0
#: What the library allows between two calls of `poll`, in seconds.
LONGEST = 86_400.0
#: How long a generation of the group may seem to be an old one, which it is for a moment while workers come and go.
UNSETTLED = 10.0


class Member:
    """`let_go(places)` is called before partitions are given up, `lose(places)` when they are another worker's already."""

    def __init__(self, options, cluster, patience, ledger, goal):
        self.options, self.cluster, self.patience, self.ledger, self.goal = options, cluster, patience, ledger, goal
        self.let_go = self.lose = lambda places: None
        #: By partition: where the group is, where the last fetch ended without a message, and how far others have begun.
        self.at, self.ends, self.begun = {}, {}, {}
        #: Those whose messages are all fetched, and those whose next message was deleted.
        self.done, self.adrift = set(), set()
        self.held, self.is_paused, self.is_leaving, self.raised = deque(), False, False, None
        #: When a message came, or a partition; and when the group was served.
        self.last = self.polled = time.monotonic()
        # Between two calls of `poll` lies one attempt at most, where partitions are given up in the middle of one.
        longest = min(max(300.0, options.timeout + options.broker_timeout + 60, options.session_timeout), LONGEST)
        self.consumer = client(
            Consumer,
            settings(options)
            | {
                "group.id": options.group,
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "auto.offset.reset": "error",
                "enable.partition.eof": True,
                "allow.auto.create.topics": False,
                # Who comes or goes interrupts only those whose partitions move.
                "partition.assignment.strategy": "cooperative-sticky",
                "session.timeout.ms": int(options.session_timeout * 1000),
                "heartbeat.interval.ms": int(min(3.0, options.session_timeout / 3) * 1000),
                "max.poll.interval.ms": int(longest * 1000),
                "topic.metadata.refresh.interval.ms": 60_000,
                "queued.max.messages.kbytes": FETCHED_KIB,
                "error_cb": self.notice,
            },
        )
        cluster.consumer = self.consumer

    def join(self):
        self.last = time.monotonic()
        self.consumer.subscribe(self.options.topics, on_assign=self.guard(self.assign), on_revoke=self.guard(self.revoke),
                                on_lost=self.guard(self.forget))

    def guard(self, do):
        """What fails in a callback is raised by `pump`: the library would only print it."""

        def call(_consumer, parts):
            try:
                do(parts)
            except BaseException as error:
                self.raised = self.raised or error

        return call

    def notice(self, error):
        found = meaning(error, self.options)
        if isinstance(found, Hopeless):
            self.raised = self.raised or found

    def assign(self, parts):
        places = [(part.topic, part.partition) for part in parts]
        if not places or self.is_leaving:
            return
        self.last = time.monotonic()
        at = self.origin(places)
        self.consumer.incremental_assign([TopicPartition(*place, at[place]) for place in places])
        # A partition that was paused when it was lost still is, for the library.
        (self.consumer.pause if self.is_paused else self.consumer.resume)(parts)
        self.at |= at
        self.look_back()
        for place in places:
            self.end_at_target(place, at[place])

    def origin(self, places):
        """Where to begin; what the group has no valid offset for is committed at once, so that it holds for the next owner, too."""
        at, fresh = self.cluster.until_answered(lambda: self.cluster.origin(places))
        if fresh:
            self.commit(fresh)
        return at | fresh

    def look_back(self):
        """How far workers have begun that had a partition before: what lies before that is read again."""
        for _, state in self.ledger.states():
            for name, offset in state.get("begun", {}).items():
                topic, _, partition = name.rpartition("/")
                place = (topic, int(partition))
                self.begun[place] = max(self.begun.get(place, 0), offset)

    def revoke(self, parts):
        places = {(part.topic, part.partition) for part in parts}
        self.let_go(places)
        self.drop(places)

    def forget(self, parts):
        places = {(part.topic, part.partition) for part in parts}
        self.lose(places)
        self.drop(places)

    def drop(self, places):
        for place in places:
            self.at.pop(place, None)
            self.ends.pop(place, None)
        self.done -= places
        self.adrift -= places
        self.held = deque(message for message in self.held if message.place not in places)
        self.last = time.monotonic()

    def begin(self, batch):
        """How far this worker has begun, with these messages."""
        for message in batch:
            self.begun[message.place] = max(self.begun.get(message.place, 0), message.offset + 1)
        return {f"{topic}/{partition}": offset for (topic, partition), offset in self.begun.items()}

    def pump(self, seconds, is_working=False):
        """Takes what was fetched, and serves the group; waits so long when there is nothing."""
        self.polled = time.monotonic()
        if self.is_paused and not self.held:
            self.pause(False)
        if record := self.consumer.poll(seconds):
            self.take(record)
            for record in self.consumer.consume(max(HELD, self.options.batch), 0):
                self.take(record)
        if is_working and not self.is_paused and (len(self.held) >= max(HELD, self.options.batch) or self.size() > HELD_BYTES):
            self.pause(True)
        if self.raised is not None:
            raised, self.raised = self.raised, None
            raise raised

    def size(self):
        return sum(len(message.body) for message in self.held)

    def pause(self, is_paused):
        """The library throws away what it has fetched of partitions that are paused, so that this is done rarely."""
        parts = [TopicPartition(*place) for place in self.at if place not in self.done]
        (self.consumer.pause if is_paused else self.consumer.resume)(parts)
        self.is_paused = is_paused

    def take(self, record):
        error, place = record.error(), (record.topic(), record.partition())
        if error is None:
            if place not in self.at or place in self.done:
                return
            if (target := self.goal.target(place)) is not None and record.offset() >= target:
                return self.end_at_target(place, record.offset())
            message = Message(record)
            message.redelivered = message.offset < self.begun.get(place, 0)
            self.held.append(message)
            self.last = time.monotonic()
        elif error.code() == KafkaError._PARTITION_EOF:
            # What was fetched behind a target is not this task's.
            if place in self.at and place not in self.done:
                self.ends[place] = record.offset()
        elif error.code() == KafkaError._AUTO_OFFSET_RESET:
            self.adrift.add(place)
        else:
            found = meaning(error, self.options)
            if isinstance(found, Hopeless):
                raise found
            # The library tries again; a request that fails counts how long that takes.

    def end_at_target(self, place, offset):
        """Nothing more of this partition belongs to the task: everything before its target was fetched."""
        target = self.goal.target(place)
        if target is not None and offset >= target:
            self.done.add(place)
            self.ends[place] = max(target, self.at[place])
            self.consumer.pause([TopicPartition(*place)])

    def skip_deleted(self):
        """What the group had not read yet was deleted: it goes on with the first message that is left."""
        while self.adrift:
            place = self.adrift.pop()
            if place in self.at:
                self.at |= self.origin([place])
                # The library has stopped to fetch it, and seeks in no such partition.
                self.consumer.incremental_unassign([TopicPartition(*place)])
                self.consumer.incremental_assign([TopicPartition(*place, self.at[place])])

    def tidy(self):
        """Nothing is held, and nothing worked on. Commits the ends of partitions whose messages are all done: what the brokers
        wrote behind the last one (marks of transactions, gaps of compaction) is no message, and counts as lag."""
        if self.held:
            return
        self.skip_deleted()
        ends = {place: end for place, end in self.ends.items() if place in self.at and end > self.at[place]}
        self.ends.clear()
        if ends:
            self.commit(ends)

    def commit(self, offsets):
        """Whether the group is at these offsets now; it is not where the partitions are another worker's by now."""
        unsettled = None
        while True:
            error = self.try_to_commit(offsets)
            if error is None:
                self.patience.worked()
                self.at |= {place: offset for place, offset in offsets.items() if place in self.at}
                return True
            if error.code() == KafkaError.ILLEGAL_GENERATION:
                unsettled = unsettled or time.monotonic()
            if error.code() in LOST or unsettled and time.monotonic() - unsettled > UNSETTLED:
                return False
            found = meaning(error, self.options)
            if isinstance(found, Hopeless):
                raise found
            if error.code() not in (KafkaError.ILLEGAL_GENERATION, KafkaError.REBALANCE_IN_PROGRESS):
                self.patience.failed(found)
            # Without polling: no partition is taken away meanwhile, so that this is never an old offset.
            time.sleep(PAUSE)

    def try_to_commit(self, offsets):
        parts = [TopicPartition(*place, offset) for place, offset in offsets.items()]
        try:
            # The library tries again without an end while the brokers are away. In a callback no other thread may call it.
            with self.patience.blocking("a commit"):
                answers = self.consumer.commit(offsets=parts, asynchronous=False)
        except KafkaException as error:
            return error.args[0]
        return next((one.error for one in answers if one.error is not None), None)

    def leave(self):
        """Gives its partitions to the others at once."""
        self.let_go = self.lose = lambda places: None
        # Partitions that come while it leaves go at once.
        self.is_leaving = True
        self.held.clear()
        # Without an answer the others get them when the session is over.
        Job(self.consumer.close, lambda: None).done.wait(PARTING)
