"""The baseline of `gangs`: the same four jobs without gang scheduling.

Controllers create the pods of concurrent jobs in any order. Here each job gets one worker in turn: all begin,
none is complete, and a worker that waits for its peers waits forever.
"""

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from harness.api import Api, Object

from . import compiled, pods
from .gangs import PIPELINE

FACTS = Path("tests/cluster/facts/plain.yaml")
ROOM, GANGS = 12, 4  # GPUs; jobs of four workers each
STANDSTILL = 5.0  # seconds: a scheduler with anything to do acts in a tenth of this


def results(api: Api) -> Iterator[tuple[str, str]]:
    """None of the gangs is complete, and that does not change."""
    things = [thing for _, objects in compiled.of_pipeline(PIPELINE, FACTS) for thing in objects]
    _start_in_turn(api, things)
    waits = pods.wait(lambda: len(_waiting(api, things)) == GANGS)
    began = _begun(api, things)
    time.sleep(STANDSTILL)
    stuck = waits and began == _begun(api, things) and set(began.values()) == {ROOM // GANGS}
    yield "without gangs, four jobs where three fit start in part and none continues", "" if stuck else str(began)
    reasons = _waiting(api, things)
    told = all("Insufficient nvidia.com/gpu" in reason for reason in reasons)
    yield "each of them waits for a GPU", "" if reasons and told else str(reasons)
    pods.remove(api, things)


def _start_in_turn(api: Api, things: list[Object]) -> None:
    """Adds one pod at a time to every job, until it is complete."""
    wanted = [(thing, thing["spec"].get("parallelism", 0)) for thing in things]
    for count in range(1, max(most for _, most in wanted) + 1):
        for thing, most in wanted:
            if most:
                thing["spec"]["parallelism"] = min(count, most)
            api.apply(thing)
        made = sum(min(count, most) for _, most in wanted)
        pods.wait(lambda made=made: sum(_begun(api, things).values()) == min(made, ROOM))


def _begun(api: Api, things: list[Object]) -> Counter[str]:
    """How many workers of each job are scheduled."""
    found = (pod for pod in pods.of_jobs(api, things) if pods.place(pod))
    return Counter(pod["metadata"]["labels"]["cubeloom/job"] for pod in found)


def _waiting(api: Api, things: list[Object]) -> list[str]:
    return [reason for pod in pods.of_jobs(api, things) if (reason := pods.why_not(pod))]
