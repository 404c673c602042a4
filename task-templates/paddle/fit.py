"""Fits a line through rows that the workers have of their own; DataParallel averages the gradients."""

import cubeloom
import paddle
import paddle.distributed as dist

WEIGHTS, BIAS, ROWS, STEPS = paddle.to_tensor([1.5, -2.0, 0.5]), 0.25, 1_000, 200

dist.init_parallel_env()

# What this process has; nobody has all of it.
paddle.seed(dist.get_rank())
inputs = paddle.randn([ROWS, 3])
outputs = inputs @ WEIGHTS + BIAS

model = paddle.DataParallel(paddle.nn.Linear(3, 1))
optimizer = paddle.optimizer.SGD(learning_rate=0.1, parameters=model.parameters())
for done in range(STEPS):
    loss = ((model(inputs).reshape([-1]) - outputs) ** 2).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    if dist.get_rank() == 0 and done % 20 == 0:
        cubeloom.metric("loss", loss.item(), step=done)
        cubeloom.progress(done, STEPS)

rows = paddle.to_tensor([ROWS])
dist.all_reduce(rows)
if dist.get_rank() == 0:
    bias = model.state_dict()["bias"]
    cubeloom.outputs(processes=dist.get_world_size(), rows=rows.item(), bias=bias.item())
