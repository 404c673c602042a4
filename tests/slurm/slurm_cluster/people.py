"""The accounts of this machine that jobs run as: made for the tests, and removed with what is theirs."""

import os
import pwd
import re
import subprocess
from pathlib import Path

NAME = re.compile(r"clt(\d+)[ms]")


class People:
    """Two people: one who may use the cluster, and a stranger to it."""

    def __init__(self) -> None:
        number = os.getpid()
        self.member = f"clt{number}m"
        self.stranger = f"clt{number}s"

    def add(self) -> None:
        """Makes the accounts. Those of a cluster that was killed are removed first: their names hold its pid."""
        for entry in pwd.getpwall():
            found = NAME.fullmatch(entry.pw_name)
            if found and not Path("/proc", found[1]).exists():
                delete(entry.pw_name)
        for name in (self.member, self.stranger):
            subprocess.run(
                ["useradd", "--system", "--user-group", "--no-create-home", "--shell", "/bin/bash", name], check=True
            )

    def remove(self) -> None:
        """Removes them; one that was never made is none the less gone."""
        for name in (self.member, self.stranger):
            delete(name)


def delete(name: str) -> None:
    """Removes an account with its group."""
    subprocess.run(["userdel", name], stderr=subprocess.DEVNULL, check=False)
