"""Example: scales a column of numbers to 0..1.

    scale.py SOURCE TARGET
"""

import sys

import cubeloom

source, target = sys.argv[1:]
numbers = [float(line) for line in open(source)]
low, high = min(numbers), max(numbers)
with open(target, "w") as lines:
    for step, number in enumerate(numbers, start=1):
        lines.write(f"{(number - low) / (high - low):.6f}\n")
        cubeloom.progress(step, len(numbers))

cubeloom.artifact("scaled numbers", target)
cubeloom.outputs(rows=len(numbers), low=low, high=high)
