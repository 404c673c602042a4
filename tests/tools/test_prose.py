"""tools/prose: what it reports in a page, and what it ignores."""

import tempfile
import unittest
from pathlib import Path

from support import load

prose = load("prose")

LONG = " ".join(["word"] * 26)


class Page(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.page = Path(folder.name) / "page.md"

    def write(self, text):
        self.page.write_text(text)
        return self.page


class Sentences(Page):
    def test_a_sentence_of_26_words_is_long_wherever_it_stands(self):
        for text in (f"{LONG}.\n", f"- {LONG}\n", f"| {LONG} | short |\n", f"# {LONG}\n", f"Short. {LONG}. Short.\n"):
            self.assertEqual(len(list(prose.long_sentences(self.write(text)))), 1, text)

    def test_one_of_25_words_code_and_lists_of_names_are_not(self):
        names = ", ".join(["`name`"] * 40)
        for text in (f"{LONG[5:]}.\n", f"```\n{LONG}\n```\n", f"Run:\n\n    {LONG}\n\nDone.\n", f"Fields are {names}.\n"):
            self.assertEqual(list(prose.long_sentences(self.write(text))), [], text)


class Words(Page):
    def test_a_word_to_avoid_is_named_with_a_better_one(self):
        page = self.write("It is read ANEW.\n\n```\nanew\n```\n")
        self.assertEqual(list(prose.avoided_words(page, prose.avoided())), ["`anew`: write `again`"])

    def test_code_and_longer_words_are_left_alone(self):
        page = self.write("Set `anew` to renewed.\n")
        self.assertEqual(list(prose.avoided_words(page, prose.avoided())), [])


class Links(Page):
    def test_files_and_headings_must_exist(self):
        (self.page.parent / "other.md").write_text("# `[secrets]` and *more*\n\n```\n# none\n```\n")
        text = "[a](other.md#secrets-and-more) [b](other.md#none) [c](missing.md) [d](#here) [e](https://example.org)\n\n## Here\n"
        dead = list(prose.dead_links(self.write(text)))
        self.assertEqual(dead, ["other.md#none: no such heading", "missing.md: no such file"])


if __name__ == "__main__":
    unittest.main()
