"""The map from changed files to tests (tests/map.toml) names only existing tests, and covers every page and
endpoint."""

import re
import unittest

from support import ROOT, load

tests_of = load("tests-of")


def exists(name):
    """Whether a test's name begins with a module, a browser file or a function of the integration tests."""
    parts = name.strip(":").split("::")
    if parts[0] == "e2e":
        return (ROOT / f"tests/e2e/{parts[1].replace('_', '-')}.test.mjs").exists()
    whole = ROOT / "tests/it" / "/".join(parts)
    above = whole.parent.with_suffix(".rs")
    function = above.exists() and f"fn {parts[-1]}" in above.read_text()
    return function or whole.is_dir() or whole.with_suffix(".rs").exists()


class Map(unittest.TestCase):
    def test_names_tests_that_exist(self):
        unknown = [name for names in tests_of.rules().values() for name in names if not exists(name)]
        self.assertEqual(unknown, [])

    def test_has_a_rule_for_every_endpoint_and_page(self):
        folders = ("server/web/src/api/*", "server/web/src/pages/*", "frontend/src/pages/*.ts", "frontend/src/*/*.tsx")
        paths = [str(path.relative_to(ROOT)) for folder in folders for path in ROOT.glob(folder)]
        paths = [path if "." in path.rsplit("/", 1)[1] else f"{path}/mod.rs" for path in paths]
        self.assertGreater(len(paths), 100)
        without = [path for path in paths if not tests_of.tests_of([path], tests_of.rules())]
        self.assertEqual(without, [])

    def test_every_rule_holds_for_a_file(self):
        files = tests_of.git("ls-files")
        idle = [pattern for pattern in tests_of.rules() if not any(re.search(pattern, file) for file in files)]
        self.assertEqual(idle, [])


class Options(unittest.TestCase):
    def test_a_crate_brings_its_own_tests(self):
        words = tests_of.options(["server/engine/src/driver.rs"], {})
        self.assertIn("--lib", words)
        self.assertIn("--test=engine", words)
        self.assertEqual(words[-1], "-E=(package(cubeloom-engine))")

    def test_the_units_of_web_are_not_built(self):
        words = tests_of.options(["server/web/src/api/me/get.rs"], {"api/me/": ["api::identity"]})
        self.assertEqual(words, ["--test=it", "-E=(package(cubeloom-web)) or (package(cubeloom-tests) and test(/^(api::identity)/))"])

    def test_a_changed_test_is_run(self):
        self.assertEqual(tests_of.tests_of(["tests/e2e/sub-runs.test.mjs", "tests/it/api/runs/live.rs"], {}), ["api::runs::live", "e2e::sub_runs"])

    def test_nothing_is_run_for_a_text(self):
        self.assertEqual(tests_of.options(["docs/usage.md"], {}), [])


if __name__ == "__main__":
    unittest.main()
