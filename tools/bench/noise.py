"""The common rule for differences beyond noise, for `make bench` and `make bench-against` alike.

A figure differs beyond noise when both hold:

- its medians differ by more than a threshold: 5 % for time or memory, 1 % for a size in bytes;
- a Mann-Whitney rank test (exact, one-sided) gives at most 1 % probability to such a separation by chance.

The test uses only the order of the values: one slow round among five does not decide. Five rounds a side are the
fewest that can reach 1 % (1 of 252 orders separates them fully); fewer are shown but not judged. The size of a file has
no noise, so a single value of it is enough.
"""

from functools import lru_cache
from statistics import median

THRESHOLD = 0.05
THRESHOLD_OF_SIZES = 0.01
CHANCE = 0.01
FEWEST_ROUNDS = 5

WORSE, BETTER, SAME, NOT_JUDGED = "worse", "better", "", "not judged"


def verdict(figure, before, now):
    """Compares the rounds of a figure; `figure` has its unit and the direction of an improvement."""
    if not figure.get("better"):
        return SAME
    change = relative(median(before), median(now))
    if figure.get("exact"):
        return named(figure, change) if abs(change) > THRESHOLD_OF_SIZES else SAME
    if min(len(before), len(now)) < FEWEST_ROUNDS:
        return NOT_JUDGED
    low, high = (before, now) if change > 0 else (now, before)
    if abs(change) <= THRESHOLD or chance(low, high) > CHANCE:
        return SAME
    return named(figure, change)


def named(figure, change):
    return BETTER if (change < 0) == (figure["better"] == "lower") else WORSE


def relative(before, now):
    """The change relative to the old value; infinite if that is 0."""
    if before == now:
        return 0.0
    return (now - before) / abs(before) if before else float("inf") if now > 0 else float("-inf")


def chance(low, high):
    """The probability that `low` is so far below `high` by chance: P(U <= u) of Mann and Whitney's U, with ties counted half."""
    u = sum((a > b) + (a == b) / 2 for a in low for b in high)
    # A half rank is rounded up: ties make the result more conservative, never less.
    most = int(u + 0.5)
    n, m = len(low), len(high)
    counts = [orders(n, m, value) for value in range(n * m + 1)]
    return sum(counts[: most + 1]) / sum(counts)


@lru_cache(maxsize=None)
def orders(n, m, u):
    """The number of orders of n and m values in which U is u (Mann and Whitney 1947)."""
    if u < 0:
        return 0
    if n == 0 or m == 0:
        return 1 if u == 0 else 0
    return orders(n - 1, m, u - m) + orders(n, m - 1, u)
