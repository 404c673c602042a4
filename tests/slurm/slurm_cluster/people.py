"""The accounts of this machine that jobs run as: made for the tests, and removed with what is theirs."""

import os
import pwd
import re
import subprocess
from pathlib import Path

NAME = re.compile(r"clt(\d+)[msc]")
RULES = Path("/etc/sudoers.d")


class People:
    """Two people, one who may use the cluster and a stranger to it; and the account of a server that is not root."""

    def __init__(self) -> None:
        number = os.getpid()
        self.member = f"clt{number}m"
        self.stranger = f"clt{number}s"
        self.server = f"clt{number}c"

    @property
    def all(self) -> tuple[str, ...]:
        """All accounts."""
        return (self.member, self.stranger, self.server)

    def add(self) -> None:
        """Makes the accounts. Those of a cluster that was killed are removed first: their names hold its pid."""
        for entry in pwd.getpwall():
            found = NAME.fullmatch(entry.pw_name)
            if found and not Path("/proc", found[1]).exists():
                delete(entry.pw_name)
        for name in self.all:
            subprocess.run(
                ["useradd", "--system", "--user-group", "--no-create-home", "--shell", "/bin/bash", name], check=True
            )
        # The line of docs/slurm.md: the stranger is none of whom the server may become.
        rule = RULES / self.server
        rule.touch(mode=0o440)
        rule.write_text(f"{self.server} ALL=({self.member}) NOPASSWD: /usr/bin/env\n")

    def remove(self) -> None:
        """Removes them; one that was never made is none the less gone."""
        for name in self.all:
            delete(name)


def delete(name: str) -> None:
    """Removes an account with its group, and what it may by sudo."""
    (RULES / name).unlink(missing_ok=True)
    subprocess.run(["userdel", name], stderr=subprocess.DEVNULL, check=False)
