"""One trial: learns to tell two rings of points apart, with the parameters that NNI gives it."""

import math
import random

import nni

parameters = {"rate": 0.1, "hidden": 4, "function": "tanh"}
parameters |= nni.get_next_parameter()

FUNCTIONS = {
    "tanh": (math.tanh, lambda out: 1 - out * out),
    "relu": (lambda x: max(0.0, x), lambda out: float(out > 0)),
}
act, slope = FUNCTIONS[parameters["function"]]
chance = random.Random(7)


def ring(label):
    angle, radius = chance.uniform(0, 2 * math.pi), chance.uniform(0, 1) + 1.5 * label
    return radius * math.cos(angle), radius * math.sin(angle), label


points = [ring(at % 2) for at in range(400)]
train, test = points[:300], points[300:]
hidden = [[chance.gauss(0, 1) for _ in range(3)] for _ in range(parameters["hidden"])]
last = [chance.gauss(0, 1) for _ in range(parameters["hidden"] + 1)]


def forward(x, y):
    outs = [act(a * x + b * y + c) for a, b, c in hidden]
    score = sum(weight * out for weight, out in zip(last, outs)) + last[-1]
    return outs, 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


def accuracy():
    return sum((forward(x, y)[1] > 0.5) == bool(label) for x, y, label in test) / len(test)


for epoch in range(20):
    for x, y, label in train:
        outs, found = forward(x, y)
        error = parameters["rate"] * (found - label)
        for weights, out, at in zip(hidden, outs, range(len(outs))):
            back = error * last[at] * slope(out)
            last[at] -= error * out
            weights[0] -= back * x
            weights[1] -= back * y
            weights[2] -= back
        last[-1] -= error
    nni.report_intermediate_result(accuracy())
nni.report_final_result(accuracy())
