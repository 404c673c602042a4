"""The master: runs the recipe, and gives the commands that it hands out to workers that are free.

    master.py --script run.py ARGS...     a Python file of the pipeline's folder
    master.py -- PROGRAM ARGS...          any other program: ./run.sh

The recipe finds in KALDI_CMD what it sets as its `train_cmd` and `decode_cmd`. What it ends with is the task's end.
"""

import hmac
import os
import queue
import shlex
import socketserver
import subprocess
import sys
import threading
from pathlib import Path

# The template's folder stays as it was: no compiled files in it.
sys.dont_write_bytecode = True
import link

HERE = Path(__file__).resolve().parent
#: Commands that no worker has yet: (command, its number, where its exit status goes).
WAITING = queue.Queue()


class Caller(socketserver.StreamRequestHandler):
    """A worker that takes commands, or a hand_out that brings some."""

    def handle(self):
        stream = self.connection.makefile("rw")
        nonce = os.urandom(32).hex()
        link.send(stream, nonce)
        hello = link.receive(stream)
        if not isinstance(hello, dict) or not hmac.compare_digest(str(hello.get("mac")), link.mac(nonce)):
            print(f"refused a caller at {self.client_address[0]}: it does not know this job's token", flush=True)
        elif hello["role"] == "worker":
            serve(stream, hello["name"])
        else:
            gather(stream)


def serve(stream, name):
    """Gives a worker one command after another."""
    print(f"{name} takes work", flush=True)
    while True:
        command, number, answers = WAITING.get()
        try:
            link.send(stream, command)
            answer = link.receive(stream)
        except OSError:
            answer = None
        if answer is None:
            # The platform ends the job, for it sees the worker's end as well.
            print(f"{name} went away with command {number}", flush=True)
            answers.put((number, 255))
            return
        answers.put((number, answer["exit"]))


def gather(stream):
    """Puts a hand_out's commands in the queue, and answers when all have ended."""
    commands, answers = link.receive(stream) or [], queue.Queue()
    for number, command in enumerate(commands):
        WAITING.put((command, number, answers))
    ended = dict(answers.get() for _ in commands)
    link.send(stream, [ended[number] for number in range(len(commands))])


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128


def main(words):
    host = os.environ["CUBELOOM_HOST"]
    # On a cluster the name may be a service's, which nobody can listen at.
    server = Server((host if host[:1].isdigit() else "", link.PORT), Caller)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.environ["KALDI_CMD"] = shlex.join([sys.executable, str(HERE / "hand_out.py")])
    done = subprocess.run([sys.executable, str(HERE / "program.py"), *words])
    sys.exit(done.returncode if done.returncode >= 0 else 128 - done.returncode)


main(sys.argv[1:])
