"""Images in their own store, so that this user's store stays unchanged."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: The folder of images, and of the pods' files, while the tests run.
STATE = Path(os.environ.get("CUBELOOM_TEST_IMAGES", "/var/tmp/cubeloom-images"))
#: Mirrors of repositories, instead of their own addresses: `ADDRESS=MIRROR`, separated by blanks.
MIRRORS = os.environ.get("CUBELOOM_TEST_MIRRORS", "")
#: Timeout of a build, in seconds.
PATIENCE = 7200


def buildah(*words: str | Path, log: Path | None = None) -> str:
    """The standard output. With a log, standard error goes there. Raises `CalledProcessError`."""
    command = ["buildah", "--root", STATE / "storage", "--runroot", STATE / "run", "--storage-driver", "overlay", *words]
    environment = {**os.environ, "BUILDAH_ISOLATION": "chroot"}
    if log is None:
        done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout.strip()
    with log.open("a") as into:
        subprocess.run(command, env=environment, check=True, stdout=into, stderr=into, timeout=PATIENCE)
    return ""


def build(name: str, file: Path, context: Path, log: Path, sources: str = "") -> None:
    """Builds a Dockerfile unchanged, from local bases without a registry. `sources` is its argument with a
    repository, which is replaced by its mirror, if there is one."""
    given = mirror(sources, file.read_text()) if sources else []
    buildah("bud", "--pull-never", "--format", "docker", "-t", name, *given, "-f", file, context, log=log)


def mirror(argument: str, text: str) -> list[str]:
    """Build options for a repository's mirror: another address, or a folder of this machine that the build
    can read."""
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
    """Whether an image exists."""
    return image in buildah("images", "--format", "{{.Name}}:{{.Tag}}").splitlines()


def remove(image: str) -> None:
    """Removes an image; its base stays."""
    buildah("rmi", "--force", image)


def size(image: str) -> int:
    """The size of its files in bytes, including its base."""
    with container(image) as root:
        counted = subprocess.run(["du", "-s", "-B1", "-x", root], check=True, stdout=subprocess.PIPE, text=True)
    return int(counted.stdout.split()[0])


def variables(image: str) -> dict[str, str]:
    """The variables that an image gives to its programs."""
    told = json.loads(buildah("inspect", "--type", "image", image))["OCIv1"]["config"].get("Env")
    return dict(one.split("=", 1) for one in told or [])
