"""Keys and certificates of a cluster."""

import subprocess
from pathlib import Path


def self_signed(folder: Path, name: str, *more: str) -> Path:
    """A self-signed certificate `NAME.crt` with `NAME.key`; `more` are further extensions."""
    certificate = folder / f"{name}.crt"
    command = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", f"/CN={name}"]
    for extension in more:
        command += ["-addext", extension]
    command += ["-keyout", str(folder / f"{name}.key"), "-out", str(certificate)]
    _openssl(*command)
    return certificate


def pair(folder: Path, name: str) -> None:
    """A private key `NAME.key` and its public one, `NAME.pub`."""
    private, public = folder / f"{name}.key", folder / f"{name}.pub"
    _openssl("genrsa", "-out", str(private), "2048")
    _openssl("rsa", "-in", str(private), "-pubout", "-out", str(public))


def _openssl(*words: str) -> None:
    """Runs openssl in its own session: Ctrl-C must reach only the main program, which cleans up in order."""
    subprocess.run(["openssl", *words], check=True, capture_output=True, start_new_session=True)
