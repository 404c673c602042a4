"""Example data: four shards of points with a curved border between two classes; made up, for the example only.

    make_shards.py FOLDER
"""

import sys
from pathlib import Path

import numpy

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for shard in range(4):
    points = numpy.random.default_rng(shard).uniform(-1, 1, size=(500, 4)).astype(numpy.float32)
    numpy.savez(folder / f"part-{shard}.npz", X=points, y=points[:, 0] ** 2 + points[:, 1] > 0.3)
