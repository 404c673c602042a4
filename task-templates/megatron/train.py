"""A network whose layers megatron-core spreads over neighbours in rank learns a function, on processors. Every copy of the model
takes its own rows, and gradients are averaged over the copies.
"""

import argparse
import importlib.metadata
import os

import cubeloom
import torch
import torch.distributed as dist
from megatron.core import ModelParallelConfig, parallel_state, tensor_parallel

STEPS = 60

parser = argparse.ArgumentParser()
parser.add_argument("--tensor-model-parallel-size", type=int, dest="tensor", required=True)
parser.add_argument("--micro-batch-size", type=int, dest="micro", required=True)
parser.add_argument("--global-batch-size", type=int, dest="batch", required=True)
args, _ = parser.parse_known_args()

dist.init_process_group("gloo")
parallel_state.initialize_model_parallel(args.tensor)
copies, copy = parallel_state.get_data_parallel_world_size(), parallel_state.get_data_parallel_rank()

torch.manual_seed(3)
config = ModelParallelConfig(tensor_model_parallel_size=args.tensor, use_cpu_initialization=True)
layout = {"config": config, "init_method": lambda weight: torch.nn.init.normal_(weight, std=0.3), "bias": False}
wide = tensor_parallel.ColumnParallelLinear(8, 64, gather_output=False, **layout)
deep = tensor_parallel.RowParallelLinear(64, 1, input_is_parallel=True, skip_bias_add=False, **layout)
weights = [wide.weight, deep.weight]
optimizer = torch.optim.Adam(weights, lr=0.01)

# A sequence of one, by samples, by features: Megatron's order.
inputs = torch.randn(1, args.batch, 8, generator=torch.Generator().manual_seed(1))
targets = torch.sin(inputs.sum(2, keepdim=True))
own = list(zip(inputs[:, copy::copies].split(args.micro, 1), targets[:, copy::copies].split(args.micro, 1)))
losses = []
for step in range(STEPS):
    optimizer.zero_grad()
    mean = torch.zeros(())
    for rows, wanted in own:
        answer, _ = deep(torch.tanh(wide(rows)[0]))
        loss = torch.nn.functional.mse_loss(answer, wanted) / len(own) / copies
        loss.backward()
        mean += loss.detach()
    for one in [mean, *(weight.grad for weight in weights)]:
        dist.all_reduce(one, group=parallel_state.get_data_parallel_group())
    optimizer.step()
    losses.append(float(mean))
    if dist.get_rank() == 0:
        cubeloom.metric("loss", losses[-1], step=step)

nodes = [None] * dist.get_world_size()
dist.all_gather_object(nodes, os.environ["GROUP_RANK"])
if dist.get_rank() == 0:
    # Weights of a layer go between its ranks at every step: no such group may cross nodes.
    groups = [nodes[first : first + args.tensor] for first in range(0, len(nodes), args.tensor)]
    cubeloom.outputs(
        version=importlib.metadata.version("megatron-core"), ranks=len(nodes), copies=copies, micro_batches=len(own),
        held=list(wide.weight.shape), layers_on_one_node=all(len(set(group)) == 1 for group in groups),
        before=losses[0], after=losses[-1],
    )
