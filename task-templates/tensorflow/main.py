"""What one process of a TensorFlow job does.

    main.py --script train.py ARGS...     runs the user's script, with `cubeloom` on its path
    main.py -- PROGRAM ARGS...            or any other program of theirs
    main.py --serve                       lends this process to the chief: a worker, or a parameter server

The chief of a job with parameter servers starts work on processes that only serve. They never end by themselves; the
platform ends them when the chief has.
"""

import os
import runpy
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main(words):
    match words:
        case ["--serve"]:
            serve()
        case ["--script" | "--", _, *_]:
            sys.argv = [str(HERE / "program.py"), *words]
            runpy.run_path(sys.argv[0], run_name="__main__")
        case _:
            sys.exit("main.py --script FILE ARGS... | -- PROGRAM ARGS... | --serve")


def serve():
    """Serves what `TF_CONFIG` says that this process is."""
    import tensorflow as tf

    cluster = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if cluster.task_type is None:
        sys.exit("TF_CONFIG does not say who this process is: parameter servers need a chief and workers")
    server = tf.distribute.Server(
        cluster.cluster_spec(),
        job_name=cluster.task_type,
        task_index=cluster.task_id,
        protocol=cluster.rpc_layer or "grpc",
        # The chief may come later than its workers, and wait for a slow one.
        config=tf.compat.v1.ConfigProto(inter_op_parallelism_threads=max(2, os.cpu_count() or 2)),
    )
    print(f"{cluster.task_type} {cluster.task_id} serves", flush=True)
    server.join()


main(sys.argv[1:])
