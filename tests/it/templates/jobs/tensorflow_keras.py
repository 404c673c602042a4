"""All workers together fit a Keras model: `model.fit` as in Keras 2 programs."""

import cubeloom
import numpy as np
import tensorflow as tf
import tf_keras

strategy = tf.distribute.MultiWorkerMirroredStrategy()
x = np.linspace(-1, 1, 256, dtype="float32").reshape(-1, 1)
y = 3 * x + 0.25
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
    model.compile(optimizer=tf.keras.optimizers.SGD(0.5), loss="mse")
history = model.fit(x, y, batch_size=64, epochs=20, verbose=0)
slope, bias = (float(np.ravel(values)[0]) for values in model.get_weights())
if cubeloom.rank == 0:
    cubeloom.outputs(
        # TensorFlow's own Keras must be version 2, whose version is in another module.
        keras=tf_keras.__version__.split(".")[0] if tf.keras.Model is tf_keras.Model else "another",
        replicas=strategy.num_replicas_in_sync,
        slope=slope,
        bias=bias,
        fell=history.history["loss"][-1] < history.history["loss"][0],
    )
