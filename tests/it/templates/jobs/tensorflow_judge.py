"""Evaluates checkpoints forever."""

import json
import os
import time

import ledger

ledger.write("judge", json.dumps(json.loads(os.environ["TF_CONFIG"])["task"]))
while True:
    time.sleep(1)
