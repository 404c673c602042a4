"""What is sent to other topics: results, and messages that failed. Each call ends when the brokers have confirmed it."""

from confluent_kafka import KafkaError, KafkaException, Producer

from link import Hopeless, client, meaning, settings
from message import SOURCE
from runners import LARGEST


class TooLarge(Exception):
    """Why a message does not fit into a topic."""


class Output:
    def __init__(self, options):
        self.options = options
        more = {"message.timeout.ms": int(options.broker_timeout * 1000), "enable.idempotence": True, "message.max.bytes": LARGEST}
        self.producer = client(Producer, settings(options) | more)

    def send_results(self, batch, results):
        """What is sent twice for a message has the same `x-cubeloom-id`, so that its readers can drop it."""
        key, about = None, []
        if len(batch) == 1:
            key, about = batch[0].key, [(SOURCE, batch[0].id.encode())]
        kinds = [[("content-type", kind.encode())] if kind else [] for _, kind in results]
        self.send("output_topic", [(key, body, about + kind) for (body, _), kind in zip(results, kinds)])

    def send_rejected(self, message, error, tries):
        self.send("rejected", [(message.key, message.value, message.headers_with(error, tries))])

    def send(self, field, records):
        topic, problems = getattr(self.options, field), []
        try:
            for key, body, about in records:
                self.enqueue(topic, body, key, headers=about, on_delivery=lambda error, _: problems.append(error))
            self.producer.flush()
        except KafkaException as error:
            problems.append(error.args[0])
        if error := next((one for one in problems if one is not None), None):
            raise self.problem(field, topic, error)

    def enqueue(self, *record, **more):
        try:
            self.producer.produce(*record, **more)
        except BufferError:
            # So many are on their way; each ends within `broker_timeout`.
            self.producer.flush()
            self.producer.produce(*record, **more)

    def problem(self, field, topic, error):
        if error.code() == KafkaError.MSG_SIZE_TOO_LARGE:
            return TooLarge(f"the topic {topic} takes no message of this size")
        if error.code() in (KafkaError._MSG_TIMED_OUT, KafkaError._TIMED_OUT):
            limit = self.options.broker_timeout
            return Hopeless(f"`{field}`: the topic {topic} took no message for {limit:g} s: {error.str()}")
        found = meaning(error, self.options, field)
        return found if isinstance(found, Hopeless) else Hopeless(f"`{field}`: the topic {topic} took no message: {found}")
