"""Images as an OCI archive for containerd to import: a list of layers under one or more names."""

import hashlib
import io
import json
import platform
import tarfile
from dataclasses import dataclass
from pathlib import Path

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclass
class Layer:
    """A layer: an uncompressed tar file, so that its two digests are equal."""

    file: Path
    digest: str

    @classmethod
    def of(cls, file: Path) -> "Layer":
        with file.open("rb") as content:
            return cls(file, f"sha256:{hashlib.file_digest(content, 'sha256').hexdigest()}")


def write(archive: Path, layers: list[Layer], names: list[str], present: int = 0, entrypoint: str | None = None) -> None:
    """Writes an archive without the contents of the first `present` layers, which the importer already has.
    """
    started: dict[str, object] = {"Env": [f"PATH={PATH}"], "Cmd": ["sleep", "infinity"]}
    config = {
        "architecture": ARCHITECTURES.get(platform.machine(), platform.machine()),
        "os": "linux",
        "config": started | ({"Entrypoint": [entrypoint]} if entrypoint else {}),
        "rootfs": {"type": "layers", "diff_ids": [layer.digest for layer in layers]},
    }
    with tarfile.open(archive, "w") as tar:
        manifest = {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": _blob(tar, "application/vnd.oci.image.config.v1+json", config),
            "layers": [_described(layer) for layer in layers],
        }
        for layer in layers[present:]:
            tar.add(layer.file, f"blobs/{layer.digest.replace(':', '/')}")
        described = _blob(tar, manifest["mediaType"], manifest)
        entries = [{**described, "annotations": {"io.containerd.image.name": name}} for name in names]
        _file(tar, "index.json", json.dumps({"schemaVersion": 2, "manifests": entries}).encode())
        _file(tar, "oci-layout", b'{"imageLayoutVersion": "1.0.0"}')


def _described(layer: Layer) -> dict[str, object]:
    size = layer.file.stat().st_size
    return {"mediaType": "application/vnd.oci.image.layer.v1.tar", "digest": layer.digest, "size": size}


def _blob(tar: tarfile.TarFile, kind: str, content: object) -> dict[str, object]:
    data = json.dumps(content).encode()
    digest = hashlib.sha256(data).hexdigest()
    _file(tar, f"blobs/sha256/{digest}", data)
    return {"mediaType": kind, "digest": f"sha256:{digest}", "size": len(data)}


def _file(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    tar.addfile(entry, io.BytesIO(data))
