"""The configuration files of the test Slurm."""

import secrets
from dataclasses import dataclass, field
from pathlib import Path

CLUSTER = "cubeloom"
PROJECT = "vision"
QOS = "high"
NODES = ("n1", "n2", "n3", "n4")
CARDS = 4  # of a node: two of each type


@dataclass(frozen=True)
class Settings:
    """The addresses, ports, paths and secrets of a cluster."""

    state: Path
    host: str
    controller: int
    accounting: int
    database_port: int
    rest: int
    nodes: tuple[int, ...]
    cgroups: bool
    password: str = field(default_factory=lambda: secrets.token_hex(16))

    @property
    def socket(self) -> Path:
        """munge's socket."""
        return self.state / "munge" / "socket"

    @property
    def key(self) -> Path:
        """The key of the tokens with which slurmrestd, and slurmctld behind it, authenticate users."""
        return self.state / "ctld" / "jwt.key"


def slurmdbd(settings: Settings) -> str:
    return f"""AuthType=auth/munge
AuthInfo=socket={settings.socket}
DbdHost=localhost
DbdPort={settings.accounting}
SlurmUser=slurm
PidFile={settings.state}/dbd/pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={settings.database_port}
StorageUser=slurm
StoragePass={settings.password}
StorageLoc=slurm
"""


def slurm(settings: Settings) -> str:
    """Every node has its own loopback address, so the workers of a job do, too. It claims more CPUs and
    memory than exist: the tests check placement, not computation."""
    nodes = "\n".join(
        f"NodeName={name} NodeHostname={settings.host} NodeAddr=127.0.0.{11 + at} Port={port} CPUs=16 "
        f"RealMemory=64000 Feature=cpu,ssd{',ib' if at < 2 else ''} Gres=gpu:a100:2,gpu:h100:2,shard:16,rdma:4"
        for at, (name, port) in enumerate(zip(NODES, settings.nodes, strict=True))
    )
    process, task = ("proctrack/cgroup", "task/cgroup") if settings.cgroups else ("proctrack/linuxproc", "task/none")
    return f"""ClusterName={CLUSTER}
SlurmctldHost={settings.host}(127.0.0.1)
SlurmctldPort={settings.controller}
SlurmctldPidFile={settings.state}/ctld/pid
StateSaveLocation={settings.state}/ctld
SlurmUser=slurm
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={settings.socket}
AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key={settings.key}
SlurmdSpoolDir={settings.state}/%n
SlurmdPidFile={settings.state}/%n/pid
SlurmdParameters=config_overrides
ProctrackType={process}
TaskPlugin={task}
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=1,batch_sched_delay=0,sched_min_interval=0
GresTypes=gpu,shard,rdma
JobAcctGatherType=jobacct_gather/linux
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
AccountingStoragePort={settings.accounting}
AccountingStoragePass={settings.socket}
AccountingStorageTRES=gres/gpu
AccountingStorageEnforce=associations,limits,qos
KillWait=10
UnkillableStepTimeout=600
{nodes}
PartitionName=all Nodes=n[1-4] Default=YES MaxTime=INFINITE State=UP
PartitionName=cards Nodes=n[1-2] MaxTime=INFINITE State=UP
"""


def cgroup() -> str:
    """Kernel-enforced limits, as on a shared cluster."""
    return "CgroupPlugin=cgroup/v1\nConstrainRAMSpace=yes\nConstrainSwapSpace=yes\nAllowedSwapSpace=0\n"


def gres(settings: Settings) -> str:
    """Each node has its GPUs in the same files."""
    folder = settings.state / "etc"
    kinds = (("a100", "0-1"), ("h100", "2-3"))
    types = [f"NodeName=n[1-4] Name=gpu Type={kind} File={folder}/card[{cards}]" for kind, cards in kinds]
    return "\n".join([*types, "NodeName=n[1-4] Name=shard Count=16", "NodeName=n[1-4] Name=rdma Count=4", ""])
