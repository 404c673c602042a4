"""Which heavy slices a CI run executes (tools/turn)."""

import tempfile
import unittest
from pathlib import Path

from support import ROOT, load

turn = load("turn")


def result(date, digest="same", passed=True, seconds=300):
    return {"date": date, "commit": "c", "passed": passed, "seconds": seconds, "digest": digest}


class Turn(unittest.TestCase):
    same = {"a": "same", "b": "same", "c": "same"}

    def test_each_slice_has_its_turn_within_as_many_runs_as_there_are_slices(self):
        results, seen = {}, []
        for run in range(3):
            [name] = turn.chosen(self.same, results, self.same, 10)
            results[name] = result(f"2026-01-0{run + 1}")
            seen.append(name)
        self.assertEqual(sorted(seen), ["a", "b", "c"])
        self.assertEqual(turn.chosen(self.same, results, self.same, 10), [seen[0]])

    def test_what_changed_or_failed_goes_first_as_far_as_the_time_reaches(self):
        results = {"a": result("1"), "b": result("2", "other"), "c": result("3", passed=False)}
        self.assertEqual(turn.chosen(self.same, results, self.same, 10), ["b", "c"])
        self.assertEqual(turn.chosen(self.same, results, self.same, 9), ["b"])
        self.assertEqual(turn.chosen(self.same, results, self.same, 0), ["b"])

    def test_the_newer_result_counts(self):
        both = turn.merged({"a": result("1"), "b": result("3")}, {"a": result("2"), "b": result("2")})
        self.assertEqual([both["a"]["date"], both["b"]["date"]], ["2", "3"])

    def test_a_digest_follows_content_and_names(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "part").mkdir()
            (root / "part/file").write_text("one")
            first = turn.digest(["part"], root)
            (root / "other").write_text("beside")
            self.assertEqual(turn.digest(["part"], root), first)
            (root / "part/file").write_text("two")
            second = turn.digest(["part"], root)
            (root / "part/file").rename(root / "part/renamed")
            self.assertEqual(len({first, second, turn.digest(["part"], root)}), 3)


class Slices(unittest.TestCase):
    def setUp(self):
        groups = turn.tomllib.loads((ROOT / "tests/turns.toml").read_text())
        self.templates = groups["templates"].values()
        self.all = [part for parts in groups.values() for part in parts.values()]

    def test_a_slice_is_run_at_least_every_ten_runs(self):
        self.assertLessEqual(len(self.templates), 10)
        self.assertLessEqual(len(self.all) - len(self.templates), 10)

    def test_every_file_that_is_named_exists(self):
        missing = [name for part in self.all for name in part["files"] if not list(ROOT.glob(name))]
        self.assertEqual(missing, [])

    def test_every_template_with_an_image_has_its_turn(self):
        built = {name for part in self.all for name in part.get("images", [])}
        self.assertEqual({path.parent.name for path in ROOT.glob("task-templates/*/Dockerfile")} - built, set())

    def test_every_module_of_heavy_tests_has_its_turn(self):
        filters = " ".join(part.get("tests", "") for part in self.templates)
        heavy = [path.stem for path in ROOT.glob("tests/it/templates/*.rs") if "#[ignore" in path.read_text()]
        self.assertEqual([name for name in heavy if name not in filters], [])


if __name__ == "__main__":
    unittest.main()
