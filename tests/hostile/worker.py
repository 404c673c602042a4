"""The attacker: a task of the project `alice`, which knows everything about the server and about the task of
`bob` that runs beside it. Each attack prints a line: what it tried, and what refused it.

    worker.py FACTS     FACTS: JSON, the output of `bob.py`, with `data`, the server's folder, `server`, its
    process, `url`, its
                        address, and `walls`, the isolation where it runs:
        uid         bob has another uid
        view        the worker sees no other processes and folders, and has its own limits: the sandbox of
        this machine
        platform    it does not own what starts the worker, nor the program that it starts from
        privileges  no program can give it more privileges

Exits with 1 if an attack was not refused.
"""

import ctypes
import errno
import fcntl
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

FACTS = json.loads(sys.argv[1])
DATA, BOB, SERVER = Path(FACTS["data"]), FACTS["pid"], FACTS["server"]
LIBC = ctypes.CDLL(None, use_errno=True)
ATTACKS = []

#: Few numbers of asm/unistd.h are the same on x86_64 and arm64: these are for x86_64, and others are skipped.
CALLS = {"process_vm_readv": 310, "bpf": 321, "kexec_load": 246, "pidfd_open": 434, "pidfd_getfd": 438}


class Broke(Exception):
    """The attack was not refused."""


def attack(what, needs=None):
    def note(function):
        if needs is None or needs in FACTS["walls"]:
            ATTACKS.append((what, function))
        return function

    return note


def call(function, *arguments):
    """Calls the C library, and raises its error."""
    ctypes.set_errno(0)
    if (result := function(*arguments)) == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def syscall(name, *arguments):
    if os.uname().machine != "x86_64":
        raise OSError(errno.ENOSYS, "not tried on this machine")
    return call(LIBC.syscall, CALLS[name], *arguments)


def reading(what, *paths):
    for path in paths:
        attack(f"read {what}: {path}")(lambda path=path: Path(path).read_bytes() or missing(path))


def listing(what, *paths):
    for path in paths:
        attack(f"list {what}: {path}")(lambda path=path: (os.listdir(path) or missing(path)))


def missing(path):
    raise OSError(errno.ENOENT, f"{path} is empty")


def writing(what, *paths, needs=None):
    for path in paths:
        attack(f"write {what}: {path}", needs)(lambda path=path: Path(path).open("ab").write(b"alice\n"))


# The server's folder, and other projects'.
reading("the key of all secrets", DATA / "keys/sealing", DATA / "keys/signing")
reading("the key by a way back", f"{os.getcwd()}/../../../../../keys/sealing", f"{DATA}/workspace/../keys/sealing")
reading("the database", *(DATA / "db").glob("*"), DATA / "db/cubeloom.sqlite")
reading("the storage of bob", Path(FACTS["storage"]) / "notes", f"{DATA}/workspace/alice/../bob/notes")
reading("the outputs of bob's worker", FACTS["outputs"])
reading("what bob's worker printed", Path(FACTS["work"]).parent / "stdout")
reading("who has which uid", DATA / "keys/projects.json")
listing("the server's keys", DATA / "keys")
listing("the storage of bob", FACTS["storage"], FACTS["run"])
listing("the working folder of bob", FACTS["work"])
listing("environments of others", DATA / "cache")
writing("the storage of bob", Path(FACTS["storage"]) / "notes", Path(FACTS["storage"]) / "new")
writing("the outputs of bob's worker", FACTS["outputs"])
writing("the server's folder", DATA / "new", DATA / "keys/new", DATA / "runs/new")
writing("what all workers run", DATA / "tools/new", Path(os.environ["CUBELOOM_TEMPLATE_DIR"]) / "template.yaml", needs="platform")
writing("the system", "/etc/passwd", "/usr/bin/new", "/etc/ld.so.preload")
writing("how this worker ended", Path(os.environ["CUBELOOM_OUTPUTS"]).parent / "exit.json", needs="view")


@attack("list the runs of all projects")
def _():
    if not os.path.isdir(DATA / "runs"):
        missing(DATA / "runs")
    others = [name for name in os.listdir(DATA / "runs") if name != os.environ["CUBELOOM_RUN"]]
    if others:
        raise Broke(f"they are {others}")
    return "only the own one is there"


@attack("list the projects of this machine", needs="view")
def _():
    if "bob" in os.listdir(DATA / "workspace"):
        raise Broke("bob is there")
    return "only the own one is there"


@attack("reach the storage of bob by a symbolic link")
def _():
    link = Path("to-bob")
    link.symlink_to(FACTS["storage"])
    return (link / "notes").read_bytes()


@attack("give a file of bob another name (hard link)")
def _():
    os.link(Path(FACTS["storage"]) / "notes", "mine")


@attack("give a file of root another name (hard link)")
def _():
    os.link("/etc/shadow", "mine-too")


@attack("own what a link leads to", needs="uid")
def _():
    Path("to-keys").symlink_to(DATA / "keys")
    os.chown("to-keys", os.getuid(), os.getgid())


@attack("put a link in the place of the reported outputs", needs="view")
def _():
    outputs = Path(os.environ["CUBELOOM_OUTPUTS"])
    outputs.unlink()
    outputs.symlink_to(DATA / "keys/sealing")


@attack("find an open folder or socket of the server among the own descriptors")
def _():
    numbers = [int(name) for name in os.listdir("/proc/self/fd")]
    kinds = [os.readlink(f"/proc/self/fd/{number}") for number in numbers if os.path.lexists(f"/proc/self/fd/{number}")]
    # Excludes the listing process itself, and the pipes and files of its own streams.
    left = [one for one in kinds if one.startswith(str(DATA)) and os.environ["CUBELOOM_RUN"] not in one or "socket:" in one]
    if left:
        raise Broke(f"there are {left}")
    return "there is none"


# Processes.
def look_into(whose, pid):
    for name in ("environ", "maps", "mem", "auxv"):
        path = Path(f"/proc/{pid}/{name}")
        attack(f"look into the process of {whose}: {name}")(lambda path=path: path.open("rb").read(1) or missing(path))
    for name in ("root", "cwd"):
        attack(f"look into the process of {whose}: {name}")(lambda name=name: os.listdir(f"/proc/{pid}/{name}/"))
    for name in ("exe", "fd/0", "fd/1"):
        attack(f"look into the process of {whose}: {name}")(lambda name=name: os.readlink(f"/proc/{pid}/{name}"))
    attack(f"see how {whose} was started", needs="view")(lambda: Path(f"/proc/{pid}/cmdline").read_bytes())


look_into("bob", BOB)
look_into("the server", SERVER)


@attack("see the processes of others", needs="view")
def _():
    seen = [pid for pid in os.listdir("/proc") if pid.isdigit() and os.stat(f"/proc/{pid}").st_uid != os.getuid()]
    if seen:
        raise Broke(f"there are {seen}")
    return "only those of its own uid are there"


for name, number in (("STOP", signal.SIGSTOP), ("KILL", signal.SIGKILL)):
    attack(f"send {name} to bob")(lambda number=number: os.kill(BOB, number))
    attack(f"send {name} to the server")(lambda number=number: os.kill(SERVER, number))
    attack(f"send {name} to the own shim", needs="platform")(lambda number=number: os.kill(os.getppid(), number))

attack("trace bob (ptrace)")(lambda: call(LIBC.ptrace, 16, BOB, 0, 0))
attack("trace the server (ptrace)")(lambda: call(LIBC.ptrace, 16, SERVER, 0, 0))
attack("trace the own shim (ptrace)", needs="platform")(lambda: call(LIBC.ptrace, 16, os.getppid(), 0, 0))


@attack("read the memory of bob (process_vm_readv)")
def _():
    buffer = ctypes.create_string_buffer(8)
    local = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 8)
    remote = (ctypes.c_void_p * 2)(0x400000, 8)
    syscall("process_vm_readv", BOB, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)


@attack("take a descriptor of bob (pidfd_getfd)")
def _():
    syscall("pidfd_getfd", syscall("pidfd_open", BOB, 0), 1, 0)


attack("bound what bob may use (prlimit)", needs="uid")(
    lambda: resource.prlimit(BOB, resource.RLIMIT_NOFILE, (8, 8))
)
attack("keep bob on one core", needs="uid")(lambda: os.sched_setaffinity(BOB, {0}))
attack("slow bob down (setpriority)", needs="uid")(lambda: os.setpriority(os.PRIO_PROCESS, BOB, 19))


# Resources shared by all programs of a machine.
reading("what bob left", *(["/tmp/bob-left", "/dev/shm/bob-left"] if "view" in FACTS["walls"] else []))


@attack("call bob at his socket in /tmp", needs="view")
def _():
    with socket.socket(socket.AF_UNIX) as one:
        one.connect("/tmp/bob.sock")


@attack("take the shared memory of bob (System V)", needs="uid")
def _():
    if FACTS["shared"] is None:
        missing("shared memory")
    call(LIBC.shmget, FACTS["shared"], 4096, 0o600)


@attack("wake the server by its socket", needs="uid")
def _():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
        one.sendto(b"x", str(DATA / "wake.sock"))


@attack("keep the server from starting again (lock)")
def _():
    with (DATA / "engine.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


# The kernel.
attack("mount something")(lambda: call(LIBC.mount, b"none", b"/tmp", b"tmpfs", 0, None))
attack("take away what hides the server's folder (umount)")(lambda: call(LIBC.umount2, str(DATA).encode(), 2))
attack("take away what hides processes (umount)")(lambda: call(LIBC.umount2, b"/proc", 2))
attack("enter the server's namespaces (setns)")(lambda: call(LIBC.setns, os.open(f"/proc/{SERVER}/ns/mnt", os.O_RDONLY), 0))
attack("become root (setuid)")(lambda: os.setuid(0))
attack("become bob (setuid)", needs="uid")(lambda: os.setuid(FACTS["uid"]))
attack("join the group of bob (setgroups)", needs="uid")(lambda: os.setgroups([FACTS["uid"]]))
attack("leave its root (chroot)")(lambda: os.chroot("/"))
attack("make a device (mknod)")(lambda: os.mknod("disk", 0o60666, os.makedev(254, 0)))
attack("load a program into the kernel (bpf)")(lambda: syscall("bpf", 0, ctypes.create_string_buffer(128), 128))
attack("load another kernel (kexec)")(lambda: syscall("kexec_load", 0, 0, 0, 0))
attack("change the time")(lambda: __import__("time").clock_settime(0, 0))
attack("run before all others (nice)")(lambda: os.setpriority(os.PRIO_PROCESS, 0, -20))
attack("open more files than it may (setrlimit)", needs="view")(
    lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (1 << 20, 1 << 20))
)
writing("settings of the kernel", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger")
reading("the kernel's memory and disks", "/dev/mem", "/dev/kmem", "/dev/vda", "/dev/sda", "/proc/kcore")


@attack("take away what hides the server's folder in a user namespace of its own")
def _():
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", 'umount "$1" && cat "$1/keys/sealing"', "-", str(DATA)],
        capture_output=True, text=True, check=False,
    )
    if done.returncode == 0:
        raise Broke("it was taken away")
    return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}"


@attack("see all processes by another /proc in a user namespace of its own")
def _():
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
         f"mount -t proc -o hidepid=off proc /proc && cat /proc/{BOB}/environ"],
        capture_output=True, text=True, check=False,
    )
    if done.returncode == 0:
        raise Broke("bob is seen")
    return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}"


@attack("gain rights by a program that has them (setuid)", needs="privileges")
def _():
    status = Path("/proc/self/status").read_text()
    if "NoNewPrivs:\t1" not in status:
        raise Broke("programs may give it more rights")
    return "NoNewPrivs is set"


@attack("keep any right of root (capabilities)")
def _():
    lines = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(("CapPrm", "CapEff", "CapAmb"))]
    if any(int(line.split()[1], 16) for line in lines):
        raise Broke(str(lines))
    return "there is none"


# Its limits.
def own_group():
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        number, controllers, path = line.split(":", 2)
        root = "/sys/fs/cgroup" + (f"/{controllers}" if controllers else "")
        if (number == "0" or "memory" in controllers.split(",")) and Path(root + path).is_dir():
            return Path(root + path)
    return missing("a control group")


for name in ("memory.max", "memory.limit_in_bytes", "pids.max", "cpu.max", "cgroup.procs", "tasks"):
    attack(f"lift the own limits: {name}", needs="uid")(lambda name=name: (own_group() / name).open("w").write("max\n"))
attack("leave the own control group", needs="uid")(
    lambda: (own_group().parent / "cgroup.procs").open("w").write(str(os.getpid()))
)
attack("be ended last when memory is short", needs="uid")(lambda: Path("/proc/self/oom_score_adj").write_text("-1000"))


@attack("take all numbers of processes (a fork bomb)", needs="view")
def _():
    children = []
    try:
        for _ in range(5000):
            child = os.fork()
            if child == 0:
                signal.pause()
            children.append(child)
    except OSError as error:
        return f"{type(error).__name__} after {len(children)}: {os.strerror(error.errno)}"
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    raise Broke("5,000 were started")


# The server's API.
def asks(path, token=None):
    request = urllib.request.Request(f"{FACTS['url']}/api/v1{path}")
    if token:
        request.add_header("authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            raise Broke(f"{answer.status}: {answer.read(200)!r}")
    except urllib.error.HTTPError as error:
        return f"HTTP {error.code}"


for path in ("/projects/bob", "/projects/bob/secrets", "/projects", "/users", "/audit", "/me"):
    attack(f"ask the server without signing in: {path}")(lambda path=path: asks(path))
    attack(f"ask the server with the job's own token: {path}")(lambda path=path: asks(path, os.environ.get("CUBELOOM_JOB_TOKEN", "none")))


def main():
    broken = 0
    for what, function in ATTACKS:
        try:
            by = function()
            if not isinstance(by, str):
                raise Broke(f"it gave {by!r}"[:200])
            line = {"tried": what, "refused": by}
        except OSError as error:
            line = {"tried": what, "refused": errno.errorcode.get(error.errno, str(error))}
        except ValueError as error:
            # Python's own message for EPERM, in `resource`.
            line = {"tried": what, "refused": str(error)}
        except Broke as error:
            broken += 1
            line = {"tried": what, "BROKE": str(error)}
        print(json.dumps(line), flush=True)
    print(json.dumps({"attacks": len(ATTACKS), "broken": broken}), flush=True)
    sys.exit(broken > 0)


main()
