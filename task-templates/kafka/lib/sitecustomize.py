"""Python runs this before each program that has this folder on its path: the server may then ask it what it is at, as one that
imports `cubeloom`.

Another of this name that it hides, the environment's or the machine's, is run after it.
"""

import importlib.util
import os
import sys
from importlib.machinery import PathFinder

HERE = os.path.dirname(os.path.abspath(__file__))


def answer():
    """Loads what answers, under no name: the program may have a `cubeloom` of its own."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        found = importlib.util.spec_from_file_location("_cubeloom", os.path.join(HERE, "cubeloom.py"))
        found.loader.exec_module(importlib.util.module_from_spec(found))
    except Exception:
        # A program goes on without it, whatever is wrong here: an old Python, variables of another launcher.
        pass
    finally:
        sys.dont_write_bytecode = before


def run_next():
    """Runs the next on the path: of the folders behind this one only, for another template may have a copy of this."""
    folders = [os.path.abspath(folder) for folder in sys.path]
    behind = sys.path[folders.index(HERE) + 1 :] if HERE in folders else []
    found = PathFinder.find_spec("sitecustomize", behind)
    if found is not None and found.loader is not None:
        module = importlib.util.module_from_spec(found)
        sys.modules["sitecustomize"] = module
        found.loader.exec_module(module)


def leave_nothing():
    """Python has compiled this before it ran it: the template's folder stays as it was."""
    try:
        os.unlink(__cached__)
        os.rmdir(os.path.dirname(__cached__))
    except (NameError, TypeError, OSError):
        pass


answer()
leave_nothing()
run_next()
