"""Checks a sum, and reports the master and the default parallelism."""

import cubeloom
from pyspark.sql import SparkSession

context = SparkSession.builder.getOrCreate().sparkContext
assert context.range(1000, numSlices=8).sum() == 499_500
cubeloom.outputs(master=context.master, parallel=context.defaultParallelism)
