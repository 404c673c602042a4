"""The ends of the test pipeline: fills a topic, and reads the output topics."""

import sys

import cubeloom
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AclBinding, AclOperation, AclPermissionType, AdminClient, NewTopic, ResourcePatternType, ResourceType


def main(verb, servers, name, *numbers):
    {"fill": fill, "left": left, "close": close, "topics": topics}[verb]({"bootstrap.servers": servers}, name, *map(int, numbers))


def fill(servers, name, first, count):
    """Six partitions of numbers; a number's key is its text."""
    create(servers, {f"numbers-{name}": 6, f"doubles-{name}": 2, f"refused-{name}": 1})
    producer = Producer(servers)
    for number in range(first, first + count):
        producer.produce(f"numbers-{name}", str(number), key=str(number), headers={"number": str(number)})
    assert producer.flush(30) == 0


def create(servers, partitions):
    admin = AdminClient(servers)
    for created in admin.create_topics([NewTopic(*each) for each in partitions.items()]).values():
        error = created.exception()
        assert error is None or error.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS, error


def close(servers, name):
    """A topic that only another user may access."""
    create(servers, {name: 1})
    admin = AdminClient(servers)
    other = AclBinding(
        ResourceType.TOPIC, name, ResourcePatternType.LITERAL, "User:other", "*", AclOperation.ALL, AclPermissionType.ALLOW
    )
    for created in admin.create_acls([other]).values():
        created.result()


def topics(servers, _):
    admin = AdminClient(servers)
    cubeloom.outputs(topics=sorted(admin.list_topics().topics))


def left(servers, name):
    doubles = [int(message.value()) for message in read(servers, f"doubles-{name}")]
    refused = [
        {"body": message.value().decode(), "headers": {key: value.decode() for key, value in message.headers()}}
        for message in read(servers, f"refused-{name}")
    ]
    cubeloom.outputs(doubles=sorted(set(doubles)), published=len(doubles), refused=refused)


def read(servers, topic):
    """All messages of a topic. Does not change any group's offsets."""
    consumer = Consumer(servers | {"group.id": "left", "enable.auto.commit": False, "enable.partition.eof": True})
    parts = [TopicPartition(topic, part, 0) for part in consumer.list_topics(topic).topics[topic].partitions]
    consumer.assign(parts)
    found, ended = [], 0
    while ended < len(parts):
        for message in consumer.consume(100, 0.1):
            if message.error() is None:
                found.append(message)
            else:
                assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
                ended += 1
    consumer.close()
    return found


main(*sys.argv[1:])
