"""Fits a line through rows that are spread over all processes: each has its own, and all step together."""

import cubeloom
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

WEIGHTS, BIAS, ROWS, STEPS = np.array([1.5, -2.0, 0.5]), 0.25, 1_000, 200

mesh = Mesh(np.array(jax.devices()), ("rows",))
spread, whole = NamedSharding(mesh, PartitionSpec("rows")), NamedSharding(mesh, PartitionSpec())

# What this process has; nobody has all of it.
inputs = np.random.default_rng(jax.process_index()).normal(size=(ROWS, 3))
outputs = inputs @ WEIGHTS + BIAS
inputs, outputs = (jax.make_array_from_process_local_data(spread, each) for each in (inputs, outputs))


@jax.jit
def step(model, inputs, outputs):
    def loss(model):
        return jnp.mean((inputs @ model["weights"] + model["bias"] - outputs) ** 2)

    return jax.tree.map(lambda value, slope: value - 0.1 * slope, model, jax.grad(loss)(model))


model = jax.device_put({"weights": np.zeros(3), "bias": np.zeros(())}, whole)
for done in range(STEPS):
    model = step(model, inputs, outputs)
    if jax.process_index() == 0 and done % 20 == 0:
        cubeloom.progress(done, STEPS)
if jax.process_index() == 0:
    cubeloom.outputs(processes=jax.process_count(), rows=inputs.shape[0], bias=float(model["bias"]))
