"""Builds Horovod for this machine's PyTorch, with Gloo, into a folder of the workspace; does nothing where that is there.

It needs a compiler, cmake and the headers of Python and PyTorch (README.md), and several minutes.
"""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import cubeloom
import torch

VERSION = "0.28.1"
BUILD = {
    "HOROVOD_WITH_PYTORCH": "1",
    "HOROVOD_WITH_GLOO": "1",
    "HOROVOD_WITHOUT_MPI": "1",
    "HOROVOD_WITHOUT_TENSORFLOW": "1",
    "HOROVOD_WITHOUT_MXNET": "1",
    # Else eight compilers run at once, each with up to 2 GB of memory.
    "MAKEFLAGS": f"-j{min(2, os.cpu_count() or 1)}",
}

name = f"horovod-{VERSION}-torch-{torch.__version__}-python-{platform.python_version()}"
folder = Path(cubeloom.workspace, name)
if not folder.exists():
    aside = Path(cubeloom.workspace, f"{name}.{os.environ['CUBELOOM_RUN']}")
    shutil.rmtree(aside, ignore_errors=True)
    # Not isolated: it is built for the PyTorch that this environment has.
    options = ["--no-build-isolation", "--no-deps", "--no-binary", "horovod", "--no-cache-dir", "--target", str(aside)]
    command = [sys.executable, "-m", "pip", "install", *options, f"horovod=={VERSION}"]
    subprocess.run(command, env=os.environ | BUILD, check=True)
    try:
        aside.rename(folder)
    except OSError:
        # Another run was faster.
        shutil.rmtree(aside)
cubeloom.outputs(package=str(folder))
