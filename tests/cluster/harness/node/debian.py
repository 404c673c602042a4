"""The files of installed Debian packages and their dependencies: an image without a download."""

import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

#: Not needed in an image.
LEFT_OUT = ("/usr/share/doc/", "/usr/share/man/", "/usr/share/locale/", "/usr/share/lintian/", "/usr/share/info/")
#: Folders that are links on a machine with a merged /usr.
MERGED = ("bin", "lib", "lib64", "sbin")
#: dpkg's states of a package with all files present. The later ones pass while another apt-get runs its
#: triggers.
PRESENT = ("installed", "unpacked", "half-configured", "triggers-awaited", "triggers-pending")


@dataclass
class Package:
    """An installed package."""

    name: str  # the name for dpkg queries
    version: str
    needs: list[list[str]]  # each is a list of alternatives


def closure(wanted: Iterable[str]) -> list[Package]:
    """These packages and their dependencies, by name. Raises an error that names missing ones."""
    installed = _installed()
    found: dict[str, Package] = {}
    queue = list(wanted)
    for name in queue:
        if name not in installed:
            raise SystemExit(f"cluster: the Debian package {name} is not installed: make setup-cluster")
    while queue:
        package = installed[queue.pop()]
        if package.name in found:
            continue
        found[package.name] = package
        for alternatives in package.needs:
            queue += [name for name in alternatives if name in installed][:1]
    return sorted(found.values(), key=lambda package: package.name)


def _installed() -> dict[str, Package]:
    """Installed packages, by name and by what they provide."""
    fields = ("db:Status-Status", "binary:Package", "Package", "Version", "Provides", "Pre-Depends", "Depends")
    form = "\t".join(f"${{{field}}}" for field in fields) + "\n"
    real, provided = {}, {}
    for line in _dpkg("--show", f"--showformat={form}"):
        status, full, name, version, provides, *needs = line.split("\t")
        if status not in PRESENT:
            continue
        package = Package(full, version, [_names(group.split("|")) for group in ",".join(needs).split(",")])
        real[name] = package
        provided |= {each: package for each in _names(provides.split(","))}
    return provided | real


def _dpkg(*words: str) -> list[str]:
    return subprocess.run(["dpkg-query", *words], check=True, capture_output=True, text=True).stdout.splitlines()


def _names(words: Iterable[str]) -> list[str]:
    """Package names without their versions and architectures."""
    return [re.split(r"[ :(]", word.strip())[0] for word in words if word.strip()]


def add(layer: tarfile.TarFile, packages: Iterable[Package]) -> None:
    """Copies the packages' files from this machine into a layer with a merged /usr."""
    seen: set[str] = set()
    for name in MERGED:
        _link(layer, name, f"usr/{name}")
    for path in _with_compiled(_dpkg("--listfiles", *(package.name for package in packages))):
        if path.startswith(LEFT_OUT) or not path.startswith("/") or not os.path.lexists(path):
            continue
        place = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path)).lstrip("/")
        if place in seen or place in MERGED or not place:
            continue
        seen.add(place)
        layer.add(path, place, recursive=False)
    _alternatives(layer, seen)


def _with_compiled(paths: Iterable[str]) -> Iterator[str]:
    """Adds Python's compiled files, which belong to no package. Without them, every start compiles all
    modules again."""
    for path in paths:
        yield path
        if path.endswith(".py"):
            folder, name = os.path.split(path)
            yield f"{folder}/__pycache__/{name.removesuffix('.py')}.{sys.implementation.cache_tag}.pyc"


def _alternatives(layer: tarfile.TarFile, seen: set[str]) -> None:
    """Adds the links of Debian's alternatives (mpirun), which belong to no package either."""
    for link in Path("/etc/alternatives").iterdir():
        target = os.path.realpath(link).lstrip("/")
        name = f"usr/bin/{link.name}"
        if target in seen and target.startswith("usr/bin/") and name not in seen:
            _link(layer, name, f"/{target}")


def _link(layer: tarfile.TarFile, name: str, target: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, target, 0o777
    layer.addfile(entry)
