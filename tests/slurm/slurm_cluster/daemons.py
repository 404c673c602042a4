"""The daemons of a Slurm in start order: munge, MariaDB, slurmdbd, slurmctld, a slurmd per node, slurmrestd.
"""

import contextlib
import os
import secrets
import shutil
import socket
import stat
import subprocess
from pathlib import Path

from harness.parts import Parts, listens, ports

from . import written
from .people import People

PROGRAMS = (
    *("munged", "mariadbd", "mariadb-install-db", "slurmdbd", "slurmctld", "slurmd", "sacctmgr", "sbatch"),
    *("slurmrestd", "sudo", "ch-run"),
)
CGROUPS = Path("/sys/fs/cgroup")
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
# Restarts a daemon that a test has stopped: it waits while the file exists that the test has created before.
# A daemon that ends without such a file ends the whole cluster.
KEEP = """
hold=$1; shift
trap 'kill "$child"; wait "$child"; exit 0' TERM
while :; do
  "$@" & child=$!
  wait "$child"; code=$?
  [ -e "$hold" ] || exit "$code"
  while [ -e "$hold" ]; do sleep 0.1; done
done
"""


def lacking() -> str:
    """Why Slurm cannot be started here, as a sentence; empty if it can."""
    if os.geteuid() != 0:
        return "a Slurm of several users needs root"
    missing = [name for name in PROGRAMS if not shutil.which(name, path=PATH)]
    if missing:
        return f"not installed: {', '.join(missing)}; run tools/setup slurm"
    if not any(Path("/usr/lib").glob("*/slurm-wlm/accounting_storage_mysql.so")):
        return "slurmdbd cannot connect to MariaDB: install slurm-wlm-mysql-plugin"
    if not any(Path("/usr/lib").glob("*/slurm-wlm/auth_jwt.so")):
        return "slurmrestd does not support tokens: install slurm-wlm-jwt-plugin"
    return ""


def as_user(user: str, *command: str) -> list[str]:
    """Runs the command as another user. The death signal is set again: changing identity clears it."""
    who = ["setpriv", "--reuid", user, "--regid", user, "--init-groups", "--pdeathsig", "KILL", "--"]
    return [*who, *command]


def kept(state: Path, name: str, command: list[str]) -> list[str]:
    """Runs the command as a daemon that a test may stop and restart, through the file of that name in `hold`.
    """
    dying = ["setpriv", "--pdeathsig", "KILL", "--"]
    return ["sh", "-c", KEEP, "sh", str(state / "hold" / name), *dying, *command]


def own(folder: Path, user: str, mode: int = 0o755) -> Path:
    """A folder owned by a user."""
    folder.mkdir()
    shutil.chown(folder, user, user)
    folder.chmod(mode)
    return folder


def start(parts: Parts, people: People) -> dict[str, str]:
    """Starts all daemons. Returns the environment for commands."""
    state = parts.state
    numbers = ports.reserve(8)
    # Slurm 22.05 supports cgroup v2 only through systemd.
    cgroups = all(os.access(CGROUPS / name, os.W_OK) for name in ("freezer", "memory"))
    settings = written.Settings(state, socket.gethostname(), *numbers[:4], tuple(numbers[4:]), cgroups)
    parts.afterwards(remove_cgroups)
    (state / "hold").mkdir()
    munge(parts, settings)
    mariadb(parts, settings)
    database(parts, settings)
    conf = configuration(settings)
    own(state / "ctld", "slurm")
    settings.key.write_bytes(secrets.token_bytes(32))
    shutil.chown(settings.key, "slurm", "slurm")
    settings.key.chmod(0o600)
    environment = {"SLURM_CONF": str(conf), "PATH": PATH}
    accounts(conf, people)
    command = kept(state, "ctld", as_user("slurm", "slurmctld", "-D"))
    controller = parts.start("slurmctld", command, environment)
    parts.wait(controller, "slurmctld", lambda: listens(settings.controller))
    for name, port in zip(written.NODES, settings.nodes, strict=True):
        (state / name).mkdir()
        command = kept(state, name, ["slurmd", "-D", "-N", name])
        part = parts.start(f"slurmd-{name}", command, environment)
        parts.wait(part, f"the node {name}", lambda port=port: listens(port))
    parts.wait(controller, "idle nodes", lambda: states(conf) == ["idle"] * len(written.NODES))
    rest(parts, settings, environment)
    shared = state / "shared"
    shared.mkdir()
    workspace = own(shared / written.PROJECT, people.member)
    return {
        "SLURM_CONF": str(conf),
        "CUBELOOM_TEST_SLURM_MEMBER": people.member,
        "CUBELOOM_TEST_SLURM_HOSTILE": people.hostile,
        "CUBELOOM_TEST_SLURM_STRANGER": people.stranger,
        "CUBELOOM_TEST_SLURM_SERVER": people.server,
        "CUBELOOM_TEST_SLURM_BOUND": people.bound,
        "CUBELOOM_TEST_SLURM_REST": str(settings.rest),
        "CUBELOOM_TEST_SLURM_STATE": str(state),
        "CUBELOOM_TEST_SLURM_WORKSPACE": str(workspace),
    }


def remove_cgroups() -> None:
    """Removes the empty cgroups that slurmd leaves; those of another running cluster are not empty."""
    for name in written.NODES:
        for top in CGROUPS.glob(f"*/slurm_{name}"):
            for folder, _, _ in os.walk(top, topdown=False):
                with contextlib.suppress(OSError):
                    os.rmdir(folder)


def munge(parts: Parts, settings: written.Settings) -> None:
    """munge authenticates the daemons and whoever submits jobs."""
    folder = own(settings.state / "munge", "munge")
    key = folder / "key"
    key.write_bytes(secrets.token_bytes(128))
    shutil.chown(key, "munge", "munge")
    key.chmod(0o400)
    files = [f"--{name}-file={folder / name}" for name in ("key", "pid", "seed", "log")]
    command = ["munged", "--foreground", "--force", f"--socket={settings.socket}", *files]
    part = parts.start("munged", kept(settings.state, "munge", as_user("munge", *command)), {"PATH": PATH})
    parts.wait(part, "munge's socket", lambda: settings.socket.is_socket())


def mariadb(parts: Parts, settings: written.Settings) -> None:
    """The accounting database: on one port of this machine, with all files in the folder."""
    folder = own(settings.state / "mariadb", "mysql")
    data = folder / "data"
    install = ["mariadb-install-db", "--no-defaults", "--user=mysql", f"--datadir={data}"]
    install.append("--auth-root-authentication-method=normal")
    with (parts.logs / "mariadb-install.log").open("wb") as log:
        subprocess.run(install, stdout=log, stderr=log, check=True, cwd=folder)
    command = [
        "mariadbd",
        "--no-defaults",
        f"--datadir={data}",
        f"--socket={folder / 'socket'}",
        f"--pid-file={folder / 'pid'}",
        "--bind-address=127.0.0.1",
        f"--port={settings.database_port}",
        "--skip-name-resolve",
        "--innodb-lock-wait-timeout=900",
    ]
    part = parts.start("mariadbd", as_user("mysql", *command), {"PATH": PATH})
    parts.wait(part, "MariaDB", lambda: (folder / "socket").is_socket())
    words = (
        f"CREATE DATABASE slurm; CREATE USER slurm@127.0.0.1 IDENTIFIED BY '{settings.password}'; "
        "GRANT ALL ON slurm.* TO slurm@127.0.0.1;"
    )
    client = ["mariadb", "--no-defaults", f"--socket={folder / 'socket'}", "--user=root", "-e", words]
    subprocess.run(client, check=True)


def database(parts: Parts, settings: written.Settings) -> None:
    """slurmdbd: associations, QOS and accounting."""
    folder = settings.state / "dbd"
    folder.mkdir()
    conf = folder / "slurmdbd.conf"
    conf.write_text(written.slurmdbd(settings))
    conf.chmod(0o600)
    for path in (folder, conf):
        shutil.chown(path, "slurm", "slurm")
    environment = {"SLURM_CONF": str(conf), "PATH": PATH}
    part = parts.start("slurmdbd", as_user("slurm", "slurmdbd", "-D"), environment)
    parts.wait(part, "slurmdbd", lambda: listens(settings.accounting))


def configuration(settings: written.Settings) -> Path:
    """The cluster's configuration files; GPUs are dummy devices."""
    folder = settings.state / "etc"
    folder.mkdir()
    for card in range(written.CARDS):
        os.mknod(folder / f"card{card}", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    (folder / "gres.conf").write_text(written.gres(settings))
    (folder / "cgroup.conf").write_text(written.cgroup())
    conf = folder / "slurm.conf"
    conf.write_text(written.slurm(settings))
    return conf


def rest(parts: Parts, settings: written.Settings, environment: dict[str, str]) -> None:
    """slurmrestd under a separate account, on a port and on a socket. It authenticates users only by tokens.
    """
    folder = own(settings.state / "rest", "daemon")
    words = ["-a", "rest_auth/jwt", "-s", "openapi/v0.0.38", f"127.0.0.1:{settings.rest}", f"unix:{folder / 'socket'}"]
    # It writes no pid file, and does not replace an existing socket.
    pid = ["sh", "-c", 'rm -f socket; echo $$ >pid; exec "$@"', "sh"]
    begin = ["env", f"--chdir={folder}", *pid, *as_user("daemon", "slurmrestd", *words)]
    command = kept(settings.state, "rest", begin)
    part = parts.start("slurmrestd", command, {**environment, "SLURM_JWT": "daemon"})
    parts.wait(part, "slurmrestd", lambda: listens(settings.rest))


def accounts(conf: Path, people: People) -> None:
    """The project's account with its QOS, and its users."""
    for words in (
        f"add cluster {written.CLUSTER}",
        f"add qos {written.QOS}",
        f"add account {written.PROJECT} Description=project Organization=cubeloom",
        f"add user {people.member} Account={written.PROJECT} QOS=normal,{written.QOS}",
        f"add user {people.hostile} Account={written.PROJECT} QOS=normal,{written.QOS}",
    ):
        told = {"SLURM_CONF": str(conf), "PATH": PATH}
        done = subprocess.run(["sacctmgr", "-i", *words.split()], env=told, capture_output=True, text=True, check=False)
        if done.returncode and "Already existing" not in done.stdout:
            raise SystemExit(f"slurm: sacctmgr {words}: {done.stdout}{done.stderr}")


def states(conf: Path) -> list[str]:
    """The states of the nodes."""
    told = {"SLURM_CONF": str(conf), "PATH": PATH}
    command = ["sinfo", "-h", "-N", "-p", "all", "-o", "%T"]
    done = subprocess.run(command, env=told, capture_output=True, text=True, check=False)
    return done.stdout.split()


def end_jobs(state: Path) -> None:
    """Ends what still runs: a worker outlives the slurmd that started it."""
    conf = state / "etc" / "slurm.conf"
    if not conf.exists():
        return
    told = {"SLURM_CONF": str(conf), "PATH": PATH}
    listed = ["squeue", "-h", "-o", "%A"]
    try:
        jobs = subprocess.run(listed, env=told, capture_output=True, text=True, timeout=10, check=False).stdout.split()
        for signal in (["--full", "--signal=KILL"], []):
            if jobs:
                subprocess.run(["scancel", *signal, *jobs], env=told, timeout=10, check=False)
        for _ in range(50):
            if not subprocess.run(listed, env=told, capture_output=True, timeout=10, check=False).stdout.strip():
                return
            subprocess.run(["sleep", "0.2"], check=False)
    except subprocess.TimeoutExpired:
        pass
