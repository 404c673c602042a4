"""Runs every check, prints one line per result, and ends with `N passed, N failed`."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from harness.api import Api

from . import acceptance, chart, crews, deadlock, endings, exclusive, gangs, identity
from . import installed, interrupted, kueue, placement, programs, project, rights, spark

SIMULATED = (acceptance, identity, exclusive, endings, kueue, deadlock, gangs, placement, chart, rights)
# These need a real node.
REAL = (programs, crews, spark, installed, interrupted)


def results(api: Api) -> Iterator[tuple[str, str]]:
    """Every check's name and error."""
    for each in (*SIMULATED, *(REAL if "CUBELOOM_TEST_WORKSPACE" in os.environ else ())):
        yield from each.results(api)


def main() -> int:
    api = Api.of(Path(os.environ["KUBECONFIG"]))
    project.make(api)
    passed = failed = 0
    for name, wrong in results(api):
        print(f"{'FAIL' if wrong else 'ok  '} {name}{': ' + wrong if wrong else ''}", flush=True)
        passed, failed = passed + (not wrong), failed + bool(wrong)
    print(f"{passed} passed, {failed} failed")
    if "CUBELOOM_TEST_WORKSPACE" not in os.environ:
        why = os.environ.get("CUBELOOM_TEST_NO_NODE", "the cluster was brought up without --node")
        print(f"skipped: {', '.join(each.__name__.removeprefix('checks.') for each in REAL)}: {why}")
    return 1 if failed else 0


sys.exit(main())
