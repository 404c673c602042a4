"""The base images of the Dockerfiles, created on this machine without a registry.

`debian:12-slim` starts like the official one, from debootstrap's minimal system. The others are stand-ins:
they have the same programs at the same paths by other means, see STAND_INS.
"""

import shutil
import subprocess
from pathlib import Path

from . import store

DEBIAN = "docker.io/library/debian:12-slim"
PYTHON = "docker.io/library/python:3.11-slim-bookworm"
SPARK = "docker.io/apache/spark:4.3.0-scala2.13-java17-python3-ubuntu"
CUBELOOM = "ghcr.io/cubeloom/cubeloom:0.1.0"

#: Bases that differ from their name.
STAND_INS = {
    PYTHON: "Debian 12 with its own Python 3.11 and pip",
    SPARK: "Debian 12 with OpenJDK 17 and PyPI's pyspark 4.3.0 in /opt/spark, not the image of the project Apache Spark",
    CUBELOOM: "the debug build of the program, and nothing else",
}

#: This machine's package index settings, if present, and their paths in an image for pip and apt.
APT_SOURCES = Path("/etc/apt/sources.list.d/debian.sources")
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
PIP_CERTIFICATES = "/etc/pip-certificates.pem"

PYTHON_FILE = """
FROM docker.io/library/debian:12-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates netbase python3 python3-pip python3-setuptools python3-wheel \
    && rm -rf /var/lib/apt/lists/* /usr/lib/python3*/EXTERNALLY-MANAGED && ln -s python3 /usr/bin/python
"""

SPARK_FILE = """
FROM docker.io/library/python:3.11-slim-bookworm
RUN mkdir -p /usr/share/man/man1 && apt-get update \
    && apt-get install -y --no-install-recommends openjdk-17-jre-headless procps && rm -rf /var/lib/apt/lists/* \
    && pip install --no-cache-dir pyspark==4.3.0 \
    && ln -s /usr/local/lib/python3.11/dist-packages/pyspark /opt/spark \
    && useradd --system --uid 185 --create-home spark
ENV SPARK_HOME=/opt/spark
USER spark
"""


def make(image: str, log: Path, program: Path) -> None:
    """Creates a base unless it exists."""
    if store.has(image):
        return
    if image == DEBIAN:
        _debian(log)
        return
    context = store.STATE / "base"
    shutil.rmtree(context, ignore_errors=True)
    context.mkdir(parents=True)
    if image == CUBELOOM:
        shutil.copy(program, context / "cubeloom")
        text = "FROM scratch\nCOPY cubeloom /usr/local/bin/cubeloom\n"
    else:
        make(DEBIAN if image == PYTHON else PYTHON, log, program)
        text = {PYTHON: PYTHON_FILE, SPARK: SPARK_FILE}[image]
    file = context / "Dockerfile"
    file.write_text(text)
    store.build(image, file, context, log)
    shutil.rmtree(context)


def _debian(log: Path) -> None:
    name = store.buildah("from", "scratch")
    try:
        root = Path(store.buildah("mount", name))
        with log.open("a") as into:
            subprocess.run(["debootstrap", "--variant=minbase", "bookworm", root], check=True, stdout=into, stderr=into)
        for left in ("var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/man", "usr/share/locale"):
            shutil.rmtree(root / left)
            (root / left).mkdir()
        if APT_SOURCES.exists():
            shutil.copy(APT_SOURCES, root / "etc/apt/sources.list.d")
            (root / "etc/apt/sources.list").unlink(missing_ok=True)
        _pip(root)
        store.buildah("umount", name)
        store.buildah("commit", name, DEBIAN, log=log)
    finally:
        store.buildah("rm", name)


def _pip(root: Path) -> None:
    """The same index and trusted certificates as on this machine, separate from Debian's own
    `ca-certificates`."""
    told = subprocess.run(["/usr/bin/python3", "-m", "pip", "config", "list"], stdout=subprocess.PIPE, text=True).stdout
    settings = dict(line.split("=", 1) for line in told.splitlines() if "=" in line)
    lines = ["[global]"]
    for key in ("index-url", "extra-index-url"):
        found = settings.get(f":env:.{key}") or settings.get(f"global.{key}")
        lines += [f"{key} = {found[1:-1]}"] if found else []
    if CERTIFICATES.exists():
        shutil.copy(CERTIFICATES, root / PIP_CERTIFICATES[1:])
        lines.append(f"cert = {PIP_CERTIFICATES}")
    (root / "etc/pip.conf").write_text("\n".join([*lines, ""]))
