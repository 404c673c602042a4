#!/usr/bin/env python3
"""Runs a real HDFS (a NameNode and a DataNode) on this machine until its standard input is closed.

    hdfs.py JARS

JARS is the folder that `tools/jars` prints. Everything lies in one scratch folder and listens on free ports of 127.0.0.1.
When a file can be written, one line of JSON is printed: {"hdfs", "webhdfs", "user"}. Then lines on standard input are done,
each answered with a line: `kill namenode`, `start namenode`, `freeze namenode`, `thaw namenode`, the same with
`datanode`. The two also end when this script is killed.
"""

import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from xml.sax.saxutils import escape

START_LIMIT = 120  # seconds; an idle machine needs about 6
PR_SET_PDEATHSIG = 1
MAIN = {
    "namenode": "org.apache.hadoop.hdfs.server.namenode.NameNode",
    "datanode": "org.apache.hadoop.hdfs.server.datanode.DataNode",
}
SIGNALS = {"kill": signal.SIGKILL, "freeze": signal.SIGSTOP, "thaw": signal.SIGCONT}


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def connects(address):
    host, port = address.split(":")
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except OSError:
        return False
    return True


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Hdfs:
    def __init__(self, jars, folder):
        self.folder, self.running = folder, {}
        self.conf = folder / "conf"
        # A page that shows nothing: the jars have no pages, and the servers want their folders.
        for name in ("hdfs", "datanode", "static"):
            (self.conf / "webapps" / name).mkdir(parents=True)
        self.classes = f"{self.conf}:{jars}/*"
        self.rpc, self.http, *self.of_data = (f"127.0.0.1:{port}" for port in free_ports(5))
        self.write_conf()

    def write_conf(self):
        data, data_http, data_ipc = self.of_data
        self.settings("core-site.xml", {"fs.defaultFS": f"hdfs://{self.rpc}", "hadoop.tmp.dir": self.folder / "state"})
        self.settings("hdfs-site.xml", {
            "dfs.replication": 1,
            "dfs.namenode.rpc-address": self.rpc,
            "dfs.namenode.http-address": self.http,
            "dfs.datanode.address": data,
            "dfs.datanode.http.address": data_http,
            "dfs.datanode.ipc.address": data_ipc,
            "dfs.datanode.hostname": "127.0.0.1",
            "dfs.namenode.safemode.extension": 0,
            "dfs.namenode.safemode.min.datanodes": 1,
            # A DataNode that died is known after ten seconds.
            "dfs.heartbeat.interval": "1s",
            "dfs.namenode.heartbeat.recheck-interval": 1000,
            # Files of several blocks without gigabytes.
            "dfs.blocksize": 1 << 20,
            "dfs.namenode.fs-limits.min-block-size": 1 << 16,
        })

    def settings(self, name, values):
        pairs = "".join(f"<property><name>{key}</name><value>{escape(str(value))}</value></property>"
                        for key, value in values.items())
        (self.conf / name).write_text(f"<configuration>{pairs}</configuration>\n")

    def java(self, name, *arguments):
        return ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", f"-Dhadoop.home.dir={self.folder}",
                "-Djava.net.preferIPv4Stack=true", "-cp", self.classes, MAIN[name], *arguments]

    def format(self):
        done = subprocess.run(self.java("namenode", "-format", "-force", "-nonInteractive"), capture_output=True,
                              text=True, cwd=self.folder, timeout=START_LIMIT)
        if done.returncode != 0:
            sys.exit(f"hdfs.py: the NameNode's folder could not be made: {done.stderr[-2000:]}")

    def start(self, name):
        with open(self.folder / f"{name}.log", "ab") as log:
            self.running[name] = subprocess.Popen(self.java(name), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                  cwd=self.folder, preexec_fn=die_with_parent)

    def wait(self):
        """Until a file can be written, or for the NameNode alone until it answers."""
        end = time.monotonic() + START_LIMIT
        while not self.is_ready():
            for name, process in self.running.items():
                if process.poll() is not None:
                    sys.exit(f"hdfs.py: the {name} ended with {process.returncode}: {self.last_words(name)}")
            if time.monotonic() > end:
                sys.exit(f"hdfs.py: it was not ready after {START_LIMIT} s: {self.last_words('namenode')}")
            time.sleep(0.1)

    def is_ready(self):
        try:
            with urllib.request.urlopen(f"http://{self.http}/jmx?qry=Hadoop:service=NameNode,name=*", timeout=5) as answer:
                beans = json.load(answer)["beans"]
        except (OSError, ValueError):
            return False
        facts = {key: value for bean in beans for key, value in bean.items()}
        # One that has just been killed counts as alive for a while.
        alive = "datanode" not in self.running or (facts.get("NumLiveDataNodes", 0) > 0 and connects(self.of_data[0]))
        return facts.get("Safemode") == "" and alive

    def last_words(self, name):
        lines = (self.folder / f"{name}.log").read_text(errors="replace").splitlines()
        return " | ".join(lines[-8:])

    def do(self, line):
        verb, name = line.split()
        if verb == "start":
            self.start(name)
            self.wait()
        else:
            self.running[name].send_signal(SIGNALS[verb])
        if verb == "kill":
            self.running.pop(name).wait()

    def end(self):
        for process in self.running.values():
            process.kill()
            process.wait()


def main():
    (jars,) = sys.argv[1:]
    folder = Path(tempfile.mkdtemp(prefix="cubeloom-hdfs-"))
    hdfs = Hdfs(jars, folder)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        hdfs.format()
        for name in MAIN:
            hdfs.start(name)
        hdfs.wait()
        user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
        print(json.dumps({"hdfs": f"hdfs://{hdfs.rpc}", "webhdfs": f"webhdfs://{hdfs.http}", "user": user}), flush=True)
        for line in sys.stdin:
            hdfs.do(line)
            print(json.dumps(line.strip()), flush=True)
    finally:
        hdfs.end()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
