#!/usr/bin/env python3
"""Runs a real Kafka, one KRaft node, on this machine until its standard input is closed.

    broker.py JARS

JARS is the folder that `tools/jars tests/support/kafka/pom.xml` prints. All files are in one scratch folder,
and the broker listens on reserved ports of 127.0.0.1. Once topics can be created, it prints one line of JSON:
{"servers", "secure", "ca", "user", "password"}. `servers` allows everything without a password. `secure`
requires SASL over TLS, with a certificate that `ca` (PEM) has signed. `user` may use topics without ACLs.
Missing topics are created when a client requests that, as brokers do by default. It then executes lines from
standard input, and answers each with a line: `kill` and `start`. The broker also ends when this script is
killed.
"""

import ctypes
import json
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import ports  # noqa: E402

START_LIMIT = 120  # seconds; an idle machine needs about 4
READY = "Kafka Server started"
PR_SET_PDEATHSIG = 1
#: Little memory, and a minimal JIT, which would not pay off within a minute.
JAVA = ["java", "-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
        "-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info"]


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Broker:
    def __init__(self, jars, folder):
        self.classes, self.folder, self.server, self.log = f"{jars}/*", folder, None, None
        self.port, self.secure, self.controller = ports.reserve(3)
        self.password = secrets.token_hex(8)
        self.make_certificate()
        self.write_properties()
        self.format()

    def make_certificate(self):
        key, certificate = self.folder / "key.pem", self.folder / "ca.pem"
        words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-days", "2",
                 "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                 "-keyout", str(key), "-out", str(certificate)]
        subprocess.run(words, check=True, capture_output=True)
        (self.folder / "server.pem").write_text(key.read_text() + certificate.read_text())

    def write_properties(self):
        login = "org.apache.kafka.common.security.plain.PlainLoginModule required"
        settings = {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@127.0.0.1:{self.controller}",
            "listeners": f"OPEN://127.0.0.1:{self.port},SECURE://127.0.0.1:{self.secure},CONTROLLER://127.0.0.1:{self.controller}",
            "advertised.listeners": f"OPEN://127.0.0.1:{self.port},SECURE://localhost:{self.secure}",
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "OPEN",
            "listener.security.protocol.map": "OPEN:PLAINTEXT,SECURE:SASL_SSL,CONTROLLER:PLAINTEXT",
            "listener.name.secure.sasl.enabled.mechanisms": "PLAIN",
            "listener.name.secure.plain.sasl.jaas.config": f'{login} user_reader="{self.password}";',
            "listener.name.secure.ssl.keystore.type": "PEM",
            "listener.name.secure.ssl.keystore.location": f"{self.folder}/server.pem",
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS",
            "allow.everyone.if.no.acl.found": "true",
            "log.dirs": f"{self.folder}/data",
            "auto.create.topics.enable": "true",
            "delete.topic.enable": "true",
            "offsets.topic.num.partitions": "1",
            "offsets.topic.replication.factor": "1",
            "transaction.state.log.num.partitions": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "share.coordinator.state.topic.replication.factor": "1",
            "share.coordinator.state.topic.min.isr": "1",
            # Lost members are noticed soon.
            "group.min.session.timeout.ms": "1000",
            "group.initial.rebalance.delay.ms": "200",
            "log.cleaner.dedupe.buffer.size": "4194304",
            "num.network.threads": "1",
            "num.io.threads": "2",
            "background.threads": "2",
            "num.recovery.threads.per.data.dir": "1",
        }
        (self.folder / "server.properties").write_text("".join(f"{name}={value}\n" for name, value in settings.items()))

    def format(self):
        # A cluster's id is 16 bytes in base64.
        words = [*JAVA, "-cp", self.classes, "kafka.tools.StorageTool", "format", "-t", "AAAAAAAAQACAAAAAAAAAAA",
                 "-c", f"{self.folder}/server.properties"]
        done = subprocess.run(words, capture_output=True, text=True, preexec_fn=die_with_parent)
        if done.returncode:
            sys.exit(f"broker.py: the storage was not formatted: {done.stdout}{done.stderr}")

    def start(self):
        self.server = subprocess.Popen(
            [*JAVA, "-cp", self.classes, "kafka.Kafka", f"{self.folder}/server.properties"], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace", cwd=self.folder, preexec_fn=die_with_parent,
        )
        self.log = Log(self.server.stderr)
        if not self.log.ready.wait(START_LIMIT) or not self.log.is_ready:
            sys.exit(f"broker.py: Kafka did not start: {' | '.join(self.log.lines[-12:])}")

    def do(self, verb):
        {"kill": self.end, "start": self.start}[verb]()

    def end(self):
        if self.server is not None:
            self.server.kill()
            self.server.wait()


class Log(threading.Thread):
    """Reads the broker's output; `ready` is set when the broker is ready, or has ended before."""

    def __init__(self, stream):
        super().__init__(daemon=True)
        self.stream, self.lines, self.ready, self.is_ready = stream, [], threading.Event(), False
        self.start()

    def run(self):
        for line in self.stream:
            self.lines.append(line.strip())
            if READY in line:
                self.is_ready = True
                self.ready.set()
        self.ready.set()


def main(jars):
    folder = Path(tempfile.mkdtemp(prefix="cubeloom-kafka-"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    broker = None
    try:
        broker = Broker(jars, folder)
        broker.start()
        print(json.dumps({
            "servers": f"127.0.0.1:{broker.port}",
            "secure": f"localhost:{broker.secure}",
            "ca": (folder / "ca.pem").read_text(),
            "user": "reader", "password": broker.password,
        }), flush=True)
        for line in sys.stdin:
            broker.do(line.strip())
            print(json.dumps(line.strip()), flush=True)
    finally:
        if broker is not None:
            broker.end()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
