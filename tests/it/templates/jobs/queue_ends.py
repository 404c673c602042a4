"""The ends of the test pipeline: refills the queue, and reads the output queues."""

import os
import sys

import cubeloom
import pika

QUEUES = ("numbers", "doubles", "refused")


def main(verb, url, *count):
    parameters = pika.URLParameters(url)
    parameters.credentials = pika.PlainCredentials(os.environ["AMQP_USER"], os.environ["AMQP_PASSWORD"])
    with pika.BlockingConnection(parameters) as connection:
        {"fill": fill, "left": left}[verb](connection.channel(), *map(int, count))


def fill(channel, count):
    channel.confirm_delivery()
    for queue in QUEUES:
        channel.queue_delete(queue)
        channel.queue_declare(queue, durable=True)
    # A full queue that rejects publishing.
    channel.queue_declare("full", durable=True, arguments={"x-max-length": 0, "x-overflow": "reject-publish"})
    for number in range(count):
        properties = pika.BasicProperties(message_id=f"m-{number}", headers={"number": number}, delivery_mode=2)
        channel.basic_publish("", "numbers", str(number), properties)


def left(channel):
    """Reads the messages without consuming them."""
    doubles, refused = [], []
    for queue, found in (("doubles", doubles), ("refused", refused)):
        while (got := channel.basic_get(queue))[0] is not None:
            _, properties, body = got
            found.append({"body": body.decode(), "headers": properties.headers or {}, "correlation_id": properties.correlation_id})
    ready = channel.queue_declare("numbers", passive=True).method.message_count
    values = sorted({int(one["body"]) for one in doubles})
    cubeloom.outputs(ready=ready, doubles=values, published=len(doubles), refused=refused)


main(*sys.argv[1:])
