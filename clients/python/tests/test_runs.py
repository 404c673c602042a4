from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from cubeloom import Client, Conflict, NotFound, Run, RunFailed, WaitTimedOut

from .conftest import Proxy


def document(name: str, script: str) -> str:
    lines = "\n".join(f"          {line}" for line in script.splitlines())
    return (
        f"apiVersion: cubeloom/v1\nkind: Pipeline\nname: {name}\ntasks:\n  - name: work\n    template: command\n"
        f"    arguments:\n      command:\n        - sh\n        - -c\n        - |\n{lines}\n"
    )


def start(client: Client, script: str, **parameters: Any) -> Run:
    return client.run_document(document("py-run", script), parameters)


def test_a_run_is_waited_for_and_read(client: Client, tmp_path: Path) -> None:
    run = start(
        client,
        "echo first; echo wrong >&2\n"
        'echo picture > "$CUBELOOM_RUN_DIR/shown.txt"\n'
        'echo \'{"output": {"rows": 3}}\' >> "$CUBELOOM_OUTPUTS"\n'
        'echo \'{"metric": {"name": "loss", "value": 0.5, "step": 1}}\' >> "$CUBELOOM_OUTPUTS"\n'
        'echo \'{"artifact": {"name": "what it made", "path": "shown.txt"}}\' >> "$CUBELOOM_OUTPUTS"\n',
    )
    run.wait(60)
    assert run.state == "succeeded" and run.ended
    assert {(line.stream, line.text) for line in run.logs()} == {("stdout", "first"), ("stderr", "wrong")}
    assert run.outputs() == {"work": {"rows": 3}}
    assert [(series["name"], series["last"]) for series in run.metrics()] == [("loss", 0.5)]
    artifact = run.artifacts()[0]
    assert artifact["name"] == "what it made"
    assert run.download(artifact["path"], tmp_path).read_text() == "picture\n"
    assert [task["name"] for task in run.tasks()] == ["work"]
    assert run.id in [each.id for each in client.runs("default")]


def test_a_run_that_fails_says_so(client: Client) -> None:
    run = start(client, "echo no such table; exit 3")
    with pytest.raises(RunFailed) as raised:
        run.wait(60)
    error = raised.value
    assert (error.run, error.state, error.task, error.exit_code) == (run.id, "failed", "work", 3)
    assert error.last_lines == ["no such table"] and error.item is None
    for part in ["task work", "exit code 3", "| no such table", error.url]:
        assert part in str(error)
    assert error.url.endswith(f"/runs/{run.id}")
    assert run.wait(check=False).state == "failed"


def test_the_item_that_failed_is_named(client: Client) -> None:
    text = document("py-items", "test {{ item }} != b").replace("    arguments:", "    for_each: {list: [a, b]}\n    arguments:")
    run = client.run_document(text)
    with pytest.raises(RunFailed, match=r"task work \(item 'b'\)"):
        run.wait(60)


def test_a_run_is_cancelled(client: Client) -> None:
    run = start(client, "sleep 60")
    with pytest.raises(WaitTimedOut):
        run.wait(0.2)
    run.cancel()
    assert run.wait(30, check=False).state == "cancelled"


def test_what_failed_is_resumed_done_again_and_deleted(client: Client, tmp_path: Path) -> None:
    # A run's folder is its own: whether the second task may succeed stands there.
    text = document("py-again", "echo did it >> $CUBELOOM_RUN_DIR/first.txt") + (
        "  - name: then\n    template: command\n    needs: [work]\n    arguments:\n      command:\n"
        "        - sh\n        - -c\n        - |\n"
        "          [ -e $CUBELOOM_RUN_DIR/tried ] || { touch $CUBELOOM_RUN_DIR/tried; exit 3; }\n"
    )
    run = client.run_document(text)
    assert run.wait(60, check=False).state == "failed"
    run.resume().wait(60)
    first = run.download("first.txt", tmp_path)
    assert first.read_text() == "did it\n", "what had succeeded was kept"
    run.rerun("work").wait(60)
    assert run.download("first.txt", tmp_path).read_text() == "did it\n" * 2, "it was done again"
    with pytest.raises(Conflict):
        run.resume()
    run.delete()
    with pytest.raises(NotFound):
        client.run(run.id)


def test_logs_are_followed_over_lost_connections(client: Client, proxy: Proxy) -> None:
    run = start(client, "for i in 0 1 2 3 4 5 6 7 8 9; do echo line $i; sleep 0.3; done")
    with Client(proxy.url, token=client.transport._headers["authorization"].removeprefix("Bearer ")) as beside:
        seen = []
        for line in beside.run(run.id).logs("work", follow=True):
            seen.append(line.text)
            if len(seen) in (2, 6):
                proxy.cut()
    assert seen == [f"line {i}" for i in range(10)], "nothing twice, nothing lost, in order"
    assert proxy.accepted >= 3


def test_what_was_asked_for_once_is_made_once(client: Client, proxy: Proxy) -> None:
    before = {run.id for run in client.runs("default")}
    with Client(proxy.url, token=client.transport._headers["authorization"].removeprefix("Bearer ")) as beside:
        proxy.swallow_answers(1)
        run = start(beside, "true")
    assert proxy.accepted >= 2, "the first answer was lost, and it was asked again"
    assert {each.id for each in client.runs("default")} - before == {run.id}
    client.run(run.id).wait(60)


def test_events_tell_of_the_end(client: Client) -> None:
    run = start(client, "sleep 1")
    states: list[str] = []
    done = threading.Event()

    def listen() -> None:
        for event in run.events():
            if event.name == "run":
                states.append(event.data["run"]["state"])
                if states[-1] == "succeeded":
                    break
        done.set()

    threading.Thread(target=listen, daemon=True).start()
    assert done.wait(30), states
    time.sleep(0)
    assert states[-1] == "succeeded"
