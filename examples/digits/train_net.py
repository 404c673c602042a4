"""Trains the neural network with synchronous gradient descent: every rank has its rows, the gradient is everybody's.

All ranks hold the same parameters at every step. Rank 0 reports, saves checkpoints and writes the model.
"""

import argparse
import time
from pathlib import Path

import cubeloom
import numpy
from mpi4py import MPI
from network import Network

WORLD = MPI.COMM_WORLD
CLASSES, HIDDEN = 10, 64
#: Rows of one step, over all ranks; the learning rate belongs to it.
BATCH, LEARNING_RATE, MOMENTUM, DECAY = 64, 0.08, 0.9, 1e-4
EPOCHS_BETWEEN_CHECKPOINTS = 20


def main():
    options = arguments()
    features, labels = load(options.features)
    rows = WORLD.allreduce(len(labels))
    print(f"rank {WORLD.rank} of {WORLD.size} trains on {len(labels)} of {rows} rows")
    mean, scale = standard(features, rows)
    network = Network(features.shape[1], HIDDEN, CLASSES, options.seed)
    speed = numpy.zeros_like(network.vector)
    start = restore(network, speed)
    for epoch in range(start, options.epochs):
        rate = LEARNING_RATE * (1 - epoch / options.epochs)
        draw = numpy.random.default_rng([options.seed, epoch, WORLD.rank])
        loss = train_epoch(network, speed, (features - mean) / scale, labels, rows, rate, draw)
        report(network, speed, epoch + 1, options.epochs, loss)
    if WORLD.rank == 0:
        options.model.parent.mkdir(parents=True, exist_ok=True)
        numpy.savez(options.model, vector=network.vector, hidden=HIDDEN, mean=mean, scale=scale)
        cubeloom.outputs(model=str(options.model), rows=rows, loss=loss)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--features", type=Path, required=True, help="folder of part-*.npz")
    parser.add_argument("--model", type=Path, required=True, help="the model file, .npz")
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    return parser.parse_args()


def load(folder):
    """This rank's files, every `size`-th: features (rows, columns), labels (rows,)."""
    files = sorted(folder.glob("*.npz"))[WORLD.rank :: WORLD.size]
    parts = [numpy.load(path) for path in files]
    features = numpy.concatenate([part["X"] for part in parts]).astype(numpy.float64)
    return features, numpy.concatenate([part["y"] for part in parts])


def standard(features, rows):
    """Mean and scale of each feature over the rows of all ranks."""
    mean = WORLD.allreduce(features.sum(axis=0)) / rows
    variance = WORLD.allreduce(((features - mean) ** 2).sum(axis=0)) / rows
    return mean, numpy.sqrt(variance) + 1e-3


def train_epoch(network, speed, features, labels, rows, rate, draw):
    """One pass over all rows; the mean loss. Every rank makes as many steps, of its part of each batch."""
    steps = -(-rows // BATCH)
    total = 0.0
    for chosen in numpy.array_split(draw.permutation(len(labels)), steps):
        loss, gradient = network.gradient(features[chosen], labels[chosen])
        message = numpy.concatenate([gradient, [loss, len(chosen)]])
        wait(WORLD.Iallreduce(MPI.IN_PLACE, message))
        gradient, total = message[:-2] / message[-1], total + message[-2]
        speed *= MOMENTUM
        speed -= rate * (gradient + DECAY * network.vector)
        network.vector += speed
    return total / rows


def wait(request):
    """Waits for the others without work.

    MPI's own waiting takes all of a core. Where cores are limited, a rank that has used up its share by waiting stands still
    while the others wait for it: then a step takes up to a tenth of a second.
    """
    while not request.Test():
        time.sleep(0.0002)


def report(network, speed, done, epochs, loss):
    if WORLD.rank != 0:
        return
    cubeloom.metric("loss", loss, step=done)
    cubeloom.progress(done, epochs)
    if done % EPOCHS_BETWEEN_CHECKPOINTS == 0 and done < epochs:
        path = cubeloom.checkpoint_dir / "net.npz"
        aside = path.with_name("writing-net.npz")
        numpy.savez(aside, vector=network.vector, speed=speed, epoch=done)
        aside.rename(path)
        cubeloom.checkpoint(done, path)


def restore(network, speed):
    """The epoch to begin with. Rank 0 reads the checkpoint and sends it, so that all ranks begin alike."""
    state = None
    path = cubeloom.checkpoint_dir / "net.npz"
    if WORLD.rank == 0 and path.exists():
        with numpy.load(path) as saved:
            state = {name: saved[name] for name in saved.files}
    state = WORLD.bcast(state)
    if state is None:
        return 0
    network.vector[:], speed[:] = state["vector"], state["speed"]
    return int(state["epoch"])


main()
