"""Counts the words of an HDFS folder into another one."""

import os
import sys

import cubeloom
import spark_words
from pyspark.sql import SparkSession

source, target = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()
lines = spark.sparkContext.textFile(source, 8)
counts = lines.flatMap(spark_words.of).map(lambda word: (word, 1)).reduceByKey(lambda one, other: one + other)
spark.createDataFrame(counts, ["word", "count"]).coalesce(1).write.csv(target, header=True)
# Every executor has its own folder.
places = set(lines.mapPartitions(lambda _: [os.getcwd()]).collect())
cubeloom.outputs(master=spark.sparkContext.master, executors=len(places))
spark.stop()
