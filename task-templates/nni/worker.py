"""A worker: runs one trial after another, until it is stopped.

    worker.py --script SCRIPT ARGS...     a Python file of the pipeline's folder
    worker.py -- PROGRAM ARGS...          any other program

A trial talks to NNI as it does everywhere, by HTTP (nni/runtime/command_channel/http.py); here to this process, which passes
it on to the manager: PUT brings a command, GET waits for an answer.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

# The template's folder stays as it was: no compiled files in it.
sys.dont_write_bytecode = True
import link

PROGRAM = str(Path(__file__).resolve().parent / "program.py")
#: How long a trial may take to end when it is told to, and how long it is let wait for an answer, in seconds.
GRACE, TURN = 5, 20


class Trial:
    """The trial that runs here, and what it says to NNI."""

    def __init__(self, variables, words, stream):
        self.identity = variables["NNI_TRIAL_JOB_ID"]
        self.stream, self.lock = stream, threading.Lock()
        self.answers = queue.Queue()
        channel = urlsplit(variables["NNI_TRIAL_COMMAND_CHANNEL"])
        #: Nobody else on this machine knows it.
        self.path = channel.path
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        url = channel._replace(netloc=f"127.0.0.1:{self.server.server_port}").geturl()
        # As a trial on another machine than NNI's: what it prints is this worker's log, and not only NNI's file.
        told = {"NNI_TRIAL_COMMAND_CHANNEL": url, "NNI_PLATFORM": "remote"}
        words = [sys.executable, PROGRAM, *words]
        self.last = None
        # A group of its own, so that it can be ended with all that it started.
        self.process = subprocess.Popen(words, env=os.environ | variables | told, process_group=0)

    def handler(self):
        trial = self

        class Channel(BaseHTTPRequestHandler):
            def do_PUT(self):
                command = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if self.path == trial.path:
                    trial.say({"command": command})
                self.reply(200 if self.path == trial.path else 404)

            def do_GET(self):
                if self.path != trial.path:
                    return self.reply(404)
                try:
                    answer = trial.answers.get(timeout=TURN)
                except queue.Empty:
                    return self.reply(408)
                # Gone: there is nothing more to come.
                self.reply(410 if answer is None else 200, json.dumps(answer).encode())

            def reply(self, status, body=b""):
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        return Channel

    def follow(self):
        """Waits for its end, and tells it after all that it has said."""
        code = self.process.wait()
        if self.last:
            self.last.cancel()
        self.signal(signal.SIGKILL)
        self.server.shutdown()
        self.server.server_close()
        self.say({"exit": code if code >= 0 else 128 - code})

    def say(self, message):
        with self.lock:
            link.send(self.stream, message)

    def end(self):
        self.signal(signal.SIGTERM)
        self.last = threading.Timer(GRACE, self.signal, [signal.SIGKILL])
        self.last.daemon = True
        self.last.start()

    def signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass


def main(words):
    # Trials reach this process at this machine's own address, whatever goes by a proxy.
    os.environ["no_proxy"] = ",".join(filter(None, [os.environ.get("no_proxy") or os.environ.get("NO_PROXY"), "127.0.0.1"]))
    try:
        stream = link.connect(role="worker")
    except ConnectionError as error:
        sys.exit(str(error))
    trial = None
    while (message := link.receive(stream)) is not None:
        match message:
            case {"run": variables}:
                trial = Trial(variables, words, stream)
                threading.Thread(target=trial.follow, daemon=True).start()
            case {"answer": answer}:
                trial.answers.put(answer)
            case {"end": identity} if trial and trial.identity == identity:
                trial.end()
    if trial:
        trial.signal(signal.SIGKILL)


main(sys.argv[1:])
