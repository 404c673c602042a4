"""Starts a task's program with `cubeloom` and the pipeline's own folder on its path.

    program.py --script train.py ARGS...     a Python file of the pipeline's folder, in this process
    program.py --code "print(1)" ARGS...     Python text, in this process
    program.py -- PROGRAM ARGS...            any other program; it replaces this process

Other templates have copies of this file and of lib/cubeloom.py, for a template is installed alone;
copies.sh makes and compares them.
"""

import importlib
import linecache
import os
import runpy
import sys
from pathlib import Path

LIB = Path(__file__).resolve().parent / "lib"
CODE = os.environ.get("CUBELOOM_CODE", os.getcwd())


def main(words):
    """Runs what the first word says; the rest are the program's own arguments."""
    match words:
        case ["--script", script, *arguments]:
            prepare()
            run_script(script, arguments)
        case ["--code", code, *arguments]:
            prepare()
            run_code(code, arguments)
        case ["--", program, *arguments]:
            prepare()
            replace_process(program, arguments)
        case _:
            sys.exit("nothing to run: give the task a `script` or a `command`")


def prepare():
    """Makes `import cubeloom` and the pipeline's modules work here and in every child, with this interpreter first."""
    lead("PYTHONPATH", CODE, str(LIB))
    # Not resolved: a virtual environment's python3 is a link out of it.
    lead("PATH", os.path.dirname(sys.executable))
    sys.path[:1] = [CODE, str(LIB)]
    import_quietly("cubeloom")
    # A log is followed while it grows, and several processes may share it: whole lines, at once.
    sys.stdout.reconfigure(line_buffering=True)


def import_quietly(module):
    """Imports a module of ours without leaving compiled files in the template's folder, which must stay as it was."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    importlib.import_module(module)
    sys.dont_write_bytecode = before


def lead(variable, *folders):
    """Puts the folders first in a path list, once each."""
    rest = [part for part in os.environ.get(variable, "").split(os.pathsep) if part and part not in folders]
    os.environ[variable] = os.pathsep.join([*folders, *rest])


def run_script(script, arguments):
    path = Path(CODE, script)
    if not path.is_file():
        sys.exit(f"the script {script!r} is not in the pipeline's folder: {path} does not exist")
    sys.argv = [str(path), *arguments]
    sys.path.insert(0, str(path.parent))
    runpy.run_path(str(path), run_name="__main__")


def run_code(code, arguments):
    """Runs Python text; the line cache lets a traceback show the text's own lines."""
    sys.argv = ["<code>", *arguments]
    linecache.cache["<code>"] = (len(code), None, code.splitlines(keepends=True), "<code>")
    exec(compile(code, "<code>", "exec"), {"__name__": "__main__"})


def replace_process(program, arguments):
    try:
        os.execvp(program, [program, *arguments])
    except OSError as error:
        sys.exit(f"cannot start {program!r}: {error.strerror}")


main(sys.argv[1:])
