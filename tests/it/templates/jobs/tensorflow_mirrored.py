"""Every worker adds up its share of the numbers below 1000, and all add up their sums."""

import sys

import ledger
import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
rank, size = strategy.cluster_resolver.task_id, strategy.num_replicas_in_sync
share = sum(range(1 + rank, 1000, size))


@tf.function
def add_up():
    def replica():
        return tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, tf.constant(float(share)))

    return strategy.run(replica)


ledger.sign(share=share, total=int(add_up()))
while "--hold" in sys.argv:
    add_up()
    if rank == 0:
        ledger.write("busy", "")
