"""Learns which points of a plane lie within a ring: logistic regression by gradient descent, without any package.

The points are generated. With `squares` among the features the ring can be learnt; with `linear` ones alone it cannot.
"""

import argparse
import json
import math
import random
from pathlib import Path

import cubeloom


def points(rows: int, seed: int) -> list[tuple[list[float], int]]:
    """Points of the square from -1 to 1, one in twenty with the wrong label."""
    generator = random.Random(seed)
    found = []
    for _ in range(rows):
        x, y = generator.uniform(-1, 1), generator.uniform(-1, 1)
        inside = 0.2 < x * x + y * y < 0.7
        found.append(([x, y], int(inside != (generator.random() < 0.05))))
    return found


def features(point: list[float], kind: str) -> list[float]:
    """What the model sees of a point."""
    x, y = point
    if kind == "linear":
        return [1.0, x, y]
    square = x * x + y * y
    return [1.0, x, y, square, square * square]


def likely(weights: list[float], seen: list[float]) -> float:
    """How likely the model thinks it that the point is inside."""
    total = sum(weight * value for weight, value in zip(weights, seen))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def train(args: argparse.Namespace) -> None:
    rows = [(features(point, args.features), label) for point, label in points(args.rows, args.seed)]
    held_out, rows = rows[: len(rows) // 4], rows[len(rows) // 4 :]
    weights = [0.0] * len(rows[0][0])
    order = random.Random(args.seed)
    accuracy = 0.0
    for epoch in range(1, args.epochs + 1):
        order.shuffle(rows)
        for start in range(0, len(rows), args.batch):
            batch = rows[start : start + args.batch]
            slope = [0.0] * len(weights)
            for seen, label in batch:
                error = likely(weights, seen) - label
                for at, value in enumerate(seen):
                    slope[at] += error * value
            for at, total in enumerate(slope):
                weights[at] -= args.rate * (total / len(batch) + args.decay * weights[at])
        right = sum((likely(weights, seen) > 0.5) == bool(label) for seen, label in held_out)
        accuracy = right / len(held_out)
        cubeloom.metric("accuracy", accuracy, step=epoch)
        cubeloom.progress(epoch, args.epochs)
        print(f"epoch {epoch}: {accuracy:.3f} right", flush=True)
    cubeloom.outputs(accuracy=accuracy)
    if args.model:
        Path(args.model).write_text(json.dumps({"features": args.features, "weights": weights}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--features", choices=["linear", "squares"], required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--rate", type=float, required=True)
    parser.add_argument("--decay", type=float, required=True)
    parser.add_argument("--model")
    train(parser.parse_args())
