"""Registers a model's file or folder as the next version of a model of the project, if it is good enough."""

import argparse
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
# The template's folder stays as it was: no compiled files in it.
sys.dont_write_bytecode = True
import cubeloom
from formats import WrongFormat, check


def main():
    options = arguments()
    sys.stdout.reconfigure(line_buffering=True)
    source = Path(os.path.abspath(cubeloom.run_dir / options.path))
    if not source.exists():
        sys.exit(f"`path`: there is no file or folder {source}")
    kind = options.format or cubeloom.model_format(source)
    try:
        check(source, kind)
    except WrongFormat as error:
        argument = "format" if options.format else "path"
        sys.exit(f"`{argument}`: {source} is no model of the format {kind}: {error}")
    except OSError as error:
        sys.exit(f"`path`: {source} cannot be read: {error}")
    if reasons := shortfalls(options):
        print(f"{options.model} is not registered: {'; '.join(reasons)}")
        return cubeloom.outputs(registered=False, path=None, digest=None, size=None)
    try:
        path = cubeloom.model(
            options.model,
            source,
            format=kind,
            metrics=options.metrics,
            parameters=options.parameters,
            data=options.data,
            description=options.description,
            alias=options.alias,
        )
    except (OSError, ValueError) as error:
        sys.exit(f"{options.model} cannot be registered: {error}")
    digest, size = cubeloom.model_digest(cubeloom.workspace / path / source.name)
    print(f"{options.model}: {size} bytes in {path}, {digest}")
    cubeloom.outputs(registered=True, path=path, digest=digest, size=size)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="the model's name")
    parser.add_argument("--path", required=True, help="its file or folder, relative to the run's folder")
    parser.add_argument("--format", help="what it is written in; by its ending if not said")
    parser.add_argument("--metrics", type=json.loads, default={})
    parser.add_argument("--least", type=json.loads, default={}, help="the least value of metrics")
    parser.add_argument("--most", type=json.loads, default={}, help="the largest value of metrics")
    parser.add_argument("--parameters", type=json.loads, default={})
    parser.add_argument("--data", type=json.loads, default=[])
    parser.add_argument("--description")
    parser.add_argument("--alias")
    return parser.parse_args()


def shortfalls(options):
    """Why the model is not good enough."""
    for argument, bounds in (("least", options.least), ("most", options.most)):
        if unknown := [name for name in bounds if name not in options.metrics]:
            known = ", ".join(f"`{name}`" for name in options.metrics) or "none"
            sys.exit(f"`{argument}`: there is no metric `{unknown[0]}` among `metrics`, which has {known}")
    low = [
        f"{name} is {options.metrics[name]:g}, below the {bound:g} that `least` asks for"
        for name, bound in options.least.items()
        if options.metrics[name] < bound
    ]
    high = [
        f"{name} is {options.metrics[name]:g}, above the {bound:g} that `most` allows"
        for name, bound in options.most.items()
        if options.metrics[name] > bound
    ]
    return low + high


main()
