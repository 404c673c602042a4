"""Doubles the number in a message and records it; an argument selects a disturbance."""

import os
import sys
import time

import ledger
from confluent_kafka import Producer

THEN, SERVERS = sys.argv[1:]
RUN_DIR, INDEX = os.environ["CUBELOOM_RUN_DIR"], os.environ["CUBELOOM_INDEX"]


def handle(messages):
    if isinstance(messages, list):
        return [double(message) for message in messages]
    return double(messages)


def double(message):
    number = int(message.text)
    assert (message.key, message.headers["number"]) == (str(number), str(number))
    disturb(message, number)
    # One short line in one write.
    with open(os.path.join(RUN_DIR, f"done-{INDEX}"), "a") as file:
        file.write(f"{number}\n")
    return str(2 * number)


def disturb(message, number):
    if THEN == "meet":
        meet()
    if THEN == "hold" and number == 50 and not message.redelivered:
        ledger.write("busy", str(os.getpid()))
        time.sleep(600)
    if THEN == "fail" and number % 50 == 7:
        raise ValueError(f"{number} cannot be doubled")
    if THEN == "more" and number == 0:
        producer = Producer({"bootstrap.servers": SERVERS})
        for late in range(100, 120):
            producer.produce(message.topic, str(late), key=str(late), headers={"number": str(late)})
        assert producer.flush(30) == 0
    if THEN == "slow":
        ledger.write("busy", "")
        time.sleep(0.1)


def meet():
    """Slow until all three workers have messages, so that none does everything while the group forms."""
    global THEN
    ledger.write(f"met-{INDEX}", "")
    if all(os.path.exists(os.path.join(RUN_DIR, f"met-{index}")) for index in range(3)):
        THEN = "end"
    time.sleep(0.01)
