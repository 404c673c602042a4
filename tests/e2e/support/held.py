"""Moves runs to unreachable clusters in the database: `held.py DATABASE TASKS`, while no server runs.

TASKS is a JSON list with an entry per run: `run`, `cluster`, `seconds` (its run time), `workers`, the
requests of each as `cores`, `gibibytes` and `gpus`, and `command`. Each run has one task. Another server
holds its lease for a day, so that the next server shows it and leaves it alone.
"""

import json
import sqlite3
import sys
import time

#: Duration of the other server's lease, in microseconds.
LEASE = 86_400_000_000


def text(value):
    """In the server's format: some queries match the beginning of a text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def planned(task, roles, arguments):
    """The requests and the command of each worker, according to its plan."""
    for role in roles:
        role["resources"] |= {"cpu": str(task["cores"]), "memory": f"{task['gibibytes']}Gi", "gpu": {"count": task["gpus"]}}
    arguments["command"] = {"value": task["command"]}


def move_plan(database, task):
    parts = database.execute("SELECT part, part_json FROM plans WHERE run_id = ?", (task["run"],)).fetchall()
    for part, stored in parts:
        plan = json.loads(stored)
        if part == 0:
            plan["cluster"] = task["cluster"]
        else:
            for one in plan:
                planned(task, one["roles"], one["arguments"])
        written = (text(plan), task["run"], part)
        database.execute("UPDATE plans SET part_json = ? WHERE run_id = ? AND part = ?", written)


def move_attempt(database, task, now, ago):
    state = {"state": "running", "started_at": now - ago}
    bindings = {"kind": "kubernetes", "cluster": task["cluster"], "facts": {}}
    workers = task["workers"]
    cpu, memory, gpus = task["cores"] * 1000 * workers, (task["gibibytes"] << 30) * workers, task["gpus"] * workers
    database.execute(
        "UPDATE attempts SET state_json = ?, created_at = created_at - ?, cpu = ?, memory = ?, gpus = ?, bindings_json = ?, "
        "cluster = ?, sizing_json = NULL WHERE run_id = ?",
        (text(state), ago, cpu, memory, gpus, text(bindings), task["cluster"], task["run"]),
    )


def move(database, task):
    now, ago = time.time_ns() // 1000, task["seconds"] * 1_000_000
    move_plan(database, task)
    move_attempt(database, task, now, ago)
    database.execute("UPDATE instances SET ready_at = ready_at - ? WHERE run_id = ?", (ago, task["run"]))
    database.execute(
        "UPDATE runs SET lease_owner = 'elsewhere', lease_until = ?, created_at = created_at - ?, started_at = started_at - ? WHERE id = ?",
        (now + LEASE, ago, ago, task["run"]),
    )


database = sqlite3.connect(sys.argv[1])
with database:
    for task in json.loads(sys.argv[2]):
        move(database, task)
database.close()
