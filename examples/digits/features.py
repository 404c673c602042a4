"""Turns this worker's share of the images into features, split into training and held-out rows.

Every worker draws the same split from the seed, so that a held-out image is held out everywhere.
"""

import argparse
import os
from pathlib import Path

import cubeloom
import numpy

SIDE = 8
#: The largest grey value of a pixel.
WHITE = 16


def main():
    options = arguments()
    worker, workers = int(os.environ["JOB_COMPLETION_INDEX"]), int(os.environ["VC_WORKER_NUM"])
    table = numpy.loadtxt(options.images, delimiter=",", dtype=numpy.float32)
    held_out = split(len(table), options.test_fraction, options.seed)
    rows = numpy.arange(worker, len(table), workers)
    features = describe(table[rows, :-1].reshape(-1, SIDE, SIDE) / WHITE)
    labels = table[rows, -1].astype(numpy.int64)
    for name, chosen in (("train", ~held_out[rows]), ("test", held_out[rows])):
        folder = options.target / name
        folder.mkdir(parents=True, exist_ok=True)
        numpy.savez(folder / f"part-{worker}.npz", X=features[chosen], y=labels[chosen], row=rows[chosen])
        print(f"worker {worker}: {chosen.sum()} rows for {name}")
        cubeloom.metric(f"{name} rows of worker {worker}", chosen.sum())
    folders = {"train": str(options.target / "train"), "test": str(options.target / "test")}
    cubeloom.outputs(**folders, features=features.shape[1], images=len(table), held_out=int(held_out.sum()))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", required=True, help="csv.gz: 64 grey values and the digit, a line an image")
    parser.add_argument("--target", type=Path, required=True, help="folder for train/ and test/")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--test-fraction", type=float, required=True)
    return parser.parse_args()


def split(rows, fraction, seed):
    """Which rows are held out, as booleans."""
    held_out = numpy.zeros(rows, dtype=bool)
    held_out[numpy.random.default_rng(seed).permutation(rows)[: round(rows * fraction)]] = True
    return held_out


def describe(images):
    """Images (n, 8, 8) with values from 0 to 1 -> features (n, 128)."""
    count = len(images)
    blocks = images.reshape(count, 4, 2, 4, 2).mean(axis=(2, 4))
    projections = numpy.concatenate([images.mean(axis=1), images.mean(axis=2)], axis=1)
    parts = [images.reshape(count, -1), blocks.reshape(count, -1), projections, directions(images)]
    return numpy.concatenate(parts, axis=1).astype(numpy.float32)


def directions(images, bins=8, cell=4):
    """For each quarter of the image, how much stroke runs in each of 8 directions: histograms of gradients (n, 32)."""
    down, right = numpy.gradient(images, axis=(1, 2))
    strength = numpy.hypot(down, right)
    direction = ((numpy.arctan2(down, right) / (2 * numpy.pi) % 1) * bins).astype(int) % bins
    histogram = (direction[..., None] == numpy.arange(bins)) * strength[..., None]
    quarters = histogram.reshape(len(images), SIDE // cell, cell, SIDE // cell, cell, bins).sum(axis=(2, 4))
    return quarters.reshape(len(images), -1)


main()
