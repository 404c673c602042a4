"""Keys and certificates that a cluster makes for itself."""

import subprocess
from pathlib import Path


def self_signed(folder: Path, name: str, *more: str) -> Path:
    """A certificate `NAME.crt` that vouches for itself, with `NAME.key`; `more` are further extensions."""
    certificate = folder / f"{name}.crt"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", f"/CN={name}"]
    for extension in more:
        command += ["-addext", extension]
    command += ["-keyout", str(folder / f"{name}.key"), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    return certificate


def pair(folder: Path, name: str) -> None:
    """A private key `NAME.key` and its public one, `NAME.pub`."""
    private, public = folder / f"{name}.key", folder / f"{name}.pub"
    subprocess.run(["openssl", "genrsa", "-out", private, "2048"], check=True, capture_output=True)
    subprocess.run(["openssl", "rsa", "-in", private, "-pubout", "-out", public], check=True, capture_output=True)
