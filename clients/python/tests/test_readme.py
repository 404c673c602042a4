"""The example of the README does what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cubeloom import Client

README = Path(__file__).parent.parent / "README.md"


def test_the_example_runs(
    client: Client, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert example is not None
    monkeypatch.chdir(tmp_path)
    exec(compile(example[1], str(README), "exec"), {"__name__": "__main__"})
    said = capsys.readouterr().out.splitlines()
    assert said == ["word 1", "word 2", "word 3", "word 4", "{'words': 4}"]
    assert (tmp_path / "words.txt").read_text() == "1\n2\n3\n4\n"
    client.pipeline("words").delete()
