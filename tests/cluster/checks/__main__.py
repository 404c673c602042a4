"""Runs every check, says each result on a line, and ends with `N passed, N failed`."""

import os
import sys
from pathlib import Path

from harness.api import Api

from . import acceptance, endings, gangs, project


def main() -> int:
    api = Api.of(Path(os.environ["KUBECONFIG"]))
    project.make(api)
    passed = failed = 0
    for name, wrong in [*acceptance.results(api), *endings.results(api), *gangs.results(api)]:
        print(f"{'FAIL' if wrong else 'ok  '} {name}{': ' + wrong if wrong else ''}", flush=True)
        passed, failed = passed + (not wrong), failed + bool(wrong)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
