import tempfile
import unittest
from pathlib import Path

import noise
import page
import records
import tables


def figure(name, values, **more):
    return {"name": name, "unit": "ms", "goal": None, "better": "lower", "values": values, **more}


def machine(date="2026-11-28T10:00:00Z", **more):
    known = {"date": date, "commit": "0123456789abcdef", "dirty": False, "cores": 2, "model": "EPYC"}
    return {**known, "memory_kib": 1024 * 1024, "kernel": "6.18", "fdatasync_ms": 0.2, **more}


class Records(unittest.TestCase):
    def test_a_record_is_read_as_it_was_written(self):
        cases = {"noop": [figure("added", [1.5, 2.5], goal={"at_most": 3.0})], "size": [figure("program", [44.0])]}
        with tempfile.TemporaryDirectory() as folder:
            path = records.write(Path(folder) / "new", machine(), cases)
            self.assertEqual(path.name, "2026-11-28-01234567.json")
            self.assertEqual(records.read(path), {"format": 1, "machine": machine(), "cases": cases})

    def test_the_newest_is_the_one_measured_last(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            self.assertIsNone(records.newest(folder))
            records.write(folder, machine("2026-11-28T12:00:00Z", commit="aaaaaaaaa"), {})
            records.write(folder, machine("2026-11-28T09:00:00Z", commit="fffffffff"), {})
            self.assertEqual(records.newest(folder)["machine"]["commit"], "aaaaaaaaa")

    def test_another_format_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "2030-01-01-0.json"
            path.write_text('{"format": 99}')
            with self.assertRaisesRegex(SystemExit, "has format 99"):
                records.read(path)


class Comparison(unittest.TestCase):
    def rows(self, before, now, **more):
        return {(row["case"], row["figure"]): row for row in tables.compare(before, now, **more)}

    def test_what_only_one_side_has_is_listed(self):
        rows = self.rows({"a": [figure("x", [1]), figure("old", [1])], "gone": [figure("x", [1])]},
                         {"a": [figure("x", [1]), figure("new", [1])], "came": [figure("x", [1])]})
        said = {key: row["verdict"] for key, row in rows.items()}
        self.assertEqual(said[("a", "new (ms)")], "only now")
        self.assertEqual(said[("a", "old (ms)")], "only before")
        self.assertEqual(said[("came", "x (ms)")], "only now")
        self.assertEqual(said[("gone", "x (ms)")], "only before")

    def test_a_worse_figure_is_named_with_its_ratio_and_goal(self):
        now = figure("x", [20, 21, 20, 22, 20], goal={"at_most": 15})
        listed = tables.compare({"a": [figure("x", [10, 10, 11, 10, 10])]}, {"a": [now]})
        self.assertEqual(listed[0]["ratio"], "2.00")
        self.assertEqual((listed[0]["goal"], listed[0]["met"]), ("at most 15", "no"))
        self.assertEqual(listed[0]["verdict"], noise.WORSE)
        self.assertIn("worse beyond noise: a: x (ms)\n", tables.summary(listed))
        self.assertIn("better beyond noise: nothing\n", tables.summary(listed))

    def test_times_of_another_machine_are_not_judged_and_sizes_are(self):
        before = {"a": [figure("x", [1] * 5), figure("size", [1.0])]}
        now = {"a": [figure("x", [9] * 5), figure("size", [9.0], exact=True)]}
        rows = self.rows(before, now, is_same_machine=False)
        self.assertEqual(rows[("a", "x (ms)")]["verdict"], noise.NOT_JUDGED)
        self.assertEqual(rows[("a", "size (ms)")]["verdict"], noise.WORSE)

    def test_other_units_are_not_compared(self):
        rows = tables.compare({"a": [figure("x", [1] * 5, unit="s")]}, {"a": [figure("x", [1000] * 5)]})
        self.assertEqual(rows[0]["verdict"], "other unit")

    def test_columns_stand_below_each_other(self):
        rows = tables.compare({"a": [figure("x", [4.0])]}, {"a": [figure("x", [3.0])]})
        head, line = tables.text(rows, "before", "now").splitlines()
        self.assertEqual(head.index("now") + 3, line.index("3.00") + 4)


class ThePage(unittest.TestCase):
    def test_only_what_lies_between_the_markers_changes(self):
        record = {"machine": machine(), "cases": {"noop": [figure("added", [2.0, 4.0], goal={"at_most": 3.0})]}}
        written = page.with_record(f"before\n{page.BEGIN}\nold\n{page.END}\nafter\n", record)
        self.assertTrue(written.startswith(f"before\n{page.BEGIN}\n") and written.endswith(f"{page.END}\nafter\n"))
        self.assertIn("| noop | added | 3.00 ms | 2.00 - 4.00 | at most 3 | yes |", written)
        self.assertIn("commit `01234567`, release", written)
        self.assertNotIn("old", written)
        self.assertEqual(page.with_record(written, record), written)

    def test_a_page_without_markers_is_refused(self):
        with self.assertRaises(SystemExit):
            page.with_record("no markers", {"machine": machine(), "cases": {}})
