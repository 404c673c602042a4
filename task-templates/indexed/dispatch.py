"""Runs the program once for every shard, and at the end the merge.

    dispatch.py SETTINGS --script shard.py ARGS...     a Python file of the pipeline's folder
    dispatch.py SETTINGS -- PROGRAM ARGS...            any other program
    SETTINGS: {"dispatch": "static", "shards": 8, "lease": 300, "attempts": 3, "merge": "merge.py", "args": 2}

The merge gets the last ARGS, as many as `args` says: a command's own are not for it.
Every worker takes shards from worker 0, one after the other: it asks, and worker 0 answers.

    {"do": "take"}                                           {"run": "3.1-2", "shard": 3}, {"wait": true} or {"end": true}
    {"do": "beat", "run": "3.1-2"}   each second             {"wanted": true}
    {"do": "done", "run": "3.1-2"}                           {"counted": true}
    {"do": "fail", "run": "3.1-2", "how": "...", "tail": "..."}  {}

A run of a shard writes into a folder of its own. Worker 0 alone counts results: it moves the folder to where results lie.
"""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

# The template's folder stays as it was: no compiled files in it.
sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "lib"))
import cubeloom
import link
from leases import SILENCE, Leases

INDEX, WORKERS = int(os.environ["JOB_COMPLETION_INDEX"]), int(os.environ["VC_WORKER_NUM"])
ATTEMPT = os.environ["CUBELOOM_ATTEMPT"]
#: What this task keeps, for all of its attempts.
HOME = cubeloom.run_dir / "shards" / f"{os.environ['CUBELOOM_TASK']}.{os.environ['CUBELOOM_INSTANCE']}"
RESULTS, REPORTS, LOGS, RUNNING = (HOME / name for name in ("results", "reports", "logs", "running"))
PLAN = HOME / "plan.json"
#: Written when all is over, for workers that come late or have lost their connection.
ENDED = RUNNING / f"ended-{ATTEMPT}"
#: Seconds between two words of a worker that runs a shard, and between two questions of one that has none.
BEAT, PAUSE = 1, 0.2
#: How long worker 0 may take to answer, or be away, before it is taken for lost, in seconds.
PATIENCE = 30
#: How long a program has between TERM and KILL, in seconds; less than the platform gives to a worker.
GRACE = 5
#: How much of a failed shard's log is shown, in bytes.
TAIL = 2000


def main(settings, words):
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    if INDEX:
        take_shards(Remote(), settings, words)
        return
    merge = settings["merge"]
    if merge and not Path(os.environ.get("CUBELOOM_CODE", "."), merge).is_file():
        sys.exit(f"the merge script {merge!r} is not in the pipeline's folder")
    office = Office(settings, words)
    # Who begins alone may be given others later.
    if WORKERS > 1 or settings["dispatch"] == "dynamic":
        link.listen(office.serve)
    threading.Thread(target=office.watch, daemon=True).start()
    try:
        take_shards(office, settings, words)
        office.close(merge, words[len(words) - settings["args"] :])
    finally:
        ENDED.touch()


class Office:
    """Worker 0's table of leases, which it and all others ask."""

    def __init__(self, settings, words):
        plan = {"shards": settings["shards"], "program": words}
        # Results of other shards, or of an earlier time that came to its end, are not these.
        if read(PLAN) != plan:
            shutil.rmtree(HOME, ignore_errors=True)
        shutil.rmtree(RUNNING, ignore_errors=True)
        for folder in (RESULTS, REPORTS, LOGS, RUNNING):
            folder.mkdir(parents=True, exist_ok=True)
        write(PLAN, plan)
        done = [int(path.name) for path in RESULTS.iterdir()]
        self.before = len(done)
        for shard in done:
            report(shard)
        if done:
            print(f"{self.before} of {settings['shards']} shards were done by an earlier attempt", flush=True)
        cubeloom.progress(self.before, settings["shards"])
        queues = WORKERS if settings["dispatch"] == "static" else 1
        self.leases = Leases(settings["shards"], done, settings["lease"], settings["attempts"], queues)
        self.lock = threading.Lock()
        self.tail = ""
        self.me = {"name": link.NAME, "index": 0, "holder": "0"}

    def serve(self, stream, hello):
        """Answers one connection of a worker until it ends."""
        while (message := link.receive(stream)) is not None:
            answer = self.answer(hello, message)
            try:
                link.send(stream, answer)
            except OSError:
                break
        with self.lock:
            for name in self.leases.gone(hello["holder"]):
                print(f"shard {name}: {hello['name']} went away", flush=True)

    def ask(self, **message):
        return self.answer(self.me, message)

    def answer(self, who, message):
        with self.lock:
            match message["do"]:
                case "take":
                    again = self.leases.leased_again
                    taken = self.leases.take(who["holder"], who["name"], who["index"], ATTEMPT)
                    if taken is None:
                        return {"end": True} if self.leases.over else {"wait": True}
                    if self.leases.leased_again > again:
                        print(f"shard {taken[0]}: leased again, to {who['name']}", flush=True)
                    return dict(zip(("run", "shard"), taken))
                case "beat":
                    return {"wanted": self.leases.beat(message["run"])}
                case "done":
                    return {"counted": self.count(message["run"])}
                case "fail":
                    print(f"shard {message['run']}: {message['how']}", flush=True)
                    self.leases.fail(message["run"], f"the last time {message['how']}")
                    if self.leases.failure and not self.tail:
                        self.tail = message["tail"]
                    return {}

    def count(self, name):
        """Makes the result of a run the result of its shard, if it is the first."""
        counted = self.leases.count(name)
        shard, running = name.split(".")[0], RUNNING / name
        if counted:
            try:
                # The result comes last: a shard that has one is done.
                keep(running, shard)
                running.rename(RESULTS / shard)
                report(shard)
            except OSError as error:
                self.leases.failure = f"the result of shard {shard} cannot be kept: {error}"
            cubeloom.progress(len(self.leases.done), self.leases.shards)
        return counted

    def watch(self):
        while True:
            time.sleep(1)
            with self.lock:
                for name in self.leases.tick():
                    print(f"shard {name}: its worker has said nothing for {SILENCE} s", flush=True)

    def close(self, merge, arguments):
        """Merges and reports, or says why not."""
        with self.lock:
            leases = self.leases
            if leases.failure:
                sys.exit(f"{self.tail}\n{leases.failure}".strip())
            figures = {"shards": leases.shards, "folder": str(RESULTS.relative_to(cubeloom.run_dir)), "done_before": self.before}
            figures |= {"leased_again": leases.leased_again, "failed": leases.failed, "duplicates": leases.duplicates}
            figures |= {"by_worker": dict(leases.by_worker)}
        if merge:
            print(f"merging {leases.shards} shards with {merge}", flush=True)
            env = {"CUBELOOM_SHARDS": str(leases.shards), "CUBELOOM_SHARDS_DIR": str(RESULTS)}
            if status := wait(start(program("--script", merge, *arguments), env), lambda: True):
                sys.exit(f"the merge, {merge}, {told(status)}; all shards are done, and the next attempt begins with the merge")
        write(PLAN, {"ended": True})
        cubeloom.outputs(**figures)


class Remote:
    """Worker 0, as another worker asks it."""

    def __init__(self):
        self.stream = None
        self.patience = link.PATIENCE
        self.holder = secrets.token_hex(8)

    def ask(self, **message):
        """Its answer, over another connection if need be."""
        deadline = time.monotonic() + self.patience
        while True:
            try:
                if self.stream is None:
                    self.stream = link.connect(patience=0, limit=PATIENCE, index=INDEX, holder=self.holder)
                link.send(self.stream, message)
                if (answer := link.receive(self.stream)) is not None:
                    self.patience = PATIENCE
                    return answer
                raise ConnectionError("worker 0 went away")
            except OSError as error:
                self.stream = None
                if ENDED.exists():
                    return {"end": True, "wanted": False, "counted": False}
                if time.monotonic() > deadline:
                    sys.exit(f"worker 0 has been away for {self.patience} s: {error}")
                time.sleep(PAUSE)


def take_shards(office, settings, words):
    """One shard after another until there are none."""
    while not (answer := office.ask(do="take")).get("end"):
        if answer.get("wait"):
            time.sleep(PAUSE)
        else:
            run(office, answer["run"], answer["shard"], settings["shards"], words)


def run(office, name, shard, shards, words):
    """Runs the program for one shard; a run that is not wanted any more is stopped."""
    folder, log = RUNNING / name, LOGS / f"{name}.log"
    folder.mkdir()
    said = RUNNING / f"{name}.jsonl"
    env = {"CUBELOOM_SHARD": str(shard), "CUBELOOM_SHARDS": str(shards), "CUBELOOM_SHARD_DIR": str(folder)}
    words = [fill(word, env) for word in words]
    began = time.monotonic()
    print(f"shard {name}: starts, its log is {log}", flush=True)
    with open(log, "wb") as file:
        process = start(program(*words), env | {"CUBELOOM_OUTPUTS": str(said)}, file)
        status = wait(process, lambda: office.ask(do="beat", run=name)["wanted"])
    if status is None:
        print(f"shard {name}: stopped, it is not wanted any more", flush=True)
    elif status == 0:
        counted = office.ask(do="done", run=name)["counted"]
        print(f"shard {name}: done in {time.monotonic() - began:.1f} s{'' if counted else ', but another was first'}", flush=True)
    else:
        tail = log.read_bytes()[-TAIL:].decode(errors="replace").strip()
        print(f"shard {name}: {told(status)}\n{tail}", file=sys.stderr, flush=True)
        office.ask(do="fail", run=name, how=f"it {told(status)} on {link.NAME}; its log is {log}", tail=tail)
    # What counts has been moved away.
    shutil.rmtree(folder, ignore_errors=True)
    said.unlink(missing_ok=True)


def program(*words):
    return [sys.executable, str(HERE / "program.py"), *words]


def start(words, env, log=None):
    """A process with a session of its own, so that it can be stopped with all of its children."""
    return subprocess.Popen(
        words, env=os.environ | env, stdin=subprocess.DEVNULL, stdout=log, stderr=log and subprocess.STDOUT, start_new_session=True
    )


def wait(process, wanted):
    """The exit status of a process; `None` when it was stopped because it was not wanted any more."""
    try:
        while True:
            try:
                return process.wait(timeout=BEAT)
            except subprocess.TimeoutExpired:
                if not wanted():
                    return None
    finally:
        if process.returncode is None:
            stop(process)


def stop(process):
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(timeout=GRACE)
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            return


def told(status):
    """What is said of a status that is not 0."""
    if status > 0:
        return f"ended with exit code {status}"
    return f"was ended by signal {-status} ({signal.Signals(-status).name.removeprefix('SIG')})"


def fill(word, env):
    """Words may name the shard's variables as they name the worker's: $(CUBELOOM_SHARD)."""
    for name, value in env.items():
        word = word.replace(f"$({name})", value)
    return word


def keep(running, shard):
    """Keeps what a run said, for it counts only when its result does, and every attempt of the task says it."""
    # It named its files where they were before they were counted.
    here, there = (str(folder.relative_to(cubeloom.run_dir)) for folder in (running, RESULTS / shard))
    try:
        text = running.with_name(f"{running.name}.jsonl").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return
    lines = [line.replace(here, there) for line in text.splitlines() if is_of_the_task(line)]
    (REPORTS / f"{shard}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def report(shard):
    """Says what the counted run of a shard said."""
    path = REPORTS / f"{shard}.jsonl"
    if path.exists():
        with open(os.environ["CUBELOOM_OUTPUTS"], "ab") as file:
            file.write(path.read_bytes())


def is_of_the_task(line):
    """Progress and checkpoints of a shard are not the task's."""
    try:
        return not {"progress", "checkpoint"} & json.loads(line).keys()
    except (ValueError, AttributeError):
        return False


def read(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def write(path, value):
    """Whole or not at all."""
    aside = path.with_suffix(".part")
    aside.write_text(json.dumps(value), encoding="utf-8")
    aside.rename(path)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2:])
