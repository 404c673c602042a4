"""Fits a line through rows that the ranks have of their own; Horovod averages the gradients."""

import cubeloom
import horovod.torch as hvd
import torch

WEIGHTS, BIAS, ROWS, STEPS = torch.tensor([1.5, -2.0, 0.5]), 0.25, 1_000, 200

hvd.init()

# What this rank has; nobody has all of it.
torch.manual_seed(hvd.rank())
inputs = torch.randn(ROWS, 3)
outputs = inputs @ WEIGHTS + BIAS

model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
for done in range(STEPS):
    optimizer.zero_grad()
    loss = ((model(inputs).reshape(-1) - outputs) ** 2).mean()
    loss.backward()
    optimizer.step()
    if hvd.rank() == 0 and done % 20 == 0:
        cubeloom.metric("loss", loss.item(), step=done)
        cubeloom.progress(done, STEPS)

rows = int(hvd.allreduce(torch.tensor(ROWS), op=hvd.Sum))
if hvd.rank() == 0:
    cubeloom.outputs(ranks=hvd.size(), rows=rows, bias=model.bias.item())
