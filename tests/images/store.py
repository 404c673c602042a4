"""Images, in a store of their own: nothing is left in the one of this machine's user."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: Where images, and what pods write, are while the tests run.
STATE = Path(os.environ.get("CUBELOOM_TEST_IMAGES", "/var/tmp/cubeloom-images"))
#: Where repositories are to be had on this machine, in place of their own addresses: `ADDRESS=MIRROR`, with blanks between.
MIRRORS = os.environ.get("CUBELOOM_TEST_MIRRORS", "")
#: How long a build may take, in seconds.
PATIENCE = 7200


def buildah(*words: str | Path, log: Path | None = None) -> str:
    """What it prints; with a log, what it says on the way goes there. Raises `CalledProcessError`."""
    command = ["buildah", "--root", STATE / "storage", "--runroot", STATE / "run", "--storage-driver", "overlay", *words]
    environment = {**os.environ, "BUILDAH_ISOLATION": "chroot"}
    if log is None:
        done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout.strip()
    with log.open("a") as into:
        subprocess.run(command, env=environment, check=True, stdout=into, stderr=into, timeout=PATIENCE)
    return ""


def build(name: str, file: Path, context: Path, log: Path, sources: str = "") -> None:
    """Builds a Dockerfile as it is, from bases that are here: no registry is asked. `sources` is the argument of it that names
    a repository, in whose place its mirror is taken where there is one."""
    given = mirror(sources, file.read_text()) if sources else []
    buildah("bud", "--pull-never", "--format", "docker", "-t", name, *given, "-f", file, context, log=log)


def mirror(argument: str, text: str) -> list[str]:
    """What tells a build of a repository's mirror: another address, or a folder of this machine, which the build can read."""
    usual = re.findall(rf"^ARG {argument}=(\S+)$", text, re.MULTILINE)[0]
    there = dict(one.split("=", 1) for one in MIRRORS.split()).get(usual)
    if there is None:
        return []
    if not Path(there).is_dir():
        return ["--build-arg", f"{argument}={there}"]
    return ["--build-arg", f"{argument}=/mirror", "--volume", f"{there}:/mirror:ro"]


@contextmanager
def container(image: str) -> Iterator[Path]:
    """The files of a container of an image, which may be changed."""
    name = buildah("from", "--pull-never", image)
    try:
        yield Path(buildah("mount", name))
    finally:
        buildah("rm", name)


def has(image: str) -> bool:
    """Whether an image is here."""
    return image in buildah("images", "--format", "{{.Name}}:{{.Tag}}").splitlines()


def remove(image: str) -> None:
    """Removes an image; its base stays."""
    buildah("rmi", "--force", image)


def size(image: str) -> int:
    """The bytes of its files, its base's among them."""
    with container(image) as root:
        counted = subprocess.run(["du", "-s", "-B1", "-x", root], check=True, stdout=subprocess.PIPE, text=True)
    return int(counted.stdout.split()[0])


def variables(image: str) -> dict[str, str]:
    """The variables that an image gives to its programs."""
    told = json.loads(buildah("inspect", "--type", "image", image))["OCIv1"]["config"].get("Env")
    return dict(one.split("=", 1) for one in told or [])
