"""Reads what WeNet writes beside each epoch's model, and fails unless it has learnt: the loss on what it has not trained with has to
be a number, and to be smaller at the end than after the first epoch.

    learnt.py MODEL     the file of the last epoch's model
"""

import math
import re
import sys
from pathlib import Path

import cubeloom


def main(model):
    losses = [loss(model.with_name(f"epoch_{epoch}.yaml")) for epoch in (0, int(model.stem.partition("_")[2]))]
    print(f"loss after the first epoch: {losses[0]:.3f}, after the last: {losses[1]:.3f}")
    if not all(map(math.isfinite, losses)) or losses[1] >= losses[0]:
        sys.exit("the training has learnt nothing")
    cubeloom.outputs(loss=losses[1])


def loss(file):
    """The loss of its mapping `loss_dict`; the file is YAML, which Python alone does not read."""
    found = re.search(r"^loss_dict:\n(?:  .*\n)*?  loss: (\S+)$", file.read_text(), re.MULTILINE)
    if found is None:
        sys.exit(f"{file} says nothing of a loss")
    return float(found[1])


main(Path(sys.argv[1]))
