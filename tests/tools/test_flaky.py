"""Only tests in tests/flaky.toml are retried, each with the cause and the date."""

import tomllib
import unittest
from datetime import date

from support import ROOT


class Retries(unittest.TestCase):
    def test_each_has_a_cause_and_a_date(self):
        config = tomllib.loads((ROOT / ".config/nextest.toml").read_text())
        flaky = tomllib.loads((ROOT / "tests/flaky.toml").read_text()).get("flaky", [])
        retried = set()
        for name, profile in config["profile"].items():
            self.assertNotIn("retries", profile, f"profile {name} tries every test again")
            retried |= {override["filter"] for override in profile.get("overrides", []) if "retries" in override}
        self.assertEqual(retried, {entry["filter"] for entry in flaky})
        for entry in flaky:
            self.assertIsInstance(entry["since"], date)
            self.assertGreater(len(entry["cause"]), 20)


if __name__ == "__main__":
    unittest.main()
