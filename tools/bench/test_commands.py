"""`run`, `against` and `page` with programs that only print figures."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import page

TOOL = Path(__file__).parent


class Commands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def program(self, name, figures, cases="noop"):
        """A program with these cases, each of which yields these figures and records its turn."""
        path = self.folder / name
        listed = "".join(f"{case}  about\n" for case in cases.split())
        path.write_text(
            f"#!/bin/sh\nif [ \"$2\" = --list ]; then printf '{listed}'; exit; fi\n"
            f"echo {name} >>{self.folder}/turns\n"
            + (f"echo '{json.dumps(figures)}'\n" if figures else "exit 3\n")
        )
        path.chmod(0o755)
        return path

    def tool(self, *arguments):
        command = [sys.executable, "-B", TOOL, *arguments, "--scratch", self.folder, "--records", self.folder / "records"]
        command += ["--page", self.folder / "page.md"]
        done = subprocess.run(map(str, command), capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def figure(self, value):
        return [{"name": "added", "value": value, "unit": "ms", "goal": {"at_most": 3.0}, "better": "lower"}]

    def older(self, value):
        return [{"name": "added", "value": value, "unit": "ms", "goal": "at most 4"}]

    def test_a_slower_program_fails_the_comparison_in_turns(self):
        ours, other = self.program("ours", self.figure(2)), self.program("other", self.older(1))
        code, said = self.tool("against", ours, "REF", "noop", "--other", other)
        self.assertEqual(code, 1, said)
        self.assertIn("worse beyond noise: noop: added (ms)", said)
        turns = (self.folder / "turns").read_text().split()
        self.assertEqual(turns, ["other", "ours", "ours", "other"] * 2 + ["other", "ours"])

    def test_a_faster_program_and_new_cases_pass(self):
        ours = self.program("ours", self.figure(1), "noop fresh")
        code, said = self.tool("against", ours, "REF", "noop", "fresh", "--other", self.program("other", self.older(2)))
        self.assertEqual(code, 0, said)
        self.assertIn("better beyond noise: noop: added (ms)", said)
        self.assertIn("only now", said)

    def test_a_case_that_fails_with_the_other_program_is_shown_and_with_ours_is_an_error(self):
        sound, broken = self.program("sound", self.figure(1)), self.program("broken", None)
        code, said = self.tool("against", sound, "REF", "noop", "--other", broken)
        self.assertEqual((code, "only now" in said, "ended with 3" in said), (0, True, True), said)
        code, said = self.tool("against", broken, "REF", "noop", "--other", sound)
        self.assertEqual((code, "ended with 3" in said), (1, True), said)

    def test_some_cases_leave_no_record(self):
        code, said = self.tool("run", self.program("ours", self.figure(1)), "noop")
        self.assertEqual(code, 0, said)
        self.assertFalse((self.folder / "records").exists())

    def test_the_page_is_checked_against_the_newest_record(self):
        file, records = self.folder / "page.md", self.folder / "records"
        file.write_text(f"{page.BEGIN}\n{page.END}\n")
        records.mkdir()
        shown = json.loads((TOOL.parents[1] / "docs/benchmarks/2026-11-21-772ef962.json").read_text())
        (records / "2026-11-21-1.json").write_text(json.dumps(shown))
        self.assertEqual(self.tool("page", "--check")[0], 1)
        self.assertEqual(self.tool("page")[0], 0)
        self.assertEqual(self.tool("page", "--check")[0], 0)
