"""Trains a network whose parameters, gradients and optimiser state are spread over all processes (FSDP): none has the whole.

    train.py [--steps 30] [--every 10] [--pause 0]

It saves the whole model every so many steps, and goes on from there with any number of processes.
"""

import argparse
import time

import cubeloom
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

#: A file has the whole, made on rank 0 out of all shares; each process takes its own share out of it.
WHOLE = StateDictOptions(full_state_dict=True, cpu_offload=True)
FILE = cubeloom.checkpoint_dir / "whole.pt"


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--every", type=int, default=10, help="after how many steps it is saved")
    parser.add_argument("--pause", type=float, default=0, help="seconds to wait after each step")
    return parser.parse_args()


def network():
    """The same on all processes, each of which then keeps its share of every layer."""
    torch.manual_seed(7)
    model = nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
    whole = sum(parameter.numel() for parameter in model.parameters())
    device = "cuda" if torch.cuda.is_available() else "cpu"
    mesh = init_device_mesh(device, (dist.get_world_size(),))
    for layer in model:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return model, whole


def load(model, optimizer):
    """From the last file, if there is one; the step to go on with."""
    if not FILE.exists():
        return 0
    # By a map of the file: nobody reads all of it into memory.
    saved = torch.load(FILE, mmap=True)
    state = {"model_state_dict": saved["model"], "optim_state_dict": saved["optimizer"]}
    set_state_dict(model, optimizer, **state, options=WHOLE)
    return saved["step"]


def save(model, optimizer, step):
    """All processes take part; rank 0 has the result."""
    model_state, optimizer_state = get_state_dict(model, optimizer, options=WHOLE)
    if dist.get_rank() == 0:
        aside = FILE.with_suffix(".part")
        torch.save({"model": model_state, "optimizer": optimizer_state, "step": step}, aside)
        aside.rename(FILE)
        cubeloom.checkpoint(step, FILE)


def main():
    given = options()
    dist.init_process_group()
    rank, size = dist.get_rank(), dist.get_world_size()
    model, whole = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    begin = load(model, optimizer)

    generator = torch.Generator().manual_seed(1)
    inputs = torch.randn(960, 16, generator=generator)
    targets = torch.sin(inputs.sum(1, keepdim=True))
    # Its own rows; each process has as many, so that the mean over all is that of their means.
    device = next(model.parameters()).device
    inputs, targets = inputs[rank::size].to(device), targets[rank::size].to(device)

    for step in range(begin, given.steps):
        loss = nn.functional.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean = loss.detach() / size
        dist.all_reduce(mean)
        if rank == 0:
            cubeloom.metric("loss", mean, step=step)
            cubeloom.progress(step + 1, given.steps)
        if (step + 1) % given.every == 0 or step + 1 == given.steps:
            save(model, optimizer, step + 1)
        time.sleep(given.pause)

    shares = [None] * size
    dist.all_gather_object(shares, sum(parameter.to_local().numel() for parameter in model.parameters()))
    if rank == 0:
        kept = sum(value.numel() for value in torch.load(FILE, mmap=True)["model"].values())
        cubeloom.outputs(parameters=whole, shares=shares, kept=kept, begin=begin)
    dist.destroy_process_group()


main()
