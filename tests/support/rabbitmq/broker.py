#!/usr/bin/env python3
"""Runs a real RabbitMQ on this machine until its standard input is closed.

    broker.py

All files are in one scratch folder, including Erlang's cookie and its port mapper (epmd), and the servers
listen on reserved ports of 127.0.0.1. The machine's own RabbitMQ is not affected. Once queues can be
declared, it prints one line of JSON: {"url", "user", "password", "reader", "reader_password"}. `user` may do
everything; `reader` may read and write, but not declare. It then executes lines from standard input, and
answers each with a line: `stop` (as an administrator does), `kill`, `start`, `freeze`, `thaw`. The broker
also ends when this script is killed.
"""

import base64
import ctypes
import hashlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import ports  # noqa: E402

#: Debian's own command switches to the user `rabbitmq` and reads /etc/rabbitmq; the server binary does
#: neither.
SERVER = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
START_LIMIT = 120  # seconds; an idle machine needs about 5
STOP_LIMIT = 30
PR_SET_PDEATHSIG = 1
SIGNALS = {"kill": signal.SIGKILL, "freeze": signal.SIGSTOP, "thaw": signal.SIGCONT}


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def hashed(password):
    """RabbitMQ's format: a salt, and the SHA-256 of salt and password."""
    salt = secrets.token_bytes(4)
    return base64.b64encode(salt + hashlib.sha256(salt + password.encode()).digest()).decode()


class Broker:
    def __init__(self, folder):
        self.folder, self.server, self.epmd = folder, None, None
        self.port, self.epmd_port, self.distribution = ports.reserve(3)
        self.passwords = {"tester": secrets.token_hex(8), "reader": secrets.token_hex(8)}
        self.write_conf()

    def write_conf(self):
        allowed = {"tester": (".*", ".*", ".*"), "reader": ("^$", ".*", ".*")}
        definitions = {
            "vhosts": [{"name": "/"}, {"name": "closed"}],
            "users": [
                {"name": name, "password_hash": hashed(password), "hashing_algorithm": "rabbit_password_hashing_sha256", "tags": ""}
                for name, password in self.passwords.items()
            ],
            "permissions": [
                {"user": name, "vhost": "/", "configure": configure, "write": write, "read": read}
                for name, (configure, write, read) in allowed.items()
            ],
        }
        (self.folder / "definitions.json").write_text(json.dumps(definitions))
        (self.folder / "rabbitmq.conf").write_text(
            f"listeners.tcp.local = 127.0.0.1:{self.port}\n"
            f"load_definitions = {self.folder}/definitions.json\n"
            # The disk of a machine that builds is nearly full.
            "disk_free_limit.absolute = 1MB\n"
            "log.console = true\nlog.console.level = info\nlog.file = false\n"
        )

    def environment(self):
        return {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8",
            "HOME": str(self.folder),
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_CONFIG_FILE": f"{self.folder}/rabbitmq.conf",
            "RABBITMQ_ADVANCED_CONFIG_FILE": f"{self.folder}/advanced.config",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{self.folder}/plugins",
            "RABBITMQ_MNESIA_BASE": f"{self.folder}/mnesia",
            "RABBITMQ_LOG_BASE": f"{self.folder}/log",
            "RABBITMQ_GENERATED_CONFIG_DIR": f"{self.folder}/config",
            "RABBITMQ_NODENAME": "test@localhost",
            "RABBITMQ_DIST_PORT": str(self.distribution),
            "ERL_EPMD_PORT": str(self.epmd_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            # The command replaces itself by the virtual machine, which then ends with this script.
            "RUNNING_UNDER_SYSTEMD": "true",
            # An epmd that Erlang starts by itself would stay. Two schedulers need less memory than one per
            # CPU.
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-start_epmd false +S 2:2 +sbwt none -kernel inet_dist_use_interface {127,0,0,1}",
        }

    def spawn(self, log, command):
        with open(self.folder / log, "ab") as file:
            return subprocess.Popen(command, env=self.environment(), stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                                    cwd=self.folder, preexec_fn=die_with_parent)

    def start(self):
        if self.epmd is None:
            self.epmd = self.spawn("epmd.log", ["epmd", "-port", str(self.epmd_port), "-address", "127.0.0.1"])
            self.wait(lambda: connects(self.epmd_port))
        self.server = self.spawn("rabbitmq.log", [str(SERVER)])
        self.wait(lambda: connects(self.port))

    def wait(self, is_ready):
        end = time.monotonic() + START_LIMIT
        while not is_ready():
            for name, process in (("epmd", self.epmd), ("rabbitmq", self.server)):
                if process is not None and process.poll() is not None:
                    sys.exit(f"broker.py: {name} ended with {process.returncode}: {self.last_words(name)}")
            if time.monotonic() > end:
                sys.exit(f"broker.py: it was not ready after {START_LIMIT} s: {self.last_words('rabbitmq')}")
            time.sleep(0.1)

    def last_words(self, name):
        return " | ".join((self.folder / f"{name}.log").read_text(errors="replace").splitlines()[-12:])

    def do(self, verb):
        if verb == "start":
            return self.start()
        if verb == "stop":
            # Erlang shuts its applications down, and durable queues are written.
            self.server.terminate()
            self.server.wait(STOP_LIMIT)
        else:
            self.server.send_signal(SIGNALS[verb])
        if verb == "kill":
            self.server.wait()

    def end(self):
        for process in (self.server, self.epmd):
            if process is not None:
                process.kill()
                process.wait()


def connects(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


def main():
    if not SERVER.exists():
        sys.exit("the broker of the tests needs RabbitMQ; install it with: apt-get install --no-install-recommends rabbitmq-server")
    folder = Path(tempfile.mkdtemp(prefix="cubeloom-amqp-"))
    (folder / "plugins").write_text("[].\n")
    broker = Broker(folder)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        broker.start()
        print(json.dumps({
            "url": f"amqp://127.0.0.1:{broker.port}",
            "user": "tester", "password": broker.passwords["tester"],
            "reader": "reader", "reader_password": broker.passwords["reader"],
        }), flush=True)
        for line in sys.stdin:
            broker.do(line.strip())
            print(json.dumps(line.strip()), flush=True)
    finally:
        broker.end()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
