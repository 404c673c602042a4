"""Looks for what WeNet's training is to read, then has torchrun start it in this worker (main.py), in the recipe's folder.

    launch.py --processes N --recipe FOLDER [--script FILE] --config=... --train_data=... --cv_data=... --model_dir=... ...

What is not named here is an option of WeNet's train.py, and reaches it as it is.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(1, str(HERE / "lib"))
import cubeloom

#: Where the image has WeNet.
WENET = Path(os.environ.get("WENET_ROOT", "/opt/wenet"))
#: Options of train.py that name a file which is read.
FILES = ("config", "train_data", "cv_data", "checkpoint", "deepspeed_config")


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--processes", required=True)
    parser.add_argument("--recipe", type=Path, required=True)
    parser.add_argument("--script")
    parser.add_argument("--model_dir", type=Path, required=True)
    for name in FILES:
        parser.add_argument(f"--{name}", type=Path)
    wanted, more = parser.parse_known_args()
    script = wanted.script or str(WENET / "wenet/bin/train.py")
    if not wanted.script and not os.path.isfile(script):
        sys.exit(f"WeNet is not here: {script} does not exist; the template's image has it")
    enter(wanted.recipe)
    model_dir = Path(os.path.abspath(wanted.model_dir))
    model_dir.mkdir(parents=True, exist_ok=True)
    if wanted.checkpoint is None and int(os.environ["CUBELOOM_ATTEMPT"]) > 1:
        # WeNet finds beside a model how far it was.
        wanted.checkpoint = last(model_dir)
    files = {name: getattr(wanted, name) for name in FILES if getattr(wanted, name)}
    for name, file in files.items():
        if not file.is_file():
            sys.exit(f"`{name}`: there is no file {Path.cwd() / file}")
    words = [f"--{name}={file}" for name, file in (files | {"model_dir": model_dir}).items()]
    os.environ["PYTHONPATH"] = os.pathsep.join([str(WENET), *filter(None, [os.environ.get("PYTHONPATH")])])
    starter = [sys.executable, str(HERE / "main.py"), wanted.processes, "0"]
    done = subprocess.run([*starter, "--script", script, *words, *more])
    if done.returncode:
        sys.exit(done.returncode if done.returncode > 0 else 128 - done.returncode)
    if os.environ["CUBELOOM_RANK"] == "0":
        report(model_dir)


def enter(recipe):
    """The names in a recipe's files are relative to its folder."""
    try:
        os.chdir(recipe)
    except OSError as error:
        sys.exit(f"`recipe`: {recipe}: {error.strerror}")


def last(model_dir):
    """The model of the last epoch that was saved whole: what WeNet knows of it is written after it."""
    saved = [file for file in model_dir.glob("epoch_*.pt") if file.with_suffix(".yaml").is_file()]
    return max(saved, key=lambda file: int(file.stem.partition("_")[2]), default=None)


def report(model_dir):
    if (model := last(model_dir)) is None:
        sys.exit(f"the training ended well, and left no epoch_*.pt in {model_dir}")
    cubeloom.outputs(model=str(model), epochs=len(list(model_dir.glob("epoch_*.pt"))))


main()
