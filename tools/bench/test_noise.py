import unittest
from itertools import combinations

import noise

LOWER = {"better": "lower", "unit": "ms"}
HIGHER = {"better": "higher", "unit": "/s"}


class TheRule(unittest.TestCase):
    def test_five_clearly_slower_rounds_are_worse(self):
        self.assertEqual(noise.verdict(LOWER, [10, 10.1, 9.9, 10, 10.2], [11, 11.2, 10.9, 11, 11.1]), noise.WORSE)
        self.assertEqual(noise.verdict(HIGHER, [10, 10.1, 9.9, 10, 10.2], [11, 11.2, 10.9, 11, 11.1]), noise.BETTER)
        self.assertEqual(noise.verdict(HIGHER, [11, 11.2, 10.9, 11, 11.1], [10, 10.1, 9.9, 10, 10.2]), noise.WORSE)

    def test_a_small_difference_is_noise_however_clearly_it_separates(self):
        self.assertEqual(noise.verdict(LOWER, [100, 101, 100, 101, 100], [104, 104, 104, 104, 104]), noise.SAME)

    def test_a_large_difference_of_medians_is_noise_where_the_rounds_overlap(self):
        self.assertEqual(noise.verdict(LOWER, [10, 10, 10, 15, 16], [9, 14, 14, 14, 15]), noise.SAME)

    def test_one_slow_round_does_not_decide(self):
        self.assertEqual(noise.verdict(LOWER, [10, 10, 10, 10, 10], [10, 10, 90, 10, 10]), noise.SAME)

    def test_fewer_than_five_rounds_are_not_judged(self):
        self.assertEqual(noise.verdict(LOWER, [10] * 4, [20] * 5), noise.NOT_JUDGED)

    def test_a_baseline_is_not_judged(self):
        self.assertEqual(noise.verdict({"better": None}, [10] * 5, [20] * 5), noise.SAME)

    def test_one_value_of_a_size_is_enough(self):
        size = {**LOWER, "exact": True}
        self.assertEqual(noise.verdict(size, [45.0], [45.4]), noise.SAME)
        self.assertEqual(noise.verdict(size, [45.0], [46.0]), noise.WORSE)
        self.assertEqual(noise.verdict(size, [46.0], [45.0]), noise.BETTER)

    def test_from_nothing_to_something_is_worse(self):
        self.assertEqual(noise.verdict(LOWER, [0] * 5, [1] * 5), noise.WORSE)


class TheRankTest(unittest.TestCase):
    def test_it_counts_every_order(self):
        """Compared with all ways to distribute the ranks 1 to 9 over five and four values."""
        ranks = range(1, 10)
        for low in ([1, 2, 3, 4, 5], [1, 2, 3, 5, 8], [2, 4, 6, 8, 9]):
            high = [rank for rank in ranks if rank not in low]
            u = lambda side: sum(a > b for a in side for b in ranks if b not in side)
            deals = list(combinations(ranks, 5))
            expected = sum(u(deal) <= u(low) for deal in deals) / len(deals)
            self.assertAlmostEqual(noise.chance(low, high), expected)

    def test_five_separate_rounds_reach_the_bound_and_four_do_not(self):
        self.assertLessEqual(noise.chance([1] * 5, [2] * 5), noise.CHANCE)
        self.assertGreater(noise.chance([1] * 4, [2] * 4), noise.CHANCE)

    def test_ties_are_no_separation(self):
        self.assertGreater(noise.chance([1] * 5, [1] * 5), 0.5)
