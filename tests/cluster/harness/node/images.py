"""The test image: Debian's Python and Open MPI, the examples' packages, the task templates, the program.

It has the names of all task templates' images, so that the output of `cubeloom compile` runs unchanged.
Rarely changing layers are cached beside the other tools; the templates and the program are added each time.
"""

import hashlib
import io
import os
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import yaml

from . import debian, oci, spark

ROOT = Path(__file__).resolve().parents[4]
#: Packages of every template's image; openmpi-bin is for `mpi`.
PACKAGES = ("python3", "bash", "coreutils", "dash", "grep", "libc-bin", "openmpi-bin", "sed")
#: The pause container, which owns a pod's network, and the init containers that operators add to workers.
PAUSE, HELPER = "docker.io/local/pause:1", "docker.io/local/helper:1"
TEMPLATES = (ROOT / "task-templates", ROOT / "tests" / "cluster" / "templates")
PACKAGES_OF_PYTHON = f"usr/local/lib/python{sys.version_info.major}.{sys.version_info.minor}/dist-packages"


def write(folder: Path, program: Path) -> Path:
    """The archive to import, for a node whose pods have this program."""
    top = folder / "top.tar"
    with tarfile.open(top, "w") as layer:
        _add_program(layer, program, folder / "cubeloom")
        for template in _templates():
            layer.add(template, f"opt/cubeloom/task-templates/{template.name}", filter=_of_root)
        if packages := os.environ.get("NNI_PACKAGES"):
            layer.add(packages, "opt/nni", filter=_of_root)
        entrypoint = spark.add(layer)
    archive = folder / "images.tar"
    oci.write(archive, [_base(folder), oci.Layer.of(top)], [PAUSE, HELPER, *_names()], entrypoint=entrypoint)
    top.unlink()
    return archive


def _templates() -> list[Path]:
    return [file.parent for folder in TEMPLATES for file in sorted(folder.glob("*/template.yaml"))]


def _names() -> list[str]:
    """The images of the templates."""
    documents = (yaml.safe_load((folder / "template.yaml").read_text()) for folder in _templates())
    # Manual tasks have no image; with some templates, a task names its own.
    return sorted({image for document in documents if "{{" not in (image := document.get("image", "{{"))})


def _add_program(layer: tarfile.TarFile, program: Path, copy: Path) -> None:
    """Removes debug information, which leaves a quarter of the size."""
    subprocess.run(["strip", "-o", str(copy), str(program)], check=True)
    layer.add(copy, "usr/local/bin/cubeloom", filter=_of_root)
    copy.unlink()


def _of_root(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    entry.uid = entry.gid = 0
    entry.mode |= 0o444 | (0o111 if entry.isdir() else 0)
    return None if "__pycache__" in entry.name else entry


def _base(folder: Path) -> oci.Layer:
    """The layer below the templates, rebuilt when its inputs have changed."""
    packages = debian.closure(PACKAGES)
    requirements = folder / "requirements.txt"
    requirements.write_text("".join(f"{line}\n" for line in _requirements()))
    made_of = [f"{package.name} {package.version}" for package in packages]
    made_of += [requirements.read_text(), Path(__file__).read_text(), Path(debian.__file__).read_text()]
    digest = hashlib.sha256("\n".join(made_of).encode()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cubeloom-tools"
    file = cache / f"cluster-image-{digest}.tar"
    if not file.exists():
        _remove_unused(cache)
        part = cache / f".cluster-image-{digest}.{os.getpid()}"
        _write_base(part, packages, requirements)
        part.rename(file)
    os.utime(file)
    return oci.Layer.of(file)


def _remove_unused(cache: Path) -> None:
    """Removes layers that no cluster has read for an hour: one has 6 GB, and an import reads it for minutes."""
    for file in cache.glob("cluster-image-*.tar"):
        if time.time() - file.stat().st_mtime > 3600:
            file.unlink(missing_ok=True)


def _requirements() -> list[str]:
    """The Python packages of the examples' tasks and of the tests."""
    found = set((ROOT / "tests" / "cluster" / "real" / "requirements.txt").read_text().split())
    for file in (ROOT / "examples").glob("*/pipeline.yaml"):
        for task in yaml.safe_load(file.read_text())["tasks"]:
            found |= set(task.get("arguments", {}).get("requirements", []))
    return sorted(found)


def _write_base(file: Path, packages: list[debian.Package], requirements: Path) -> None:
    made = subprocess.run([ROOT / "tools" / "venv", requirements], check=True, stdout=subprocess.PIPE, text=True)
    environment = Path(made.stdout.strip())
    (site,) = environment.glob("lib/python3*/site-packages")
    with tarfile.open(file, "w") as layer:
        debian.add(layer, packages)
        layer.add(site, PACKAGES_OF_PYTHON)
        for script in (environment / "bin").iterdir():
            _add_script(layer, script)
        _add_text(layer, "etc/passwd", "root:x:0:0:root:/root:/bin/sh\n")
        _add_text(layer, "etc/group", "root:x:0:\n")
        for name, mode in (("tmp", 0o1777), ("proc", 0o755), ("sys", 0o755), ("dev", 0o755), ("root", 0o700)):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, mode
            layer.addfile(entry)


def _add_script(layer: tarfile.TarFile, script: Path) -> None:
    """A program of a Python package, for the image's own interpreter."""
    first, _, rest = script.read_bytes().partition(b"\n")
    if not script.is_symlink() and first.startswith(b"#!") and first.endswith(b"/python3"):
        _add_text(layer, f"usr/local/bin/{script.name}", f"#!/usr/bin/python3\n{rest.decode()}", 0o755)


def _add_text(layer: tarfile.TarFile, name: str, text: str, mode: int = 0o644) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(text.encode()), mode
    layer.addfile(entry, io.BytesIO(text.encode()))
