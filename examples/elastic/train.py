"""Trains a small convolutional network with DistributedDataParallel, so that it can stop and go on at any epoch.

torchrun starts this program anew whenever the group changes. It then loads model, optimizer and epoch from the last
checkpoint, and fits batch and learning rate to the number of processes there are now.
"""

import argparse
import gzip
import time
from pathlib import Path

import cubeloom
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

#: Rows of one step in each process, and the learning rate that each adds: more processes, larger and faster steps.
ROWS, LEARNING_RATE = 32, 0.02
SEED = 7


def main():
    options = arguments()
    dist.init_process_group("gloo")
    torch.manual_seed(SEED)
    images, labels, held_out = load(options.images)
    model = DistributedDataParallel(network())
    batch, rate = ROWS * dist.get_world_size(), LEARNING_RATE * dist.get_world_size()
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
    start = restore(model.module, optimizer, rate)
    print(f"rank {dist.get_rank()} of {dist.get_world_size()}: epoch {start}, {batch} rows a step, rate {rate:.4f}")
    for epoch in range(start, options.epochs):
        loss = train_epoch(model, optimizer, images[~held_out], labels[~held_out], epoch)
        report(model.module, optimizer, epoch + 1, options.epochs, loss)
        time.sleep(options.pause)
    if dist.get_rank() == 0:
        finish(model.module, images[held_out], labels[held_out], options.model)
    dist.barrier()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", required=True, help="csv.gz: 64 grey values and the digit, a line an image")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--pause", type=float, default=0, help="seconds to wait after each epoch")
    return parser.parse_args()


def load(path):
    """Images (n, 1, 8, 8) from 0 to 1, digits (n,), and which rows are held out."""
    with gzip.open(path, "rt") as lines:
        table = torch.tensor([[float(word) for word in line.split(",")] for line in lines])
    held_out = torch.zeros(len(table), dtype=torch.bool)
    held_out[torch.randperm(len(table), generator=torch.Generator().manual_seed(SEED))[: len(table) // 4]] = True
    return table[:, :-1].reshape(-1, 1, 8, 8) / 16, table[:, -1].long(), held_out


def network():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(512, 10),
    )  # fmt: skip


def train_epoch(model, optimizer, images, labels, epoch):
    """One pass over all rows, every process with its share; the mean loss of all. All make equally many steps."""
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(SEED + epoch))
    share = order[dist.get_rank() :: dist.get_world_size()][: len(labels) // dist.get_world_size()]
    total = torch.zeros(2)
    for chosen in share.split(ROWS):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images[chosen]), labels[chosen])
        loss.backward()
        optimizer.step()
        total += torch.tensor([loss.item() * len(chosen), len(chosen)])
    dist.all_reduce(total)
    return float(total[0] / total[1])


def report(model, optimizer, done, epochs, loss):
    """After each epoch, on rank 0: a checkpoint, written aside and renamed, then the figures."""
    if dist.get_rank() != 0:
        return
    path = cubeloom.checkpoint_dir / "last.pt"
    aside = path.with_name("writing-last.pt")
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": done}, aside)
    aside.rename(path)
    cubeloom.checkpoint(done, path)
    cubeloom.metric("loss", loss, step=done)
    cubeloom.metric("processes", dist.get_world_size(), step=done)
    cubeloom.progress(done, epochs)


def restore(model, optimizer, rate):
    """The epoch to begin with. Rank 0 reads the checkpoint and sends it, so that all begin alike."""
    path = cubeloom.checkpoint_dir / "last.pt"
    state = [torch.load(path) if dist.get_rank() == 0 and path.exists() else None]
    dist.broadcast_object_list(state)
    if state[0] is None:
        return 0
    model.load_state_dict(state[0]["model"])
    optimizer.load_state_dict(state[0]["optimizer"])
    # The saved rate belonged to the group of then.
    for group in optimizer.param_groups:
        group["lr"] = rate
    return state[0]["epoch"]


def finish(model, images, labels, path):
    with torch.no_grad():
        accuracy = float((model(images).argmax(dim=1) == labels).float().mean())
    torch.save(model.state_dict(), path)
    print(f"right in {accuracy:.1%} of {len(labels)} held-out images")
    cubeloom.metric("accuracy", accuracy)
    cubeloom.artifact("model", path)
    cubeloom.outputs(accuracy=accuracy, model=str(path))


main()
