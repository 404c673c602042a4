"""Fails with a code of its own, or goes on until it is disturbed."""

import sys
import time

import ledger
from pyspark.sql import SparkSession

context = SparkSession.builder.getOrCreate().sparkContext
assert context.range(1000, numSlices=8).sum() == 499_500
if sys.argv[1] == "fail":
    sys.exit(7)
ledger.write("busy", "")
time.sleep(600)
