"""Torch-RecHub's models, each with its loss: what one process of the group computes of its rows."""

import torch
from events import FIRST, NOTHING
from torch import nn
from torch.nn import functional
from torch_rechub.basic.features import SequenceFeature, SparseFeature
from torch_rechub.basic.initializers import RandomNormal
from torch_rechub.models.matching import DSSM, ComirecSA, YoutubeDNN
from torch_rechub.models.multi_task import ESMM, MMOE, PLE
from torch_rechub.models.ranking import DIN, DeepFM

#: Cosines lie between -1 and 1, too close for a softmax.
TEMPERATURE = 0.1
#: How many items that were not clicked stand beside one that was.
NEGATIVES = 50
DROPOUT = 0.1


def build(options, data):
    """The model of this name for these data."""
    return {
        "din": din, "deepfm": deepfm, "mmoe": mmoe, "ple": ple, "esmm": esmm,
        "youtube_dnn": youtube_dnn, "comirec": comirec, "two_tower": two_tower,
    }[options.model](options, Features(options, data), data)  # fmt: skip


class Features:
    """The columns as the library describes them. Histories share the items' embeddings."""

    def __init__(self, options, data):
        self.embedding, self.data = options.embedding, data
        self.users = [self.one(name) for name in data.users]
        self.items = [self.one(name) for name in ["item", *data.item_features]]

    def one(self, name):
        size, start = self.data.size(name), RandomNormal(0, 0.05)
        return SparseFeature(name, size, self.embedding, padding_idx=NOTHING, initializer=start)

    def many(self, name, of, pooling, shared=True):
        size, shared_with, start = self.data.size(of), of if shared else None, RandomNormal(0, 0.05)
        return SequenceFeature(name, size, self.embedding, pooling, shared_with, NOTHING, start)

    def histories(self, pooling):
        return [self.many(f"history_{item.name}", item.name, pooling) for item in self.items]

    def history(self, pooling):
        return self.many("history_item", "item", pooling)

    def of_user(self):
        """What is known of a user, the mean of what they clicked on included."""
        return [*self.users, *self.histories("mean")]


def din(options, features, data):
    layers = {"dims": options.hidden, "dropout": DROPOUT}
    network = DIN(features.users, features.histories("concat"), features.items, layers, {"dims": [32]})
    return Ranking(network)


def deepfm(options, features, data):
    columns = features.of_user() + features.items
    return Ranking(DeepFM(columns, columns, {"dims": options.hidden, "dropout": DROPOUT}))


def mmoe(options, features, data):
    columns, (experts, towers) = features.of_user() + features.items, parts(options, data)
    return Ranking(MMOE(columns, ["classification"] * len(data.tasks), 4, experts, towers))


def ple(options, features, data):
    columns, (experts, towers) = features.of_user() + features.items, parts(options, data)
    return Ranking(PLE(columns, ["classification"] * len(data.tasks), 2, 2, 2, experts, towers))


def parts(options, data):
    """The experts that tasks share, and each task's own tower."""
    *experts, tower = options.hidden
    return {"dims": experts or [tower], "dropout": DROPOUT}, [{"dims": [tower]} for _ in data.tasks]


def esmm(options, features, data):
    layers = {"dims": options.hidden, "dropout": DROPOUT}
    # Its answers are: conversion after a click, click, both.
    return Ranking(ESMM(features.of_user(), features.items, layers, layers), answers=[1, 2])


def youtube_dnn(options, features, data):
    negatives = features.many("negatives", "item", "concat")
    tower = {"dims": [*options.hidden, options.embedding]}
    # Of an item it has the id alone, so what else is known of items clicked on has embeddings of its own.
    own = [features.many(f"history_{item.name}", item.name, "mean", shared=False) for item in features.items[1:]]
    user = [*features.users, features.history("mean"), *own]
    return SampledSoftmax(YoutubeDNN(user, features.items[:1], [negatives], tower), data)


def comirec(options, features, data):
    negatives = features.many("negatives", "item", "concat")
    history = [features.history("concat")]
    network = ComirecSA(features.users, history, features.items[:1], [negatives], interest_num=options.interests)
    # The library has a weight there that it does not use; DistributedDataParallel would wait for its gradient.
    network.multi_interest_sa.W3.requires_grad_(False)
    return SampledSoftmax(network, data)


def two_tower(options, features, data):
    tower = {"dims": [*options.hidden, options.embedding]}
    return InBatchSoftmax(DSSM(features.of_user(), features.items, tower, tower), data)


class Ranking(nn.Module):
    """Says for each row how probable each label is."""

    def __init__(self, network, answers=None):
        super().__init__()
        self.network, self.answers = network, answers

    @staticmethod
    def rows(data):
        """All rows to train on."""
        return torch.arange(data.trained)

    def forward(self, inputs, labels):
        return functional.binary_cross_entropy(self.score(inputs), labels, reduction="none").mean(dim=0).sum()

    def score(self, inputs):
        """Probabilities, (rows, tasks)."""
        found = self.network(inputs)
        found = found.unsqueeze(1) if found.dim() == 1 else found
        return found if self.answers is None else found[:, self.answers]


class Matching(nn.Module):
    """Finds items for a user: both become vectors, near each other where a user clicks."""

    def __init__(self, network, data):
        super().__init__()
        self.network, self.known = network, data.size("item")
        clicked = data.items[self.rows(data).to(data.device)]
        self.clicks = torch.bincount(clicked, minlength=self.known)

    @staticmethod
    def rows(data):
        """Rows to train on that were clicked."""
        return torch.nonzero(data.labels[: data.trained, 0].cpu()).flatten()

    def of_users(self, inputs):
        """(rows, interests, embedding)"""
        vectors = self.in_mode("user", self.network.user_tower, inputs)
        return vectors if vectors.dim() == 3 else vectors.unsqueeze(1)

    def of_items(self, inputs):
        """(items, embedding)"""
        return self.in_mode("item", self.network.item_tower, inputs)

    def in_mode(self, mode, tower, inputs):
        self.network.mode = mode
        try:
            return tower(inputs)
        finally:
            self.network.mode = None


class SampledSoftmax(Matching):
    """Learns to tell the item that was clicked from some that are drawn from all."""

    def forward(self, inputs, labels):
        items = inputs["item"]
        negatives = torch.randint(FIRST, self.known, (len(items), NEGATIVES), device=items.device)
        cosines = self.network(inputs | {"negatives": negatives})
        same = functional.pad(negatives == items.unsqueeze(1), (1, 0))
        logits = (cosines / TEMPERATURE).masked_fill(same, -torch.inf)
        return functional.cross_entropy(logits, torch.zeros_like(items))


class InBatchSoftmax(Matching):
    """Learns to tell the item that was clicked from those of the batch's other rows, less what is clicked often anyway."""

    def forward(self, inputs, labels):
        items = inputs["item"]
        cosines = self.network.user_tower(inputs) @ self.network.item_tower(inputs).T
        often = torch.log(self.clicks.to(items.device)[items] / self.clicks.sum())
        same = (items.unsqueeze(1) == items) & ~torch.eye(len(items), dtype=torch.bool, device=items.device)
        logits = (cosines / TEMPERATURE - often).masked_fill(same, -torch.inf)
        return functional.cross_entropy(logits, torch.arange(len(items), device=items.device))
