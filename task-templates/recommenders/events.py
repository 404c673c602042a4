"""The table that a recommender learns from, read or generated: a row for each item that a user was shown.

    user, item      ids, numbers or texts
    time            the order of the rows: numbers, or texts as of ISO 8601
    click           1 if the user clicked on the item, else 0
    conversion      1 if they bought it then, else 0; for the models of several tasks
    user_*, item_*  any number of categories of the user and the item; other columns are left alone

The last fifth in time is held out. Ids and categories that are only there have one number together: unknown.
"""

import zlib
from collections import defaultdict, deque
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import torch

MULTI_TASK = ("mmoe", "ple", "esmm")
#: Numbers that no id or category has: nothing there, and not seen in training.
NOTHING, UNKNOWN, FIRST = 0, 1, 2
HELD_OUT = 0.2


class DataError(Exception):
    """A table that cannot be learnt from; the message names the column."""


@dataclass
class Events:
    """Rows in order of time, as numbers: the first `trained` of them to learn from, the others to score."""

    trained: int
    tasks: list  # the labels' names
    labels: torch.Tensor  # (rows, tasks)
    users: dict  # name -> (rows,)
    items: torch.Tensor  # (rows,)
    history: torch.Tensor  # (rows, length): the items last clicked before, the last at the end, padded in front
    item_features: dict  # name -> (items,), of each item's number
    vocabularies: dict  # name -> what the numbers from FIRST on mean

    @property
    def held_out(self):
        return len(self.labels) - self.trained

    @property
    def device(self):
        return self.labels.device

    def size(self, name):
        """How many numbers a column has."""
        return len(self.vocabularies[name]) + FIRST

    def to(self, device):
        move = lambda columns: {name: column.to(device) for name, column in columns.items()}
        return replace(
            self,
            labels=self.labels.to(device),
            users=move(self.users),
            items=self.items.to(device),
            history=self.history.to(device),
            item_features=move(self.item_features),
        )

    def inputs(self, rows):
        """What a model sees of these rows: one column for each feature, histories with the items' features too."""
        users = {name: column[rows] for name, column in self.users.items()}
        history = {f"history_{name}": column for name, column in self.of_items(self.history[rows]).items()}
        return users | self.of_items(self.items[rows]) | history

    def of_items(self, items):
        return {"item": items} | {name: column[items] for name, column in self.item_features.items()}


def read(path):
    try:
        return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    except FileNotFoundError:
        raise DataError("there is no such file in the run's folder") from None
    # The latter two are of a compressed file that is cut off.
    except (OSError, ValueError, EOFError, zlib.error) as error:
        raise DataError(f"cannot be read: {error}") from error


def prepare(frame, model, length):
    """Checks a table, and makes numbers of it."""
    tasks = ["click", "conversion"] if model in MULTI_TASK else ["click"]
    check(frame, tasks, model)
    frame = frame.sort_values("time", kind="stable", ignore_index=True)
    trained = len(frame) - int(len(frame) * HELD_OUT)
    check_both(frame, tasks, trained)
    users, items = (["user", *named(frame, "user_")], named(frame, "item_"))
    vocabularies, numbers = {}, {}
    for name in [*users, "item", *items]:
        texts = frame[name].astype(str)
        known = pd.Index(texts[:trained].unique())
        found = known.get_indexer(texts)
        vocabularies[name], numbers[name] = known.tolist(), np.where(found < 0, UNKNOWN, found + FIRST)
    clicks = frame["click"].astype(int).to_numpy()
    # By the id itself: users that were not seen in training have histories of their own.
    past = histories(pd.factorize(frame["user"])[0], numbers["item"], clicks, length)
    return Events(
        trained=trained,
        tasks=tasks,
        labels=torch.tensor(frame[tasks].astype(float).to_numpy(), dtype=torch.float32),
        users={name: torch.tensor(numbers[name]) for name in users},
        items=torch.tensor(numbers["item"]),
        history=torch.tensor(past),
        item_features={
            name: torch.tensor(of_each(numbers["item"], numbers[name], len(vocabularies["item"]))) for name in items
        },
        vocabularies=vocabularies,
    )


def named(frame, prefix):
    return [name for name in frame.columns if name.startswith(prefix)]


def check(frame, tasks, model):
    for name in ["user", "item", "time", *tasks]:
        if name not in frame.columns:
            raise DataError(f"there is no column `{name}`, which `{model}` needs; it has {', '.join(frame.columns)}")
        empty = int(frame[name].isna().sum())
        if empty:
            raise DataError(f"the column `{name}` is empty in {empty} of {len(frame)} rows")
    for name in tasks:
        if not frame[name].isin([0, 1]).all():
            raise DataError(f"the column `{name}` has other values than 0 and 1")
    if model == "esmm" and (frame["conversion"] > frame["click"]).any():
        raise DataError("the column `conversion` is 1 where `click` is 0; `esmm` learns that a click comes first")


def check_both(frame, tasks, trained):
    for name in tasks:
        for part, label in [("to train on", frame[name][:trained]), ("held out", frame[name][trained:])]:
            if label.nunique() < 2:
                raise DataError(f"the column `{name}` has not both 0 and 1 in the {len(label)} rows {part}")


def histories(users, items, clicks, length):
    """For each row the items that its user clicked on before, (rows, length)."""
    past = defaultdict(lambda: deque(maxlen=length))
    found = np.full((len(users), length), NOTHING)
    for row, (user, item, click) in enumerate(zip(users.tolist(), items.tolist(), clicks.tolist())):
        if before := past[user]:
            found[row, -len(before) :] = before
        if click:
            past[user].append(item)
    return found


def of_each(items, values, known):
    """The value of each item's number, as its last row has it."""
    found = np.full(known + FIRST, UNKNOWN)
    found[items] = values
    found[NOTHING], found[UNKNOWN] = NOTHING, UNKNOWN
    return found


#: What is generated: items have one topic and price each, users change between a few topics and have a budget.
TOPICS, ITEMS_OF_TOPIC, INTERESTS, PRICES, FACTORS, STEPS = 16, 25, 2, 5, 8, 40


def generate(rows, seed):
    """A made-up table. What a user clicks on depends on factors of user and item and on what interests them just now,
    which shows in the clicks before; whether they buy depends on price and budget."""
    random = np.random.default_rng(seed)
    users = -(-rows // STEPS)
    topics = random.normal(size=(TOPICS, FACTORS))
    topics /= np.linalg.norm(topics, axis=1, keepdims=True)
    topic = np.arange(TOPICS * ITEMS_OF_TOPIC) % TOPICS
    factors = topics[topic] + random.normal(scale=0.15, size=(len(topic), FACTORS))
    quality, price = random.normal(scale=0.5, size=len(topic)), random.integers(PRICES, size=len(topic))
    shown_often = 1 / np.arange(3, ITEMS_OF_TOPIC + 3)
    interests, budget = random.integers(TOPICS, size=(users, INTERESTS)), random.integers(PRICES, size=users)
    own = random.normal(scale=0.15, size=(users, FACTORS))
    now, everybody, parts = random.integers(INTERESTS, size=users), np.arange(users), []
    for step in range(STEPS):
        now = np.where(random.random(users) < 0.15, random.integers(INTERESTS, size=users), now)
        current = interests[everybody, now]
        shown = np.where(random.random(users) < 0.4, current, random.integers(TOPICS, size=users))
        rank = random.choice(ITEMS_OF_TOPIC, p=shown_often / shown_often.sum(), size=users)
        item = shown + TOPICS * rank
        liking = ((topics[current] + own) * factors[item]).sum(axis=1)
        click = random.random(users) < logistic(5 * liking + quality[item] - 3)
        bought = random.random(users) < logistic(1.5 - 1.5 * np.abs(price[item] - budget))
        parts.append(
            pd.DataFrame({
                "user": everybody, "item": item, "time": step * 3600 + random.integers(3600, size=users),
                "click": click.astype(int), "conversion": (click & bought).astype(int),
                "user_budget": budget, "item_topic": topic[item], "item_price": price[item],
            })
        )  # fmt: skip
    return pd.concat(parts, ignore_index=True)[:rows]


def logistic(value):
    return 1 / (1 + np.exp(-value))
