#!/usr/bin/env python3
"""Runs a real S3 server (Ceph's RADOS gateway) on this machine until its standard input is closed.

    gateway.py [--bucket NAME]... [--quota NAME=BYTES]... [--keep FOLDER]

All files are in one scratch folder, and the daemons listen on reserved ports of 127.0.0.1. Once the gateway
answers, it prints one line of JSON: {"endpoint", "access_key", "secret_key", "region", "folder"}. It executes
lines from standard input, and answers each with a line of JSON: `uploads NAME` with the keys of that bucket's
unfinished uploads, `mark NAME/KEY` with the ETag of an object. Closing standard input, SIGTERM or SIGINT ends
all daemons by their process ids, and removes the folder. The daemons also end when this script is killed.
"""

import argparse
import ctypes
import datetime
import hashlib
import hmac
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import uuid
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import ports  # noqa: E402

PACKAGES = ["ceph-mon", "ceph-osd", "ceph-mgr", "ceph-common", "radosgw"]
PROGRAMS = ["monmaptool", "ceph-authtool", "ceph-mon", "ceph-osd", "ceph", "radosgw", "radosgw-admin"]
START_LIMIT = 120  # seconds; an idle machine needs about 15
REGION = "us-east-1"
NOT_READY = "problem getting command descriptions"
PR_SET_PDEATHSIG = 1


class StartFailed(Exception):
    """The gateway did not start; the message says why."""


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Gateway:
    def __init__(self, folder):
        self.folder = folder
        self.conf = os.path.join(folder, "ceph.conf")
        self.daemons = []
        self.mon_port, self.port = ports.reserve(2)
        self.user = None

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def write_conf(self):
        mon = f"v1:127.0.0.1:{self.mon_port}"
        for name in ("mon", "osd", "log", "run", "rgw"):
            os.makedirs(self.path(name), exist_ok=True)
        with open(self.conf, "w") as out:
            out.write(f"""[global]
fsid = {uuid.uuid4()}
mon host = [{mon}]
mon initial members = a
ms bind msgr2 = false
ms bind ipv6 = false
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
auth allow insecure global id reclaim = false
run dir = {self.path("run")}
admin socket = {self.path("run")}/$name.asok
pid file =
log file = {self.path("log")}/$name.log
log to stderr = false
crash dir = {self.path("log")}
keyring = {self.path("keyring")}
osd objectstore = memstore
memstore device bytes = 1073741824
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
osd class update on start = false
osd crush update on start = false
mon allow pool size one = true
mon warn on pool no redundancy = false
mon osd full ratio = 0.99
# The disk of a machine that builds is nearly full; a monitor ends itself where less than a twentieth is free.
mon data avail crit = 0
mon data avail warn = 0
mon pg warn min per osd = 0
[mon]
mon data = {self.path("mon")}
[osd]
osd data = {self.path("osd")}
[client.rgw]
rgw data = {self.path("rgw")}
rgw frontends = beast endpoint=127.0.0.1:{self.port}
rgw enable usage log = false
rgw enable ops log = false
rgw gc max objs = 1
rgw usage max shards = 1
rgw thread pool size = 32
""")
        return mon

    def tool(self, *argv):
        command = list(argv) if argv[0] in ("monmaptool", "ceph-authtool") else [argv[0], "-c", self.conf, *argv[1:]]
        end = time.monotonic() + START_LIMIT
        while True:
            done = subprocess.run(command, capture_output=True, text=True, timeout=START_LIMIT)
            if done.returncode == 0:
                return done.stdout
            # A monitor listens before it knows its commands, and may forget them for a moment during its
            # election.
            if NOT_READY not in done.stderr or time.monotonic() > end:
                raise StartFailed(f"{' '.join(argv)}: {done.stderr.strip() or done.stdout.strip()}")
            time.sleep(0.1)

    def daemon(self, *argv):
        log = open(self.path("log", f"{argv[0]}.out"), "ab")
        self.daemons.append(subprocess.Popen(
            [argv[0], "-c", self.conf, "-f", *argv[1:]], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            preexec_fn=die_with_parent))
        log.close()

    def wait_for(self, what, ready):
        end = time.monotonic() + START_LIMIT
        while time.monotonic() < end:
            for one in self.daemons:
                if one.poll() is not None:
                    raise StartFailed(f"{one.args[0]} ended with {one.returncode}; {self.last_lines(one.args[0])}")
            if ready():
                return
            time.sleep(0.1)
        raise StartFailed(f"{what} was not ready after {START_LIMIT} s")

    def last_lines(self, program):
        found = []
        for name in sorted(os.listdir(self.path("log"))):
            with open(self.path("log", name), errors="replace") as log:
                found += [f"{name}: {line.rstrip()}" for line in log.readlines()[-5:]]
        return " | ".join(found[-12:]) or f"{program} wrote nothing"

    def start(self):
        mon = self.write_conf()
        fsid = next(line.split(" = ")[1].strip() for line in open(self.conf) if line.startswith("fsid"))
        self.tool("monmaptool", "--create", "--clobber", "--fsid", fsid, "--addv", "a", f"[{mon}]", self.path("monmap"))
        self.tool("ceph-authtool", "--create-keyring", self.path("keyring"), "--gen-key", "-n", "mon.",
                  "--cap", "mon", "allow *")
        self.tool("ceph-authtool", self.path("keyring"), "--gen-key", "-n", "client.admin",
                  "--cap", "mon", "allow *", "--cap", "osd", "allow *", "--cap", "mgr", "allow *")
        self.tool("ceph-mon", "--mkfs", "-i", "a", "--monmap", self.path("monmap"), "--keyring", self.path("keyring"))
        self.daemon("ceph-mon", "-i", "a")
        self.wait_for("ceph-mon", lambda: connects(self.mon_port))
        osd = str(uuid.uuid4())
        self.tool("ceph", "--connect-timeout", "60", "osd", "new", osd)
        self.tool("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", osd)
        self.tool("ceph", "osd", "crush", "add", "osd.0", "1.0", "root=default", "host=here")
        self.daemon("ceph-osd", "-i", "0")
        self.daemon("radosgw", "-n", "client.rgw")
        self.wait_for("radosgw", self.answers)
        made = self.tool("radosgw-admin", "user", "create", "--uid", "tester", "--display-name", "tester")
        self.user = json.loads(made)["keys"][0]

    def answers(self):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=5).close()
            return True
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False

    def make_bucket(self, name, quota):
        self.ask("PUT", name)
        if quota:
            scope = ["--quota-scope", "bucket", "--bucket", name]
            self.tool("radosgw-admin", "quota", "set", *scope, "--max-size", quota)
            self.tool("radosgw-admin", "quota", "enable", *scope)

    def uploads(self, bucket):
        _, listed = self.ask("GET", bucket, "uploads=")
        return [key.text for key in ElementTree.fromstring(listed).iterfind(".//{*}Upload/{*}Key")]

    def mark(self, path):
        headers, _ = self.ask("HEAD", path)
        return headers["ETag"]

    def ask(self, method, path, query=""):
        """A request for a bucket or an object, with an AWS Signature Version 4 as in the example of its
        documentation."""
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        host, empty = f"127.0.0.1:{self.port}", hashlib.sha256(b"").hexdigest()
        scope = f"{now[:8]}/{REGION}/s3/aws4_request"
        headers = f"host:{host}\nx-amz-content-sha256:{empty}\nx-amz-date:{now}\n"
        names = "host;x-amz-content-sha256;x-amz-date"
        canonical = f"{method}\n/{path}\n{query}\n{headers}\n{names}\n{empty}"
        canonical = hashlib.sha256(canonical.encode()).hexdigest()
        key = ("AWS4" + self.user["secret_key"]).encode()
        for part in scope.split("/"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        sign = hmac.new(key, f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{canonical}".encode(), hashlib.sha256).hexdigest()
        request = urllib.request.Request(f"http://{host}/{path}?{query}", method=method, headers={
            "x-amz-date": now, "x-amz-content-sha256": empty,
            "authorization": f"AWS4-HMAC-SHA256 Credential={self.user['access_key']}/{scope}, "
                             f"SignedHeaders={names}, Signature={sign}"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            raise StartFailed(f"{method} /{path}: {error}: {error.read().decode()}") from error
        except OSError as error:
            raise StartFailed(f"{method} /{path}: {error}") from error

    def stop(self):
        for one in reversed(self.daemons):
            one.terminate()
        for one in reversed(self.daemons):
            try:
                one.wait(3)
            except subprocess.TimeoutExpired:
                one.kill()
                one.wait()


def connects(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


def obey(gateway, end):
    """Executes orders until their end, or until an invalid one."""
    orders = {"uploads": gateway.uploads, "mark": gateway.mark}
    try:
        for line in sys.stdin:
            order, path = line.split()
            print(json.dumps(orders[order](path)), flush=True)
    finally:
        end.set()


def check_installed():
    # Debian keeps some of the programs on root's PATH only.
    os.environ["PATH"] += ":/usr/local/sbin:/usr/sbin:/sbin"
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        sys.exit(f"the S3 server of the tests needs {', '.join(missing)}; install it with: "
                 f"apt-get install --no-install-recommends {' '.join(PACKAGES)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", metavar="FOLDER", help="work in FOLDER and leave it there, logs and all")
    parser.add_argument("--bucket", metavar="NAME", action="append", default=[], help="make this bucket")
    parser.add_argument("--quota", metavar="NAME=BYTES", action="append", default=[], help="what this bucket may hold")
    args = parser.parse_args()
    check_installed()
    end = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: end.set())
    folder = os.path.abspath(args.keep) if args.keep else tempfile.mkdtemp(prefix="cubeloom-s3-")
    os.makedirs(folder, exist_ok=True)
    gateway = Gateway(folder)
    code = 0
    try:
        gateway.start()
        quotas = dict(quota.split("=") for quota in args.quota)
        for name in args.bucket:
            gateway.make_bucket(name, quotas.get(name))
        print(json.dumps({"endpoint": f"http://127.0.0.1:{gateway.port}", "access_key": gateway.user["access_key"],
                          "secret_key": gateway.user["secret_key"], "region": REGION, "folder": folder}), flush=True)
        threading.Thread(target=obey, args=(gateway, end), daemon=True).start()
        end.wait()
    except StartFailed as failed:
        print(f"the S3 server of the tests did not start: {failed}", file=sys.stderr)
        code = 1
    finally:
        gateway.stop()
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)
    os._exit(code)


if __name__ == "__main__":
    main()
