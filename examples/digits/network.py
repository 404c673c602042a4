"""A small neural network on numpy: one hidden layer, softmax, cross-entropy.

The parameters are one flat vector, so that its gradient is one message between the ranks.
"""

import numpy


class Network:
    """`inputs` features -> `hidden` rectified units -> `classes` probabilities."""

    def __init__(self, inputs, hidden, classes, seed=0):
        self.shapes = [(inputs, hidden), (hidden,), (hidden, classes), (classes,)]
        draw = numpy.random.default_rng(seed).standard_normal
        first, second = draw(self.shapes[0]) * (2 / inputs) ** 0.5, draw(self.shapes[2]) * (1 / hidden) ** 0.5
        parts = [first, numpy.zeros(hidden), second, numpy.zeros(classes)]
        self.vector = numpy.concatenate([part.ravel() for part in parts])

    def parts(self, vector):
        """Views of a flat vector in the shapes of the layers."""
        ends = numpy.cumsum([numpy.prod(shape) for shape in self.shapes])[:-1]
        return [part.reshape(shape) for part, shape in zip(numpy.split(vector, ends), self.shapes)]

    def forward(self, features):
        """Hidden activations (n, hidden) and probabilities (n, classes)."""
        weights1, bias1, weights2, bias2 = self.parts(self.vector)
        hidden = numpy.maximum(features @ weights1 + bias1, 0)
        scores = hidden @ weights2 + bias2
        powers = numpy.exp(scores - scores.max(axis=1, keepdims=True))
        return hidden, powers / powers.sum(axis=1, keepdims=True)

    def gradient(self, features, labels):
        """Summed loss and summed gradient of these rows, the latter as a flat vector."""
        hidden, probabilities = self.forward(features)
        rows = numpy.arange(len(labels))
        loss = -numpy.log(probabilities[rows, labels] + 1e-12).sum()
        error = probabilities
        error[rows, labels] -= 1
        back = (error @ self.parts(self.vector)[2].T) * (hidden > 0)
        parts = [features.T @ back, back.sum(axis=0), hidden.T @ error, error.sum(axis=0)]
        return loss, numpy.concatenate([part.ravel() for part in parts])
