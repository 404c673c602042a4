"""Fits a line through rows that the workers have of their own; servers add up the gradients, and hold the model."""

import cubeloom
import mxnet as mx
import numpy as np
from mxnet import autograd, gluon

WEIGHTS, BIAS, ROWS, STEPS = [1.5, -2.0, 0.5], 0.25, 1_000, 100

store = mx.kv.create("dist_sync")

# What this worker has; nobody has all of it.
inputs = np.random.default_rng(store.rank).normal(size=(ROWS, 3))
inputs, outputs = mx.nd.array(inputs), mx.nd.array(inputs @ WEIGHTS + BIAS)

model = gluon.nn.Dense(1, in_units=3)
model.initialize(mx.init.Zero())
trainer = gluon.Trainer(model.collect_params(), "sgd", {"learning_rate": 0.1}, kvstore=store, update_on_kvstore=True)
for done in range(STEPS):
    with autograd.record():
        loss = ((model(inputs).reshape(-1) - outputs) ** 2).sum()
    loss.backward()
    # The gradients of all workers are added up, so they are divided by all rows.
    trainer.step(ROWS * store.num_workers)
    # The next step may begin when this one's parameters are here: MXNet 1.9 mixes up steps that overlap.
    mx.nd.waitall()
    if store.rank == 0 and done % 20 == 0:
        cubeloom.metric("loss", loss.asscalar() / ROWS, step=done)
        cubeloom.progress(done, STEPS)
if store.rank == 0:
    cubeloom.outputs(workers=store.num_workers, rows=ROWS * store.num_workers, bias=float(model.bias.data().asscalar()))
