"""The ledger's summary of a run (tools/ledger)."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

from support import load

ledger = load("ledger")

JUNIT = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="ci"><testsuite name="cubeloom-tests::it">
<testcase name="api::holds"/>
<testcase name="api::is_flaky"><flakyFailure message="first"><system-err>it was too slow</system-err></flakyFailure></testcase>
<testcase name="api::fails"><failure message="second">left: 1</failure><system-err>said before
stack backtrace:
   0: core::panicking::panic_fmt
and last</system-err></testcase>
</testsuite></testsuites>"""


class Ledger(unittest.TestCase):
    def printed(self, report, argument):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            report(argument)
        return out.getvalue()

    def test_the_end_of_each_failed_try_is_printed(self):
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            Path(file.name).write_text(JUNIT)
            said = self.printed(ledger.report_failures, file.name)
        self.assertEqual(said, "\nflakyFailure: api::is_flaky\n    it was too slow\n"
                               "\nfailure: api::fails\n    left: 1\n    said before\n    and last\n")

    def test_what_failed_and_what_each_part_cost_comes_last(self):
        lines = [
            '{"part": "tests", "seconds": 60, "core_seconds": 90, "code": 100}',
            '{"binary": "cubeloom-tests::it", "test": "api::fails", "core_seconds": 2, "code": 101}',
            '{"binary": "cubeloom-store::store", "test": "x", "core_seconds": 1, "code": 0}',
        ]
        said = self.printed(ledger.report, "\n".join(lines))
        self.assertLess(said.index("crate store"), said.index("failed at least once: api::fails"))
        self.assertTrue(said.endswith("tests (exit 100)      90      1.0\ntogether              90\n"), said)


if __name__ == "__main__":
    unittest.main()
