"""The launcher: runs mpirun so that every rank starts inside a worker of this job, not under the launcher.

mpirun reaches a host through its "rsh agent", usually ssh. Here that is rsh.py, which hands the command to agent.py in
the worker. The settings below are what Open MPI 4.1 needs for that when all workers are on one machine.
"""

import os
import shlex
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main(processes_per_worker, words):
    hosts = worker_hosts()
    hostfile = Path(os.environ.get("TMPDIR", "."), "hostfile")
    hostfile.write_text("".join(f"{host} slots={processes_per_worker}\n" for host in hosts))
    os.environ.update(open_mpi_settings(hostfile))
    # Options for ssh, which the mpi-operator gives to every launcher.
    os.environ.pop("OMPI_MCA_plm_rsh_args", None)
    ranks = len(hosts) * processes_per_worker
    print(f"starting {ranks} ranks on {len(hosts)} workers: {', '.join(hosts)}", flush=True)
    # mpirun takes this process over, so that it gets the platform's signals and its exit status is the job's.
    rank = [sys.executable, *abort_on_exception(words), str(HERE / "program.py"), *words]
    try:
        os.execvp("mpirun", ["mpirun", "-np", str(ranks), "--tag-output", *rank])
    except FileNotFoundError:
        sys.exit("mpirun is not installed; on Debian: apt-get install openmpi-bin")


def abort_on_exception(words):
    """A Python rank that fails ends the job; without this the others would wait for it in their next message."""
    return ["-m", "mpi4py"] if words[:1] == ["--script"] else []


def worker_hosts():
    """The workers in order of rank: MPI_HOST (comma list), else the first word of each line of the given hostfile."""
    if listed := os.environ.get("MPI_HOST"):
        return listed.split(",")
    given = os.environ.get("OMPI_MCA_orte_default_hostfile")
    if given is None:
        sys.exit("neither MPI_HOST nor OMPI_MCA_orte_default_hostfile says where the workers are")
    lines = (line.split("#")[0].split() for line in Path(given).read_text().splitlines())
    return [words[0] for words in lines if words]


def open_mpi_settings(hostfile):
    """Open MPI's parameters as variables; what the task's own env sets wins."""
    settings = {
        "OMPI_MCA_plm": "rsh",
        # Never take a worker for "this machine": its ranks would be forked here, in the launcher's cgroup.
        "OMPI_MCA_if_base_do_not_resolve": "1",
        # The launcher starts every daemon itself: workers do not start each other's.
        "OMPI_MCA_plm_rsh_no_tree_spawn": "1",
        # Daemons stay children of the agent, so that a worker that ends takes them along.
        "OMPI_MCA_orte_leave_session_attached": "1",
        "OMPI_MCA_orte_keep_fqdn_hostnames": "1",
        # Daemons of one machine must not each bind their ranks to its first cores.
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        # A rank that waits gives its core to one that works.
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "OMPI_MCA_pml": "ob1",
        "OMPI_MCA_btl": "self,vader,tcp",
        # Daemons of one machine share its name, and with it the default store's folder.
        "PMIX_MCA_gds": "hash",
        # The worker's cgroup confines a program, its uid need not.
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    if all(host.startswith("127.") for host in worker_hosts()):
        settings |= {"OMPI_MCA_btl_tcp_if_include": "lo", "OMPI_MCA_oob_tcp_if_include": "lo"}
    settings = {name: os.environ.get(name, value) for name, value in settings.items()}
    return settings | {"OMPI_MCA_orte_default_hostfile": str(hostfile), "OMPI_MCA_plm_rsh_agent": rsh_agent()}


def rsh_agent():
    """The command that mpirun runs for each host. mpirun splits it at blanks and knows no quotes."""
    command = [sys.executable, str(HERE / "rsh.py")]
    if any(shlex.split(word) != [word] for word in command):
        sys.exit(f"Open MPI cannot start an agent whose path has blanks or quotes: {' '.join(command)}")
    return " ".join(command)


main(int(sys.argv[1]), sys.argv[2:])
