"""A module of the pipeline, which executors import."""


def of(line):
    return line.split(" ")
