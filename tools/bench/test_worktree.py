import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import worktree

MAKEFILE = """release:
\tmkdir -p $(CARGO_TARGET_DIR)/release
\tcp program $(CARGO_TARGET_DIR)/release/cubeloom
\techo built >>"$(BUILDS)"
"""


class AnotherCommit(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name) / "repository"
        (self.root / "task-templates").mkdir(parents=True)
        (self.root / "task-templates" / "one.yaml").write_text("one")
        (self.root / "Makefile").write_text(MAKEFILE)
        self.builds = Path(folder.name) / "builds"
        changed = {"XDG_CACHE_HOME": f"{folder.name}/cache", "BUILDS": str(self.builds)}
        # A hook or a rebase that runs the tests sets its own repository in these variables.
        kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        patch = mock.patch.dict(os.environ, {**kept, **changed}, clear=True)
        patch.start()
        self.addCleanup(patch.stop)
        self.git("init", "--quiet")
        self.commit("first")

    def git(self, *arguments):
        names = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *names, *arguments], cwd=self.root, check=True)

    def commit(self, program):
        (self.root / "program").write_text(program)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", program)

    def test_it_is_built_once_from_its_own_sources_and_kept(self):
        self.commit("second")
        first = worktree.commit_of(self.root, "HEAD~1")
        for _ in range(2):
            program = worktree.program_of(self.root, first)
            self.assertEqual(program.read_text(), "first")
        self.assertEqual(self.builds.read_text().split(), ["built"])
        self.assertTrue((program.parent / "task-templates" / "one.yaml").exists())

    def test_the_checkout_keeps_no_trace(self):
        program = worktree.program_of(self.root, worktree.commit_of(self.root, "HEAD"))
        self.assertFalse(program.is_relative_to(self.root))
        listed = subprocess.check_output(["git", "worktree", "list"], cwd=self.root, text=True)
        self.assertEqual(len(listed.splitlines()), 1)
        self.assertEqual([path.name for path in worktree.cache().iterdir() if path.name.endswith("-tree")], [])

    def test_what_is_no_commit_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "`nothing` is not a commit"):
            worktree.commit_of(self.root, "nothing")
