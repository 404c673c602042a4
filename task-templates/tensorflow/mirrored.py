"""Every worker reads its share of the rows; together they fit one line, with MultiWorkerMirroredStrategy."""

import json
import os

import cubeloom
import numpy
import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
TASK = json.loads(os.environ.get("TF_CONFIG", "{}")).get("task", {"index": 0})
LEADS = TASK["index"] == 0
STEPS, SIZE = 60, 32

points = numpy.random.default_rng(7).uniform(-1, 1, size=(4096, 3)).astype("float32")
values = (points @ numpy.array([[2.0], [-1.0], [0.5]], dtype="float32")) + 0.25

with strategy.scope():
    # What each worker takes off is averaged over all of them, so that every one makes the same step.
    together = tf.VariableAggregation.MEAN
    weights = tf.Variable(tf.zeros([3, 1]), aggregation=together)
    bias = tf.Variable(0.0, aggregation=together)


def rows(context):
    """This worker's own rows: every n-th, from its own place."""
    own = slice(context.input_pipeline_id, None, context.num_input_pipelines)
    data = tf.data.Dataset.from_tensor_slices((points[own], values[own]))
    return data.shuffle(4096, seed=context.input_pipeline_id).repeat().batch(SIZE)


@tf.function
def step(x, y):
    def replica(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ weights + bias - y) ** 2)
        slopes = tape.gradient(loss, [weights, bias])
        weights.assign_sub(0.5 * slopes[0])
        bias.assign_sub(0.5 * slopes[1])
        return loss

    losses = strategy.run(replica, args=(x, y))
    return strategy.reduce(tf.distribute.ReduceOp.MEAN, losses, axis=None)


data = iter(strategy.distribute_datasets_from_function(rows))
for number in range(STEPS):
    loss = float(step(*next(data)))
    if LEADS:
        cubeloom.metric("loss", loss, step=number)
        cubeloom.progress(number + 1, STEPS)
print(f"worker {TASK['index']} of {strategy.num_replicas_in_sync} ends with {weights.numpy().ravel()} {bias.numpy():.3f}")
if LEADS:
    cubeloom.outputs(loss=loss, replicas=strategy.num_replicas_in_sync, bias=float(bias.numpy()))
