"""Fails with a code of its own, or goes on until it is disturbed."""

import sys
import time

import ledger
import ray

ray.init()
assert sum(node["Alive"] for node in ray.nodes()) == 3
if sys.argv[1] == "fail":
    sys.exit(7)
ledger.write("busy", "")
time.sleep(600)
