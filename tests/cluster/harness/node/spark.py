"""Spark in the test image, if SPARK_HOME and JAVA_HOME are set: 800 MB that only its own check needs."""

import io
import os
import tarfile
from pathlib import Path

ENTRYPOINT = Path(__file__).resolve().parents[2] / "spark" / "entrypoint"
#: Java requires a name for its user: here for the default uid of pods.
USERS = "root:x:0:0:root:/root:/bin/sh\nspark:x:10000:10000:spark:/tmp:/bin/sh\n"


def add(layer: tarfile.TarFile) -> str | None:
    """Adds it. Returns where an image that has it starts."""
    homes = {name: os.environ.get(name) for name in ("SPARK_HOME", "JAVA_HOME")}
    if not all(homes.values()):
        return None
    # Debian's Java keeps its configuration elsewhere, behind links.
    before, layer.dereference = layer.dereference, True
    for name, home in homes.items():
        _add_folder(layer, Path(str(home)), f"opt/{name.removesuffix('_HOME').lower()}")
    layer.add(ENTRYPOINT, "opt/entrypoint")
    layer.dereference = before
    users = tarfile.TarInfo("etc/passwd")
    users.size = len(USERS)
    layer.addfile(users, io.BytesIO(USERS.encode()))
    return "/opt/entrypoint"


def _add_folder(layer: tarfile.TarFile, folder: Path, name: str) -> None:
    """All files, except dangling links to packages that are not installed."""
    for place, _, files in os.walk(folder, followlinks=True):
        for file in (Path(place, each) for each in files):
            if file.exists():
                layer.add(file, f"{name}/{file.relative_to(folder)}")
