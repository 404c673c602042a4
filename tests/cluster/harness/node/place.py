"""The places for real nodes on this machine: numbered names, and their locks."""

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

MOST = 16  # real nodes at once


@dataclass(frozen=True)
class Place:
    """One of the real nodes that a machine may have."""

    index: int

    @property
    def network(self) -> IPv4Network:
        """The addresses of its pods."""
        return IPv4Network(f"10.231.{self.index}.0/24")

    @property
    def gateway(self) -> str:
        """This machine's address in that network."""
        return str(self.network[1])

    @property
    def bridge(self) -> str:
        return f"cubeloom{self.index}"

    @property
    def cgroup(self) -> str:
        """The parent cgroup of its pods."""
        return f"cubeloom-node-{self.index}"

    @property
    def record(self) -> Path:
        """The machine's state from before; exists only while something has to be undone."""
        return Path(f"/run/{self.cgroup}.json")

    def lock(self) -> socket.socket | None:
        """Locks the place until the last process with the lock ends; None if it is taken."""
        lock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            lock.bind(f"\0{self.cgroup}")
        except OSError:
            lock.close()
            return None
        return lock

    def is_routed(self) -> bool:
        """Whether this machine has its own route to these addresses."""
        return any(self.network.overlaps(each) for each in _routes())


def _routes() -> Iterator[IPv4Network]:
    for line in Path("/proc/net/route").read_text().splitlines()[1:]:
        words = line.split()
        address, mask = (IPv4Address(int(words[at], 16).to_bytes(4, "little")) for at in (1, 7))
        if int(mask):
            yield IPv4Network((int(address), bin(int(mask)).count("1")))
