"""The accounts of this machine that jobs run as: created for the tests, and removed with their files."""

import os
import pwd
import re
import subprocess
from pathlib import Path

NAME = re.compile(r"clt(\d+)[mhscb]")
RULES = Path("/etc/sudoers.d")


class People:
    """Two users of the cluster, a stranger to it, and the accounts of two servers that are not root."""

    def __init__(self, state: Path) -> None:
        number = os.getpid()
        self.program = state / "shared" / "cubeloom"
        self.member = f"clt{number}m"
        self.hostile = f"clt{number}h"
        self.stranger = f"clt{number}s"
        self.server = f"clt{number}c"
        self.bound = f"clt{number}b"

    @property
    def all(self) -> tuple[str, ...]:
        """All accounts."""
        return (self.member, self.hostile, self.stranger, self.server, self.bound)

    def add(self) -> None:
        """Creates the accounts. Those of a killed cluster are removed first: their names contain its pid."""
        for entry in pwd.getpwall():
            found = NAME.fullmatch(entry.pw_name)
            if found and not Path("/proc", found[1]).exists():
                delete(entry.pw_name)
        for name in self.all:
            subprocess.run(
                ["useradd", "--system", "--user-group", "--no-create-home", "--shell", "/bin/bash", name], check=True
            )
        # The lines of docs/slurm.md. The servers may not become the stranger. One may call any command as the
        # member; the other, which uses slurmrestd, only one program that writes files.
        words = ", ".join(f"{self.program} __slurm-{word}" for word in ("write", "stop", "clean"))
        for server, commands in ((self.server, "/usr/bin/env"), (self.bound, words)):
            rule = RULES / server
            rule.touch(mode=0o440)
            rule.write_text(f"{server} ALL=({self.member}) NOPASSWD: {commands}\n")

    def remove(self) -> None:
        """Removes them; one that was never created counts as removed."""
        for name in self.all:
            delete(name)


def delete(name: str) -> None:
    """Removes an account with its group and its sudo rules."""
    (RULES / name).unlink(missing_ok=True)
    subprocess.run(["userdel", name], stderr=subprocess.DEVNULL, check=False)
