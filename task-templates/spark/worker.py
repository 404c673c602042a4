"""Offers this worker to the master, for the executors of its job; the platform ends it when the driver has ended."""

import os
import sys

# The template's folder stays as it was: no compiled files in it.
sys.dont_write_bytecode = True
from paths import guard, lead

lead()
guard()
master = f"spark://{os.environ['SPARK_MASTER_HOST']}:{os.environ['SPARK_MASTER_PORT']}"
words = ["spark-class", "org.apache.spark.deploy.worker.Worker", "--webui-port", "0", master]
os.execvp(words[0], words)
