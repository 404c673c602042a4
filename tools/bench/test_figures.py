import unittest

import figures


class Goals(unittest.TestCase):
    def test_the_median_decides(self):
        self.assertTrue(figures.is_met({"at_most": 3.0}, [2, 3, 9]))
        self.assertFalse(figures.is_met({"at_most": 3.0}, [3.1]))
        self.assertTrue(figures.is_met({"at_least": 5000}, [5000]))
        self.assertFalse(figures.is_met({"at_least": 5000}, [4999, 4000, 9000]))
        self.assertIsNone(figures.is_met(None, [1]))

    def test_goals_of_older_programs_are_text(self):
        self.assertEqual(figures.goal_of("at most 1.3"), {"at_most": 1.3})
        self.assertEqual(figures.goal_of("at least 5000"), {"at_least": 5000})
        self.assertEqual(figures.goal_of("15"), {"at_most": 15})
        self.assertEqual(figures.goal_of("about 1"), {"at_most": 1})
        self.assertIsNone(figures.goal_of("soon"))

    def test_a_goal_reads_as_it_was_set(self):
        self.assertEqual(figures.goal_text({"at_most": 1.3}), "at most 1.3")
        self.assertEqual(figures.goal_text({"at_least": 5000.0}), "at least 5,000")


class Rounds(unittest.TestCase):
    def test_all_values_are_kept(self):
        one = lambda value: [{"name": "time", "value": value, "unit": "s", "goal": None, "better": "lower"}]
        gathered = figures.gather([one(1), one(3), one(2)])
        self.assertEqual(gathered, [{"name": "time", "unit": "s", "goal": None, "better": "lower", "values": [1, 3, 2]}])

    def test_a_round_of_an_older_program_is_typed(self):
        old = {"name": "dispatches", "value": 1.0, "unit": "/s", "goal": "at least 5000"}
        self.assertEqual(figures.gather([[old]])[0]["better"], "higher")
        old = {"name": "bare loop", "value": 1.0, "unit": "s", "goal": None}
        self.assertIsNone(figures.gather([[old]])[0].get("better"))

    def test_numbers_have_three_digits(self):
        self.assertEqual([figures.short(n) for n in (0.1834, 1.234, 12.34, 30698)], ["0.183", "1.23", "12.3", "30,698"])
