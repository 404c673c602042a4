"""The head and the workers of a Ray cluster that is there for one job.

    main.py head WORKERS --script SCRIPT ARGS...    starts Ray, and runs the script as a job of Ray when the workers have come
    main.py head WORKERS -- PROGRAM ARGS...         or any other program
    main.py worker                                  joins, and ends when the head does
    main.py job WORKERS ...                         that job

The head is told where Ray listens (RAY_ADDRESS) and what its job is called (RAY_JOB_SUBMISSION_ID). Where KubeRay runs the
job it tells how Ray is to be started, too (KUBERAY_GEN_RAY_START_CMD), and asks the head how the job has ended; so there
the head stays until it is told to end.
"""

import asyncio
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: Ray's own; outside the ports that it gives to its workers (10002 to 19999).
DASHBOARD_PORT = 8265
#: How long the head waits for Ray and for its workers, in seconds.
PATIENCE = 300
#: How often Ray is started on a node: it gives itself 30 s, which is not enough on a machine that is busy.
STARTS = 5
#: How long Ray may take to end by itself, in seconds.
GRACE = 5


def main(words):
    guard()
    match words:
        case ["head", workers, *words]:
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
            sys.exit(lead(workers, words))
        case ["worker"]:
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
            sys.exit(follow())
        case ["job", workers, *words]:
            wait_for_workers(int(workers))
            os.execv(sys.executable, [sys.executable, str(HERE / "program.py"), *words])
        case _:
            sys.exit(__doc__)


def lead(workers, words):
    """The exit code of the program."""
    port = os.environ["RAY_ADDRESS"].rpartition(":")[2]
    dashboard = [f"--dashboard-host={host()}", f"--dashboard-port={DASHBOARD_PORT}"]
    for _ in range(STARTS):
        # Sockets lie in it, whose paths must be short.
        folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")
        ray = start(["--head", f"--port={port}", f"--temp-dir={folder}", *dashboard])
        try:
            if client := submit(ray, [sys.executable, __file__, "job", workers, *words]):
                code = end_of_job(client)
                if by_operator():
                    stay(ray, code)
                return code
        finally:
            stop(ray)
            shutil.rmtree(folder, ignore_errors=True)
        print(f"Ray ended with {ray.returncode} before its job began", flush=True)
    return 1


def follow():
    """The head decides how the job ends: a worker that loses it has nothing more to do."""
    for _ in range(STARTS):
        ray = start([f"--address={os.environ['RAY_ADDRESS']}"])
        try:
            code = ray.wait()
        finally:
            stop(ray)
        if not is_head_there():
            return 0
        print(f"Ray ended with {code} here, while its head is there", flush=True)
    return code if code > 0 else 128 - code


def is_head_there():
    name, _, port = os.environ["RAY_ADDRESS"].rpartition(":")
    try:
        socket.create_connection((name, int(port)), timeout=5).close()
    except OSError:
        return False
    return True


def guard():
    """Ray obeys whoever reaches it, unless it has a token: this job's own, which its workers have and nobody else. Where an
    operator starts Ray it brings one of its own, as it has to ask the head. Versions before 2.52 know of none."""
    if not by_operator():
        os.environ.setdefault("RAY_AUTH_MODE", "token")
        os.environ.setdefault("RAY_AUTH_TOKEN", os.environ["CUBELOOM_JOB_TOKEN"])


def by_operator():
    return "KUBERAY_GEN_RAY_START_CMD" in os.environ


def host():
    return os.environ["CUBELOOM_HOST"]


def start(options):
    """Ray's own processes, below one that ends when they do. Tasks run in processes of theirs, on every node, and import
    what the program does."""
    code = os.environ.get("CUBELOOM_CODE", os.getcwd())
    paths = [code, str(HERE / "lib"), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    # An agent listens at 127.0.0.1, too, which all of a machine share: at a port of its own, then.
    options = [*options, f"--node-ip-address={host()}", "--dashboard-agent-listen-port=0"]
    command = ["ray", "start", *options, "--disable-usage-stats", "--block"]
    if by_operator():
        command = shlex.split(os.environ["KUBERAY_GEN_RAY_START_CMD"])
    return subprocess.Popen(command, stdin=subprocess.DEVNULL)


def submit(ray, command):
    """A client of Ray, when it has taken the job of the number that the platform gave it; nothing where Ray ended before."""
    from ray.job_submission import JobSubmissionClient

    address = f"http://{'127.0.0.1' if by_operator() else host()}:{DASHBOARD_PORT}"
    end = time.monotonic() + PATIENCE
    while ray.poll() is None:
        try:
            if is_healthy(address):
                client = JobSubmissionClient(address)
                client.submit_job(entrypoint=shlex.join(command), submission_id=os.environ["RAY_JOB_SUBMISSION_ID"])
                return client
            wrong = "it is not healthy"
        except OSError as error:
            wrong = error
        except RuntimeError as error:
            # Ray answers before the agents are there that run jobs, and then says that it is to be asked again.
            if "No available agent" not in str(error):
                raise
            wrong = error
        if time.monotonic() > end:
            sys.exit(f"Ray took no job at {address} within {PATIENCE} s: {wrong}")
        time.sleep(0.5)
    return None


def is_healthy(address):
    with urllib.request.urlopen(f"{address}/api/gcs_healthz", timeout=5) as answer:
        return b"success" in answer.read()


def end_of_job(client):
    """Shows what the job prints, and tells its exit code."""
    from ray.job_submission import JobStatus

    identity = os.environ["RAY_JOB_SUBMISSION_ID"]
    asyncio.run(show(client, identity))
    while not (status := client.get_job_status(identity)).is_terminal():
        time.sleep(0.5)
    if status == JobStatus.SUCCEEDED:
        return 0
    job = client.get_job_info(identity)
    print(f"the job of Ray {status.lower()}: {job.message}", flush=True)
    return job.driver_exit_code or 1


async def show(client, identity):
    async for lines in client.tail_job_logs(identity):
        print(lines, end="", flush=True)


def wait_for_workers(workers):
    """Until as many nodes are there as the job has workers, the head among them."""
    import ray

    ray.init(log_to_driver=False, logging_level="warning")
    end = time.monotonic() + PATIENCE
    while (there := sum(node["Alive"] for node in ray.nodes())) <= workers:
        if time.monotonic() > end:
            sys.exit(f"only {there} of {workers + 1} nodes of Ray were there after {PATIENCE} s")
        time.sleep(0.5)
    ray.shutdown()


def stay(ray, code):
    """Until the platform ends this worker, with the program's exit code: the operator has to hear of its end first."""

    def end(*_):
        stop(ray)
        os._exit(code)

    signal.signal(signal.SIGTERM, end)
    ray.wait()


def stop(ray):
    for tell in (ray.terminate, ray.kill):
        if ray.poll() is not None:
            return
        tell()
        try:
            ray.wait(timeout=GRACE)
        except subprocess.TimeoutExpired:
            continue


if __name__ == "__main__":
    main(sys.argv[1:])
