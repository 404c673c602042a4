"""Exits with its own code, calls the master without its secret, or runs until it is disturbed."""

import os
import socket
import subprocess
import sys
import time

import ledger
from pyspark.sql import SparkSession

context = SparkSession.builder.getOrCreate().sparkContext
assert context.range(1000, numSlices=8).sum() == 499_500
if sys.argv[1] == "fail":
    sys.exit(7)
if sys.argv[1] == "call":
    # Spark gives up when its masters have been silent for a minute.
    ask = f"""
from pyspark.sql import SparkSession
print(SparkSession.builder.master({context.master!r}).getOrCreate().sparkContext.range(10).sum())
"""
    env = os.environ | {"SPARK_CONF_DIR": "/nowhere", "_SPARK_AUTH_SECRET": ""}
    env.pop("PYSPARK_GATEWAY_PORT", None)
    asked = subprocess.run([sys.executable, "-c", ask], env=env, check=False)
    assert asked.returncode != 0, "the master took a program of one without the secret"
    # The REST server would not require a secret.
    with socket.socket() as rest:
        assert rest.connect_ex((os.environ["SPARK_MASTER_HOST"], 6066)) != 0, "the master has a REST server"
    sys.exit(0)
ledger.write("busy", "")
time.sleep(600)
