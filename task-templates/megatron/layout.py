"""A stand-in for a program of Megatron-LM's kind, which needs GPUs: it forms the groups that the arguments ask for, adds up
ranks in each, and says what it found. Nothing is trained.
"""

import argparse
import os

import cubeloom
import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--tensor-model-parallel-size", type=int, dest="tensor", required=True)
parser.add_argument("--pipeline-model-parallel-size", type=int, dest="pipeline", required=True)
parser.add_argument("--micro-batch-size", type=int, dest="micro", required=True)
parser.add_argument("--global-batch-size", type=int, dest="batch", required=True)
parser.add_argument("--use-tp-pp-dp-mapping", action="store_true", required=True)
args = parser.parse_args()

dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
rank, world = dist.get_rank(), dist.get_world_size()
copy = args.tensor * args.pipeline
# Tensor parallelism is innermost, data parallelism outermost: neighbours in rank share a layer.
layouts = {
    "tensor": [range(start, start + args.tensor) for start in range(0, world, args.tensor)],
    "pipeline": [range(at, at + copy, args.tensor) for first in range(0, world, copy) for at in range(first, first + args.tensor)],
    "data": [range(at, world, copy) for at in range(copy)],
}
sums = {}
for name, groups in layouts.items():
    for ranks in groups:
        # Everybody has to make every group, in the same order.
        group = dist.new_group(list(ranks))
        if rank in ranks:
            total = torch.tensor(rank)
            dist.all_reduce(total, group=group)
            sums[name] = int(total)
            assert sums[name] == sum(ranks), (name, list(ranks), sums)

nodes = [None] * world
dist.all_gather_object(nodes, int(os.environ["GROUP_RANK"]))
if rank == 0:
    alone = all(len({nodes[one] for one in ranks}) == 1 for ranks in layouts["tensor"])
    steps = args.batch // (args.micro * (world // copy))
    cubeloom.outputs(ranks=world, data=world // copy, tensor_on_one_node=alone, micro_batches=steps)
