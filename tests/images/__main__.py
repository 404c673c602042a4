"""Builds each task template's image from its Dockerfile, runs its example, and removes it: one line per
template.

Its image runs the example's tasks of other templates as well: their programs are put beside its own. So is
the program `cubeloom`, which pods find at /usr/local/bin.
"""

import json
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from . import bases, network, pods, store

TEMPLATES = Path("task-templates").resolve()
EXAMPLES = Path("examples").resolve()
PROGRAM = Path("target/debug/cubeloom").resolve()
IN_IMAGES = "opt/cubeloom/task-templates"
#: A container runtime's default for an image that sets no PATH.
PATHS = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
UID = 10000
#: Timeout of a task, in seconds.
PATIENCE = 600.0
#: How many log lines of a failed build or pod are printed.
LAST_LINES = 15

TRANSFER = "ghcr.io/cubeloom/transfer:1.0.0"
MODELS = "ghcr.io/cubeloom/model-convert:1.0.0"
PLAIN = "ghcr.io/cubeloom/python:1.0.0"


@dataclass(frozen=True)
class Case:
    """How to test an image."""

    #: Its base images.
    bases: tuple[str, ...] = (bases.PYTHON,)
    #: The template whose example is run, if its own needs outputs that only an engine passes on.
    example: str = ""
    #: Skipped tasks of the example with their outputs: the image contains what they create.
    given: dict[str, dict[str, object]] = field(default_factory=dict)
    #: Instead of an example that needs a server: a program that the image must be able to run.
    instead: tuple[str, ...] = ()
    #: The name of that program.
    said: str = ""
    #: A folder of `examples` whose tasks of this template, and of those that its image can run, are run as
    #: well.
    more: str = ""
    #: The Dockerfile's argument with the repository of the sources that it compiles.
    sources: str = ""
    #: The template whose image runs the example's tasks of other templates, if this image lacks their
    #: packages.
    others: str = ""


DEBIAN = Case((bases.DEBIAN,))
#: The example of `http` has a server in another task, so in another pod with its own loopback.
SERVED = """
python3 -m http.server 8000 &
python3 /opt/cubeloom/task-templates/http/call.py --url=http://127.0.0.1:8000/ --method=GET --expect 200 --timeout=5 --retries=5
"""
# Images that others need come before them; the large ones come last.
CASES = {
    "command": DEBIAN,
    "download": DEBIAN,
    "transfer": Case((bases.DEBIAN, bases.CUBELOOM)),
    "hdfs-pull": Case((TRANSFER,), instead=("cubeloom", "transfer", "--help"), said="`cubeloom transfer --help`"),
    "hdfs-push": Case((TRANSFER,), instead=("cubeloom", "transfer", "--help"), said="`cubeloom transfer --help`"),
    "http": Case(instead=("sh", "-ec", SERVED), said="a call of a server beside it"),
    "indexed": Case(),
    "python": Case(),
    "queue": Case(instead=("python3", f"/{IN_IMAGES}/queue/consume.py", "--help"), said="`consume.py --help`"),
    "kafka": Case(instead=("python3", f"/{IN_IMAGES}/kafka/consume.py", "--help"), said="`consume.py --help`"),
    "mpi": Case(),
    "sql": Case(),
    "xgboost": Case(),
    "nni": Case(),
    "mxnet": Case(),
    "model-convert": Case(),
    "model-evaluate": Case((bases.PYTHON, MODELS), others=MODELS, example="model-register"),
    "model-predict": Case((bases.PYTHON, MODELS), others=MODELS),
    "model-register": Case(
        (bases.PYTHON, MODELS),
        others=MODELS,
        instead=("python3", f"/{IN_IMAGES}/model-register/register.py", "--help"),
        said="`register.py --help`",
    ),
    "video": DEBIAN,
    "jax": Case(),
    "ray": Case(),
    "spark": Case((bases.SPARK,)),
    "paddle": Case(),
    "pytorch": DEBIAN,
    "deepspeed": DEBIAN,
    "megatron": DEBIAN,
    "pytorch-export": DEBIAN,
    "recommenders": DEBIAN,
    "tensorflow": Case(),
    "horovod": Case((bases.DEBIAN,), given={"build": {"package": ""}}),
    "kaldi": Case((bases.DEBIAN,), more="speech", sources="KALDI_REPOSITORY"),
    "wenet": Case(more="speech", sources="WENET_REPOSITORY"),
}


class Failed(Exception):
    """A failure, and the log with the details."""

    def __init__(self, sentence: str, log: Path) -> None:
        lines = log.read_text(errors="replace").splitlines()[-LAST_LINES:] if log.exists() else []
        super().__init__("".join([sentence, *(f"\n    | {line}" for line in lines)]))


def main() -> int:
    wanted = sys.argv[1:] or list(CASES)
    unknown = [name for name in wanted if name not in CASES]
    missing = [file.parent.name for file in TEMPLATES.glob("*/Dockerfile") if file.parent.name not in CASES]
    if unknown or missing:
        print(f"images: no such template, or one that is not tested: {', '.join(unknown + missing)}", file=sys.stderr)
        return 2
    store.STATE.mkdir(parents=True, exist_ok=True)
    # Leftovers of a killed run.
    store.buildah("rm", "--all")
    for image, truth in bases.STAND_INS.items():
        print(f"stand-in: {image} is {truth}", flush=True)
    failed = [name for name in wanted if not check(name)]
    for image in filter(store.has, (TRANSFER, MODELS)):
        store.remove(image)
    print(f"{len(wanted) - len(failed)} of {len(wanted)} as they should be")
    return bool(failed)


def check(name: str) -> bool:
    """Builds one image, runs its example, removes it. Prints and returns whether all succeeded."""
    case, image, began = CASES[name], f"ghcr.io/cubeloom/{name}:1.0.0", time.monotonic()
    try:
        build(name)
        built = time.monotonic()
        told = run(name, case, image)
        size = store.size(image) / 1e6
        print(f"{name}: built in {built - began:.0f} s, {size:.0f} MB; {told} in {time.monotonic() - built:.0f} s", flush=True)
        return True
    except Failed as failure:
        print(f"{name}: FAILED: {failure}", flush=True)
        return False
    finally:
        needed = any(image in other.bases for other in CASES.values())
        if not needed and store.has(image):
            store.remove(image)


def build(name: str) -> None:
    """Builds an image, and the images that it or its example needs."""
    image, log = f"ghcr.io/cubeloom/{name}:1.0.0", store.STATE / f"{name}.build.log"
    log.unlink(missing_ok=True)
    try:
        for base in CASES[name].bases:
            if base in (TRANSFER, MODELS):
                if not store.has(base):
                    build(base.split("/")[-1].split(":")[0])
            else:
                bases.make(base, log, PROGRAM)
        store.build(image, TEMPLATES / name / "Dockerfile", TEMPLATES, log, CASES[name].sources)
    except subprocess.SubprocessError as error:
        raise Failed(f"it was not built: {error}", log) from error


def run(name: str, case: Case, image: str) -> str:
    """Runs the tasks of its example and of the additional one in the image. Returns a description of what
    ran."""
    said = run_file(case, image, TEMPLATES / (case.example or name) / "example.yaml")
    if case.more:
        said += f"; of `examples/{case.more}`: " + run_file(case, image, EXAMPLES / case.more / "pipeline.yaml")
    return said


def run_file(case: Case, image: str, file: Path) -> str:
    """Runs the tasks of a pipeline. Returns a description of them."""
    folder = store.STATE / "example"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "workspace").mkdir(parents=True)
    told = pods.compile_file(PROGRAM, TEMPLATES, file, folder / "facts.yaml")
    outputs = dict(case.given)
    ran, left, own = [], [], False
    for one in (one for one in told if one["task"] not in case.given):
        task = pods.task(one, outputs)
        if isinstance(task, str):
            left.append(f"{one['task']} ({task})")
            continue
        if case.more and not any(pod.image in (image, PLAIN) for pod in task.pods):
            left.append(f"{task.name} (it has another image)")
            continue
        if case.instead:
            task = pods.Task(task.name, [replace(task.pods[0], image=image, commands=[list(case.instead)])])
        run_task(file.parent, case, image, task, folder)
        own = own or any(pod.image == image for pod in task.pods)
        outputs[task.name] = reported(folder, task)
        ran.append(words(task, outputs[task.name]))
        if case.instead:
            return case.said
    if not own:
        raise Failed(f"no task of its example could be run: {', '.join(left)}", Path("/nonexistent"))
    return ", ".join(ran) + (f", not {', '.join(left)}," if left else "")


def run_task(code: Path, case: Case, image: str, task: pods.Task, folder: Path) -> None:
    """Runs a task's pods to their end."""
    hosts = "".join(f"{pod.address} {' '.join(pod.hosts)}\n" for pod in task.pods)
    with ExitStack() as containers:
        files = []
        for pod in task.pods:
            used = case.others if case.others and pod.image != image else image
            root = containers.enter_context(store.container(used))
            files.append(describe(pod, used, root, hosts, folder, code))
        well, sentence = network.run(files, PATIENCE)
    if not well:
        guilty = next((file for file in files if sentence.startswith(file.stem)), files[0])
        raise Failed(f"{task.name}: {sentence}", guilty.with_suffix(".log"))


def describe(pod: pods.Pod, image: str, root: Path, hosts: str, folder: Path, code: Path) -> Path:
    """Prepares a pod's mounts, and writes its description."""
    own = folder / pod.name
    own.mkdir()
    (own / "hosts").write_text(f"127.0.0.1 localhost\n{hosts}")
    mounts = [mount(one, own, folder, code) for one in pod.mounts if one["mountPath"] != "/tmp"]
    mounts.append((str(own / "hosts"), "/etc/hosts", True))
    template = pod.variables["CUBELOOM_TEMPLATE_DIR"].rsplit("/", 1)[1]
    if not (root / IN_IMAGES / template).exists():
        mounts.append((str(TEMPLATES / template), f"/{IN_IMAGES}/{template}", True))
    if not (root / "usr/local/bin/cubeloom").exists():
        mounts.append((str(PROGRAM), "/usr/local/bin/cubeloom", True))
    for source, target, _ in mounts:
        at = root / target[1:]
        (at if Path(source).is_dir() else at.parent).mkdir(parents=True, exist_ok=True)
        if not at.exists():
            at.touch()
    file = folder / f"{pod.name}.json"
    file.write_text(
        json.dumps(
            {
                "name": pod.name,
                "role": pod.role,
                "root": str(root),
                "mounts": mounts,
                "folder": "/cubeloom/work",
                "uid": UID,
                "commands": pod.commands,
                "variables": PATHS | store.variables(image) | pod.variables,
                "address": pod.address,
            }
        )
    )
    return file


def mount(one: dict[str, object], own: Path, folder: Path, code: Path) -> tuple[str, str, bool]:
    """The source of a mount: the workspace's folder, the example's own, or a folder of the pod."""
    target = str(one["mountPath"])
    if target == "/cubeloom/code":
        return str(code), target, True
    source = folder / "workspace" / str(one["subPath"]) if one["name"] == "workspace" else own / str(one["name"])
    source.mkdir(parents=True, exist_ok=True)
    for path in (source, *source.parents):
        if path == folder:
            break
        shutil.chown(path, UID, UID)
    return str(source), target, False


def words(task: pods.Task, reported: dict[str, object]) -> str:
    """A task, its number of workers, and the measurements among its outputs."""
    workers = f" with {len(task.pods)} workers" if len(task.pods) > 1 else ""
    figures = ", ".join(f"{name} {value:.4g}" for name, value in reported.items() if isinstance(value, float))
    return task.name + workers + (f" ({figures})" if figures else "")


def reported(folder: Path, task: pods.Task) -> dict[str, object]:
    """The outputs of a task, from all workers together."""
    found: dict[str, object] = {}
    for file in sorted((folder / "workspace").glob(f"runs/*/.attempts/{task.name}/**/outputs.jsonl")):
        for line in file.read_text().splitlines():
            found |= json.loads(line).get("output", {})
    return found


if __name__ == "__main__":
    sys.exit(main())
