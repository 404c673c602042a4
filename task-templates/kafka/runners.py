"""What is done for messages: a program that is started for each, or a function of a process that stays."""

import collections
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from link import SECRETS

HERE = Path(__file__).resolve().parent
#: More than this is no message, in bytes.
LARGEST = 128 << 20
#: How long the end of a program's log is waited for when it has ended, in seconds.
LOG = 2.0


class Failed(Exception):
    """Why a message could not be done, in a sentence."""


class Job:
    """A call in a thread of its own, which tells when it is done."""

    def __init__(self, do, wake):
        self.do, self.wake, self.result = do, wake, None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.done = threading.Event()
        self.thread.start()

    def run(self):
        try:
            self.result = self.do()
        except Failed as failed:
            self.result = failed
        except Exception as error:
            self.result = Failed(f"{type(error).__name__}: {error}")
        self.done.set()
        try:
            self.wake()
        except Exception:
            # The connection went away meanwhile: who waits finds that out.
            pass

    def is_done(self):
        return self.done.is_set()

    def join(self):
        self.thread.join()


def environment():
    """What programs see: `import cubeloom`, the pipeline's modules, this Python first; not the broker's password."""
    variables = {name: value for name, value in os.environ.items() if name not in SECRETS}
    code = os.environ.get("CUBELOOM_CODE", os.getcwd())
    for name, folders in (("PYTHONPATH", [code, str(HERE / "lib")]), ("PATH", [os.path.dirname(sys.executable)])):
        rest = [part for part in variables.get(name, "").split(os.pathsep) if part and part not in folders]
        variables[name] = os.pathsep.join([*folders, *rest])
    return variables


class Command:
    """A program for each message, or for each batch."""

    def __init__(self, options):
        self.options, self.environment, self.process = options, environment(), None
        self.lock = threading.Lock()
        self.killed = False
        program = options.command[0]
        if shutil.which(program, path=self.environment["PATH"]) is None:
            raise SystemExit(f"`command`: there is no program {program}")

    def load(self):
        self.killed = False

    def run(self, batch, tries):
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as made:
            variables = {"MESSAGE_COUNT": str(len(batch))}
            if self.options.batch == 1:
                given.write(batch[0].body)
                variables |= batch[0].variables(tries)
            else:
                given.writelines(f"{message.line(tries)}\n".encode() for message in batch)
            given.seek(0)
            self.call(given, made, variables)
            return self.read(made)

    def call(self, given, made, variables):
        wanted = made if self.options.has_output else None
        with self.lock:
            if self.killed:
                raise Failed("it was stopped")
            # A group of its own, so that what it has started ends with it.
            variables = self.environment | variables
            process = self.process = subprocess.Popen(
                self.options.command, stdin=given, stdout=wanted, stderr=subprocess.PIPE, env=variables, process_group=0
            )
        log = Log(process.stderr)
        try:
            code = process.wait(self.options.timeout)
        except subprocess.TimeoutExpired:
            raise Failed(f"it took longer than {self.options.timeout:g} s") from None
        finally:
            self.end(process)
            log.join(LOG)
        if code != 0:
            how = f"exit code {code}" if code > 0 else f"ended by {signal.Signals(-code).name}"
            raise Failed(": ".join([how, *log.last]))

    def read(self, made):
        if not self.options.has_output:
            return []
        size = made.seek(0, os.SEEK_END)
        if size > LARGEST:
            raise Failed(f"it wrote {size} bytes, more than a message may have")
        made.seek(0)
        text = made.read()
        bodies = [text] if self.options.batch == 1 else text.splitlines()
        return [(body, None) for body in bodies if body]

    def end(self, process):
        with self.lock:
            end_group(process)
            self.process = None

    def kill(self):
        with self.lock:
            self.killed = True
            if self.process is not None:
                end_group(self.process)


class Log(threading.Thread):
    """Passes on what a program writes to its standard error, and keeps its last line."""

    def __init__(self, stream):
        super().__init__(daemon=True)
        self.stream, self.last = stream, collections.deque(maxlen=1)
        self.start()

    def run(self):
        with self.stream:
            for line in self.stream:
                sys.stderr.buffer.write(line)
                sys.stderr.buffer.flush()
                if text := line.decode(errors="replace").strip():
                    self.last.append(text[:500])


class Script:
    """A function `handle` of a Python file, which is loaded once and called for each message, or for each batch."""

    def __init__(self, options):
        self.options, self.environment = options, environment()
        self.process = self.link = None
        self.lock = threading.Lock()
        self.killed = False
        path = Path(os.environ.get("CUBELOOM_CODE", os.getcwd()), options.script)
        if not path.is_file():
            raise SystemExit(f"`script`: {options.script!r} is not in the pipeline's folder: {path} does not exist")
        self.argv = [str(path), *options.command]

    def load(self):
        self.killed = False
        self.start_anew()

    def start_anew(self):
        """It may have ended between two messages, or been ended with one."""
        if self.process is not None and self.process.poll() is not None:
            self.stop()
        if self.process is None:
            self.start()

    def start(self):
        with self.lock:
            if self.killed:
                raise Failed("it was stopped")
            self.link, theirs = multiprocessing.Pipe()
            words = [sys.executable, str(HERE / "handler.py"), str(theirs.fileno()), *self.argv]
            self.process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, env=self.environment, pass_fds=[theirs.fileno()], process_group=0
            )
            theirs.close()
        self.receive(None)

    def run(self, batch, tries):
        self.start_anew()
        facts = [message.facts(tries) | {"body": message.body} for message in batch]
        try:
            self.link.send((self.options.batch > 1, facts))
        except OSError:
            raise self.over() from None
        results = self.receive(self.options.timeout)
        if large := [len(body) for body, _ in results if len(body) > LARGEST]:
            raise Failed(f"it returned {large[0]} bytes, more than a message may have")
        return results if self.options.has_output else []

    def receive(self, limit):
        try:
            if not self.link.poll(limit):
                self.stop()
                raise Failed(f"it took longer than {limit:g} s")
            is_well, value = self.link.recv()
        except (EOFError, OSError):
            raise self.over() from None
        if not is_well:
            raise Failed(value)
        return value

    def over(self):
        process = self.stop()
        code = process.returncode if process is not None else None
        if code is None:
            return Failed("the process of the script was stopped")
        how = f"ended with exit code {code}" if code >= 0 else f"was ended by {signal.Signals(-code).name}"
        return Failed(f"the process of the script {how}")

    def stop(self):
        """Ends the process, if it has not ended: the next message gets a new one."""
        with self.lock:
            process, self.process = self.process, None
            if process is not None:
                try:
                    # One that has just closed its side says with which code it ends.
                    process.wait(LOG if self.link.poll(0) else 0)
                except (subprocess.TimeoutExpired, OSError):
                    pass
                end_group(process)
                self.link.close()
            return process

    def kill(self):
        with self.lock:
            self.killed = True
            if self.process is not None:
                end_group(self.process)


def end_group(process):
    """Ends a program with what it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
