"""What the brokers know: the partitions of topics, their offsets, and where the group is. Nothing is changed here."""

import concurrent.futures
import time

from confluent_kafka import ConsumerGroupTopicPartitions, IsolationLevel, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from link import STEP, Away, Hopeless, client, meaning, settings

#: How often errors of the connection are looked for while an answer is awaited, in seconds.
TICK = 0.2
#: And the pause before a request is sent again.
PAUSE = 1.0


class Cluster:
    def __init__(self, options, patience):
        #: `consumer` is the group's member, once there is one.
        self.options, self.patience, self.problem, self.consumer = options, patience, None, None
        self.admin = client(AdminClient, settings(options) | {"error_cb": self.notice})

    def notice(self, error):
        """Called by `poll` with what goes wrong below a request."""
        if error.code() != KafkaError._ALL_BROKERS_DOWN or self.problem is None:
            self.problem = error

    def until_answered(self, ask):
        """What `ask` returns; while the brokers are away it is asked again."""
        while True:
            began = time.monotonic()
            try:
                answer = ask()
            except Away as away:
                self.patience.failed(away, began)
                time.sleep(PAUSE)
            else:
                self.patience.worked()
                return answer

    def answers(self, futures, field=None):
        """The answers to requests that were sent together, by what they are about."""
        limit = min(STEP, self.options.broker_timeout)
        end = time.monotonic() + limit
        while concurrent.futures.wait(futures.values(), TICK).not_done:
            self.admin.poll(0)
            if self.problem is not None:
                # Without a right to connect there is no answer; one broker of many that is away is no reason to stop.
                found = meaning(self.problem, self.options)
                if isinstance(found, Hopeless):
                    raise found
            if time.monotonic() > end:
                raise Away(self.problem.str() if self.problem else f"no answer for {limit:g} s")
        try:
            return {key: future.result() for key, future in futures.items()}
        except KafkaException as error:
            raise meaning(error.args[0], self.options, field) from None
        finally:
            self.problem = None

    def partitions(self, field="topics"):
        """All partitions of the topics that an argument names. A topic that does not exist is not created."""
        named = getattr(self.options, field)
        names = [named] if isinstance(named, str) else named
        asked = self.admin.describe_topics(TopicCollection(names), request_timeout=STEP)
        found = []
        for name in names:
            try:
                described = self.answers({name: asked[name]}, field)[name]
            except Hopeless as problem:
                raise Hopeless(str(problem).replace("`topics`", f"`topics`: the topic {name}", 1)) from None
            found += [(name, one.id) for one in described.partitions]
        return found

    def ends(self, places):
        """The offsets behind the last messages that are committed by their producers."""
        return self.offsets(places, OffsetSpec.latest())

    def starts(self, places):
        return self.offsets(places, OffsetSpec.earliest())

    def beyond(self, at, ends):
        """Partitions in which an offset lies behind the last message, also behind those of transactions that are open."""
        suspects = [place for place in at if at[place] > ends[place]]
        highest = self.offsets(suspects, OffsetSpec.latest(), IsolationLevel.READ_UNCOMMITTED)
        return {place for place in suspects if at[place] > highest[place]}

    def offsets(self, places, spec, level=IsolationLevel.READ_COMMITTED):
        if not places:
            return {}
        asked = {TopicPartition(*place): spec for place in places}
        answers = self.admin.list_offsets(asked, isolation_level=level, request_timeout=STEP)
        return {(at.topic, at.partition): answer.offset for at, answer in self.answers(answers).items()}

    def committed(self, places):
        """Where the group is, without the partitions in which it has not begun."""
        if not places:
            return {}
        try:
            found = self.consumer.committed([TopicPartition(*place) for place in places], timeout=STEP)
        except KafkaException as error:
            raise meaning(error.args[0], self.options) from None
        if error := next((one.error for one in found if one.error is not None), None):
            raise meaning(error, self.options)
        return {(one.topic, one.partition): one.offset for one in found if one.offset >= 0}

    def origin(self, places):
        """Where the group is, and where it begins in those of the partitions in which it has no offset, or no valid one."""
        starts, ends = self.starts(places), self.ends(places)
        at, fresh = self.committed(places), {}
        replaced = self.beyond(at, ends)
        for place in places:
            name = f"{place[0]}/{place[1]}"
            if place not in at:
                fresh[place] = (ends if self.options.start == "latest" else starts)[place]
            elif place in replaced:
                print(f"{name}: the group's offset {at[place]} is behind the last message, {ends[place]}; was the topic "
                      f"created again? It is read from its first message", flush=True)
                fresh[place] = starts[place]
            elif at[place] < starts[place]:
                print(f"{name}: {starts[place] - at[place]} messages were deleted before they were read", flush=True)
                fresh[place] = starts[place]
        return at, fresh

    def check_group(self):
        """Whether the user may read as the group. The consumer would only wait, and this client finds a coordinator that has
        moved too late: so this is asked here, and once."""
        asked = self.admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(self.options.group)], request_timeout=STEP)
        self.answers(asked)
