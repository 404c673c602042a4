"""Layers of megatron-core, with weights spread over tensor-parallel ranks, learn on every copy of the model.
"""

import argparse
import os
import time

import ledger
import torch
import torch.distributed as dist
from megatron.core import parallel_state, tensor_parallel
from megatron.core.model_parallel_config import ModelParallelConfig

parser = argparse.ArgumentParser()
parser.add_argument("--tensor-model-parallel-size", type=int, dest="tensor", required=True)
parser.add_argument("--pipeline-model-parallel-size", type=int, dest="pipeline", required=True)
parser.add_argument("--use-tp-pp-dp-mapping", action="store_true", required=True)
parser.add_argument("--hold", action="store_true")
args, _ = parser.parse_known_args()
dist.init_process_group("gloo")
# As Megatron-LM does with that option.
parallel_state.initialize_model_parallel(args.tensor, args.pipeline, order="tp-cp-ep-pp-dp")
groups = {
    "tensor": parallel_state.get_tensor_model_parallel_group(),
    "pipeline": parallel_state.get_pipeline_model_parallel_group(),
    "data": parallel_state.get_data_parallel_group(),
}
copies = parallel_state.get_data_parallel_world_size()

config = ModelParallelConfig(tensor_model_parallel_size=args.tensor, use_cpu_initialization=True)
layout = {"config": config, "init_method": lambda weight: torch.nn.init.normal_(weight, std=0.3), "bias": False}
torch.manual_seed(3)
wide = tensor_parallel.ColumnParallelLinear(8, 16, gather_output=False, **layout)
deep = tensor_parallel.RowParallelLinear(16, 1, input_is_parallel=True, skip_bias_add=False, **layout)


def whole(part, axis):
    """A layer's complete weights, gathered from all ranks that share it."""
    parts = [torch.empty_like(part.data) for _ in range(args.tensor)]
    dist.all_gather(parts, part.data, group=groups["tensor"])
    return torch.cat(parts, axis)


inputs = torch.randn(8, 8, generator=torch.Generator().manual_seed(1))
targets = torch.sin(inputs.sum(1, keepdim=True))
own = slice(parallel_state.get_data_parallel_rank(), None, copies)
losses, dense = [], []
for _ in range(12):
    answer, _ = deep(torch.tanh(wide(inputs[own])[0]))
    loss = torch.nn.functional.mse_loss(answer, targets[own])
    loss.backward()
    # The result of one process with all weights and all rows.
    first, last = (whole(layer.weight, axis).requires_grad_() for layer, axis in ((wide, 0), (deep, 1)))
    alone = torch.nn.functional.mse_loss(torch.tanh(inputs @ first.T) @ last.T, targets)
    alone.backward()
    mean = loss.detach() / copies
    dist.all_reduce(mean, group=groups["data"])
    losses.append(float(mean))
    dense.append(float(alone))
    for layer, axis, of_all in ((wide, 0, first), (deep, 1, last)):
        dist.all_reduce(layer.weight.grad, group=groups["data"])
        layer.weight.grad /= copies
        share = of_all.grad.chunk(args.tensor, axis)[parallel_state.get_tensor_model_parallel_rank()]
        assert torch.allclose(layer.weight.grad, share, atol=1e-5), "a gradient is not that of one process"
        layer.weight.data -= 0.1 * layer.weight.grad
        layer.weight.grad = None

ranks = {name: dist.get_process_group_ranks(group) for name, group in groups.items()}
held = list(wide.weight.shape)
ledger.sign(**ranks, node=int(os.environ["GROUP_RANK"]), held=held, losses=losses, dense=dense)
dist.barrier()
while args.hold:
    dist.all_reduce(mean)
    if dist.get_rank() == 0:
        ledger.write("busy", "")
    time.sleep(0.1)
