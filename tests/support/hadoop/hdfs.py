#!/usr/bin/env python3
"""Runs a real HDFS (a NameNode and a DataNode) on this machine until its standard input is closed. With
YARN's jars, it also runs a real YARN (a ResourceManager and a NodeManager).

    hdfs.py JARS [JARS-OF-YARN]

Both are folders that `tools/jars` prints. All files are in one scratch folder, and the servers listen on
reserved ports of 127.0.0.1. Once a file can be written and a container started, it prints one line of JSON:
{"hdfs", "webhdfs", "user", "conf"}. With YARN, {"yarn"} is added, the address of the ResourceManager's API,
and the user `etl` has a folder and a queue. It then executes lines from standard input, and answers each with
a line: `kill namenode`, `start namenode`, `freeze namenode`, `thaw namenode`, the same with `datanode`,
`resourcemanager` and `nodemanager`. All servers also end when this script is killed.
"""

import contextlib
import ctypes
import json
import os
import pwd
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

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import ports  # noqa: E402

START_LIMIT = 120  # seconds; an idle machine needs about 6, with YARN 15
END_LIMIT = 20  # seconds; a NodeManager ends its containers first
PR_SET_PDEATHSIG = 1
HDFS = {
    "namenode": "org.apache.hadoop.hdfs.server.namenode.NameNode",
    "datanode": "org.apache.hadoop.hdfs.server.datanode.DataNode",
}
YARN = {
    "resourcemanager": "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager",
    "nodemanager": "org.apache.hadoop.yarn.server.nodemanager.NodeManager",
}
MAIN = HDFS | YARN
USER = pwd.getpwuid(os.getuid()).pw_name
SIGNALS = {"kill": signal.SIGKILL, "freeze": signal.SIGSTOP, "thaw": signal.SIGCONT}


def text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def environment():
    """The environment of a NodeManager's containers: the path of Java."""
    java = Path(shutil.which("java") or sys.exit("hdfs.py: there is no Java here")).resolve()
    return os.environ | {"JAVA_HOME": str(java.parent.parent)}


def connects(address):
    host, port = address.split(":")
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except OSError:
        return False
    return True


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def facts_of(url):
    """The JSON of a server's API; None if it is unreachable."""
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return json.load(answer)
    except (OSError, ValueError):
        return None


class Hadoop:
    def __init__(self, jars, jars_of_yarn, folder):
        self.folder, self.running = folder, {}
        self.conf = folder / "conf"
        # Empty pages: the jars have none, and the servers require their folders.
        for name in ("hdfs", "datanode", "static"):
            (self.conf / "webapps" / name).mkdir(parents=True)
        self.classes = dict.fromkeys(HDFS, f"{self.conf}:{jars}/*")
        self.rpc, self.http, *self.of_data = (f"127.0.0.1:{port}" for port in ports.reserve(5))
        self.write_hdfs()
        if jars_of_yarn:
            self.classes |= dict.fromkeys(YARN, f"{self.conf}:{jars_of_yarn}/*")
            self.api, *self.of_yarn = (f"127.0.0.1:{port}" for port in ports.reserve(8))
            self.write_yarn()

    def write_hdfs(self):
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
            # A dead DataNode is noticed after ten seconds.
            "dfs.heartbeat.interval": "1s",
            "dfs.namenode.heartbeat.recheck-interval": 1000,
            # Files of several blocks without gigabytes.
            "dfs.blocksize": 1 << 20,
            "dfs.namenode.fs-limits.min-block-size": 1 << 16,
        })

    def write_yarn(self):
        client, scheduler, tracker, admin, node, localizer, node_http = self.of_yarn
        self.settings("yarn-site.xml", {
            "yarn.resourcemanager.address": client,
            "yarn.resourcemanager.scheduler.address": scheduler,
            "yarn.resourcemanager.resource-tracker.address": tracker,
            "yarn.resourcemanager.admin.address": admin,
            "yarn.resourcemanager.webapp.address": self.api,
            "yarn.nodemanager.address": node,
            "yarn.nodemanager.localizer.address": localizer,
            "yarn.nodemanager.webapp.address": node_http,
            "yarn.nodemanager.resource.memory-mb": 4096,
            "yarn.nodemanager.resource.cpu-vcores": 4,
            "yarn.scheduler.minimum-allocation-mb": 256,
            "yarn.scheduler.maximum-allocation-mb": 3072,
            # Reports the used space, not the free space of the disk.
            "yarn.nodemanager.log-dirs": self.folder / "containers",
            "yarn.nodemanager.vmem-check-enabled": False,
            "yarn.nodemanager.pmem-check-enabled": False,
            "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": 99.5,
            # The grace period of a process before SIGKILL, in milliseconds.
            "yarn.nodemanager.sleep-delay-before-sigkill.ms": 500,
        })
        queues = {f"yarn.scheduler.capacity.root.{queue}.capacity": 50 for queue in ("default", "etl")}
        self.settings("capacity-scheduler.xml", queues | {
            "yarn.scheduler.capacity.root.queues": "default,etl",
            # One application may use all resources.
            "yarn.scheduler.capacity.root.etl.user-limit-factor": 2,
            "yarn.scheduler.capacity.root.default.user-limit-factor": 2,
            "yarn.scheduler.capacity.maximum-am-resource-percent": 0.8,
        })

    def settings(self, name, values):
        pairs = "".join(f"<property><name>{key}</name><value>{escape(text(value))}</value></property>"
                        for key, value in values.items())
        (self.conf / name).write_text(f"<configuration>{pairs}</configuration>\n")

    def java(self, name, *arguments):
        return ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", f"-Dhadoop.home.dir={self.folder}",
                "-Djava.net.preferIPv4Stack=true", "-cp", self.classes[name], MAIN[name], *arguments]

    def format(self):
        done = subprocess.run(self.java("namenode", "-format", "-force", "-nonInteractive"), capture_output=True,
                              text=True, cwd=self.folder, timeout=START_LIMIT)
        if done.returncode != 0:
            sys.exit(f"hdfs.py: the NameNode's folder could not be made: {done.stderr[-2000:]}")

    def start(self, name):
        with open(self.folder / f"{name}.log", "ab") as log:
            self.running[name] = subprocess.Popen(self.java(name), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                  cwd=self.folder, env=environment(), preexec_fn=die_with_parent)

    def wait(self):
        """Waits until a file can be written and a container started, as far as the servers for it run."""
        end = time.monotonic() + START_LIMIT
        while not self.is_ready():
            for name, process in self.running.items():
                if process.poll() is not None:
                    sys.exit(f"hdfs.py: the {name} ended with {process.returncode}: {self.last_words(name)}")
            if time.monotonic() > end:
                sys.exit(f"hdfs.py: it was not ready after {START_LIMIT} s: {self.last_words(name)}")
            time.sleep(0.1)

    def is_ready(self):
        return self.has_hdfs() and ("resourcemanager" not in self.running or self.has_yarn())

    def make_home(self, user):
        """As an administrator does on a real cluster: others may not write to /user."""
        for operation in ("op=MKDIRS", f"op=SETOWNER&owner={user}"):
            url = f"http://{self.http}/webhdfs/v1/user/{user}?{operation}&user.name={USER}"
            urllib.request.urlopen(urllib.request.Request(url, method="PUT"), timeout=30).close()

    def has_yarn(self):
        facts = facts_of(f"http://{self.api}/ws/v1/cluster/metrics")
        return facts is not None and ("nodemanager" not in self.running or facts["clusterMetrics"]["activeNodes"] > 0)

    def has_hdfs(self):
        found = facts_of(f"http://{self.http}/jmx?qry=Hadoop:service=NameNode,name=*")
        if found is None:
            return False
        facts = {key: value for bean in found["beans"] for key, value in bean.items()}
        # A server that has just been killed counts as alive for a while.
        alive = "datanode" not in self.running or (facts.get("NumLiveDataNodes", 0) > 0 and self.has_data_node())
        return facts.get("Safemode") == "" and alive

    def has_data_node(self):
        data, http, _ = self.of_data
        return connects(data) and facts_of(f"http://{http}/jmx?qry=java.lang:type=Runtime") is not None

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
        elif verb == "thaw":
            # On a busy machine it takes a while to run again.
            self.wait()

    def end(self):
        if "nodemanager" in self.running:
            self.running["nodemanager"].terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.running["nodemanager"].wait(END_LIMIT)
        for process in self.running.values():
            process.kill()
            process.wait()


def main():
    jars, jars_of_yarn = [*sys.argv[1:], None][:2]
    folder = Path(tempfile.mkdtemp(prefix="cubeloom-hdfs-"))
    hadoop = Hadoop(jars, jars_of_yarn, folder)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        hadoop.format()
        for name in hadoop.classes:
            hadoop.start(name)
        hadoop.wait()
        said = {"hdfs": f"hdfs://{hadoop.rpc}", "webhdfs": f"webhdfs://{hadoop.http}", "user": USER, "conf": str(hadoop.conf)}
        if jars_of_yarn:
            hadoop.make_home("etl")
            said["yarn"] = f"http://{hadoop.api}/ws/v1/cluster"
        print(json.dumps(said), flush=True)
        for line in sys.stdin:
            hadoop.do(line)
            print(json.dumps(line.strip()), flush=True)
    finally:
        hadoop.end()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
