"""The chief fits one line with ParameterServerStrategy: a parameter server holds it, workers take steps on rows of their
own, each at its own pace."""

import cubeloom
import numpy
import tensorflow as tf

cluster = tf.distribute.cluster_resolver.TFConfigClusterResolver()
strategy = tf.distribute.ParameterServerStrategy(cluster)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
STEPS, ROUNDS, SIZE = 40, 5, 32

with strategy.scope():
    weights = tf.Variable(tf.zeros([3, 1]))
    bias = tf.Variable(0.0)
    taken = tf.Variable(0, dtype=tf.int64)


def rows(context):
    """Rows without end; every worker draws its own."""

    def draw(_):
        x = tf.random.uniform([SIZE, 3], -1, 1)
        return x, tf.linalg.matmul(x, [[2.0], [-1.0], [0.5]]) + 0.25

    return tf.data.Dataset.counter().map(draw)


@tf.function
def own_rows():
    return strategy.distribute_datasets_from_function(rows)


@tf.function
def step(iterator):
    def replica(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ weights + bias - y) ** 2)
        slopes = tape.gradient(loss, [weights, bias])
        # Others may have moved it meanwhile: small steps bear that.
        weights.assign_sub(0.2 * slopes[0])
        bias.assign_sub(0.2 * slopes[1])
        taken.assign_add(1)
        return loss

    return strategy.reduce(tf.distribute.ReduceOp.MEAN, strategy.run(replica, args=next(iterator)), axis=None)


iterator = iter(coordinator.create_per_worker_dataset(own_rows))
for number in range(ROUNDS):
    losses = [coordinator.schedule(step, args=(iterator,)) for _ in range(STEPS)]
    coordinator.join()
    cubeloom.metric("loss", float(numpy.mean(coordinator.fetch(losses))), step=number)
    cubeloom.progress(number + 1, ROUNDS)
loss = float(numpy.mean(coordinator.fetch(losses)))
print(f"{int(taken.numpy())} steps end with {weights.numpy().ravel()} {bias.numpy():.3f}")
cubeloom.outputs(loss=loss, steps=int(taken.numpy()), bias=float(bias.numpy()))
