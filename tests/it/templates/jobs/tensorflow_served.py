"""A chief that never finishes: the worker's counters are on two parameter servers."""

import ledger
import tensorflow as tf

cluster = tf.distribute.cluster_resolver.TFConfigClusterResolver()
strategy = tf.distribute.ParameterServerStrategy(cluster)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)

with strategy.scope():
    # The second variable is on the second server.
    counts = [tf.Variable(0.0), tf.Variable(0.0)]


@tf.function
def count():
    for variable in counts:
        variable.assign_add(1.0)


while True:
    coordinator.schedule(count)
    coordinator.join()
    if float(counts[1].numpy()) > 3:
        ledger.write("busy", "")
