"""Stores samples of GPUs of the server's machine: `gpus.py DATABASE`, while no server runs.

They are the same all the time: a day of minutes, a week of quarters, ten days of two hours. The minutes go on
for an hour, so that the last interval of a page has values however long a test takes.
"""

import json
import sqlite3
import sys
import time

HOUR, DAY = 60, 24 * 60

#: Capacity, allocated, measured and used GPUs, in thousandths.
NODES = {"n1": [8000, 8000, 8000, 2000], "n2": [8000, 6000, 8000, 4000]}
ALLOCATIONS = [
    [["default", "emil", "count", "learn", ""], [0, 8000, 8000, 2000]],
    [["default", "ada", "count", "judge", ""], [0, 4000, 4000, 4000]],
    [["theirs", "eve", "secret", "hidden", ""], [0, 2000, 0, 0]],
]
CLUSTER = [sum(values) for values in zip(*NODES.values())]


def times(values, minutes):
    return [value * minutes for value in values]


def row(step, minute):
    totals = {
        "minutes": step,
        "gpus": times(CLUSTER, step),
        "power": 4000 * step,
        "powered": 16_000 * step,
        "queue_minutes": step,
        "pending": 3 * step,
        "requested": 16 * step,
        "oldest_wait": 90,
    }
    allocations = [[of, times(values, step)] for of, values in ALLOCATIONS]
    nodes = {name: times(values, step) for name, values in NODES.items()}
    models = {"NVIDIA H100 80GB HBM3": times(CLUSTER, step)}
    return ("local", step, minute, *(json.dumps(part) for part in (totals, allocations, models, nodes)))


now = time.time_ns() // 60_000_000_000
database = sqlite3.connect(sys.argv[1])
with database:
    for step, begin, end in [(1, now - DAY, now + HOUR), (15, now - 7 * DAY - HOUR, now), (120, now - 10 * DAY, now)]:
        whole = range(-(-begin // step) * step, end // step * step, step)
        database.executemany("INSERT INTO gpu_series VALUES (?, ?, ?, ?, ?, ?, ?)", [row(step, minute) for minute in whole])
database.close()
