"""Folders as they are sent."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path


def archive(folder: Path) -> bytes:
    """The folder as tar.gz, the same bytes for the same content: without times, owners and hidden files."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder)
            if path.is_file() and not any(part.startswith(".") or part == "__pycache__" for part in inside.parts):
                entry = tarfile.TarInfo(inside.as_posix())
                entry.size = path.stat().st_size
                entry.mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
                with path.open("rb") as file:
                    tar.addfile(entry, file)
    return gzip.compress(plain.getvalue(), mtime=0)
