"""Doubles the number in a message and records it; an argument selects a disturbance."""

import os
import signal
import sys
import time

import ledger

THEN = sys.argv[1]


def handle(message):
    number = int(message.text)
    assert (message.id, message.headers["number"]) == (f"m-{number}", number)
    if THEN == "hold" and number == 5 and not message.redelivered:
        ledger.write("busy", str(os.getpid()))
        time.sleep(600)
    if THEN == "fail" and number % 50 == 7:
        raise ValueError(f"{number} cannot be doubled")
    if THEN == "end-process" and number % 50 == 7:
        os._exit(3)
    if THEN == "end-worker" and number == 5:
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(600)
    if THEN == "slow":
        ledger.write("busy", "")
        time.sleep(0.1)
    # One short line in one write.
    with open(os.path.join(os.environ["CUBELOOM_RUN_DIR"], f"done-{os.environ['CUBELOOM_INDEX']}"), "a") as file:
        file.write(f"{number}\n")
    return str(2 * number)
