from __future__ import annotations

import pytest

from cubeloom import Client, Invalid

CHAIN = """\
apiVersion: cubeloom/v1
kind: Pipeline
name: py-part
tasks:
  - {name: make, template: command, arguments: {command: [echo, made]}}
  - {name: use, template: command, needs: [make], arguments: {command: [echo, used]}}
  - {name: end, template: command, needs: [use], arguments: {command: [echo, ended]}}
"""


def states(client: Client, run: str) -> dict[str, str]:
    return {task["name"]: task["state"] for task in client.run(run).tasks()}


def test_a_part_of_a_pipeline_is_run(client: Client) -> None:
    pipeline = client.pipeline("py-part")
    pipeline.put(CHAIN)
    with pytest.raises(Invalid) as told:
        pipeline.run(only="use")
    assert told.value.problems[0]["path"].startswith("/tasks")
    whole = pipeline.run().wait(60)
    only = pipeline.run(only="use").wait(60)
    assert states(client, only.id) == {"make": "reused", "use": "succeeded"}
    after = pipeline.run(from_="use", of=whole).wait(60)
    assert states(client, after.id) == {"make": "reused", "use": "succeeded", "end": "succeeded"}
    assert after.id in pipeline.run(only="end", of=after.id).data["message"]


def test_a_part_is_said_in_one_way(client: Client) -> None:
    pipeline = client.pipeline("py-part")
    with pytest.raises(ValueError, match="not both"):
        pipeline.run(only="use", from_="make")
    with pytest.raises(ValueError, match="only= or from_="):
        pipeline.run(of="01m7za7fzgj10ryyt14jnvkftj")
