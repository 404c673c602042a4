"""What one process of an MXNet job does.

    main.py --script train.py ARGS...     runs the user's script, with `cubeloom` on its path
    main.py -- PROGRAM ARGS...            or any other program of theirs
    main.py --serve                       is the scheduler, or a server, whichever `DMLC_ROLE` says

Scheduler and servers end when all workers have said goodbye to them, which a worker does at its end.
"""

import os
import runpy
import sys
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main(words):
    listen_anywhere()
    match words:
        case ["--serve"]:
            serve()
        case ["--script", _, *_]:
            run_script(words)
        case ["--", _, *_]:
            run(words)
        case _:
            sys.exit("main.py --script FILE ARGS... | -- PROGRAM ARGS... | --serve")


def listen_anywhere():
    """On a cluster the scheduler's name is a service's, which nobody can listen at; MXNet has a setting for that."""
    if not os.environ["DMLC_PS_ROOT_URI"][:1].isdigit():
        os.environ.setdefault("DMLC_USE_KUBERNETES", "1")


def serve():
    """Importing MXNet in a process that is no worker serves until the job ends, and exits."""
    print(f"{os.environ['DMLC_ROLE']} {os.environ['CUBELOOM_INDEX']} serves", flush=True)
    import mxnet

    sys.exit(f"MXNet {mxnet.__version__} takes this process for a worker: DMLC_ROLE is {os.environ['DMLC_ROLE']!r}")


def run(words):
    sys.argv = [str(HERE / "program.py"), *words]
    runpy.run_path(sys.argv[0], run_name="__main__")


def run_script(words):
    """A script that fails ends at once: else MXNet would wait here for all workers, and they for this one's gradients."""
    try:
        run(words)
    except SystemExit as end:
        if end.code in (None, 0):
            raise
        if not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
        leave(end.code if isinstance(end.code, int) else 1)
    except BaseException:
        traceback.print_exc()
        leave(1)


def leave(code):
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


main(sys.argv[1:])
