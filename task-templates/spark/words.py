"""Counts the words of files, on every executor a part of them."""

import operator
import os
import socket
import sys

import cubeloom
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
parts = 8
lines = spark.sparkContext.textFile(sys.argv[1], parts)
counts = lines.flatMap(str.split).map(lambda word: (word, 1)).reduceByKey(operator.add).persist()
words, different = counts.values().sum(), counts.count()


# Every executor has a folder of its own on its machine, or a machine.
places = set(counts.mapPartitions(lambda _: [(socket.gethostname(), os.getcwd())]).collect())
spark.createDataFrame(counts, ["word", "count"]).write.mode("overwrite").parquet(str(cubeloom.run_dir / "counts"))
cubeloom.outputs(words=words, different=different, executors=len(places))
spark.stop()
