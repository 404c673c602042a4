"""`spark-submit` with YARN as master: asks first whether YARN is there, and leaves no application in it."""

import json
import os
import secrets
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

from paths import DEFAULTS, TOGETHER

#: What asks YARN; it runs below Spark, which has YARN's client.
CLIENT = Path(__file__).resolve().parent / "yarn_client.py"
#: For a Java that lives some seconds: it starts in half the time.
BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
#: How long YARN may take to answer, in seconds. One that is not there is known before; one that hangs never says so.
PATIENCE = 60
#: The same when the driver has ended: nobody waits for anything else then.
LAST_PATIENCE = 120
#: How long the driver may take to end when the task is ended, in seconds.
GRACE = 5
#: What must be in Hadoop's configuration.
FILES = ("core-site.xml", "yarn-site.xml")
#: The pipeline's modules, for executors on machines that do not have its folder; the command names it.
MODULES = "code.zip"


class Silence(Exception):
    """YARN did not answer, and why."""


def run(words):
    """Submits, and says how the driver ended. Ended by TERM, it ends the driver and the application."""
    check(os.environ.get("HADOOP_CONF_DIR"))
    pack(os.environ.get("CUBELOOM_CODE", os.getcwd()))
    try:
        own = address_towards(ask(PATIENCE, "find")["hosts"])
    except Silence as reason:
        sys.exit(str(reason))
    # Executors call the driver; a worker's address is one of its machine alone.
    os.environ["SPARK_LOCAL_IP"] = own
    tag = f"cubeloom-{os.environ.get('CUBELOOM_RUN', 'job')}-{secrets.token_hex(8)}".lower()
    # Spark would send the folder of its settings to YARN, and a worker may not list its own.
    settings = f"--properties-file={os.environ.pop('SPARK_CONF_DIR')}/{DEFAULTS}"
    # With YARN, Spark makes a secret for each application by itself.
    options = [settings, "--conf=spark.authenticate=true", *TOGETHER, f"--conf=spark.driver.host={own}", f"--conf=spark.yarn.tags={tag}"]
    code = None
    driver = subprocess.Popen(["spark-submit", *options, *words])
    try:
        code = driver.wait()
        return code
    finally:
        if code != 0:
            stop(driver)
            end(tag)


def check(folder):
    if not folder:
        sys.exit("hadoop_conf: YARN needs Hadoop's configuration, a folder with " + " and ".join(FILES))
    missing = [name for name in FILES if not os.path.isfile(os.path.join(folder, name))]
    if missing:
        sys.exit(f"hadoop_conf: there is no {' and no '.join(missing)} in {folder}")


def pack(code):
    with zipfile.ZipFile(MODULES, "w", strict_timestamps=False) as archive:
        for path in sorted(Path(code).rglob("*.py")):
            archive.write(path, path.relative_to(code))


def address_towards(hosts):
    """This machine's address on the way to the first host that has one."""
    for host in hosts:
        try:
            family, kind, protocol, _, place = socket.getaddrinfo(host, 9, type=socket.SOCK_DGRAM)[0]
            with socket.socket(family, kind, protocol) as way:
                way.connect(place)  # sends nothing
                return way.getsockname()[0]
        except OSError as error:
            reason = error
    sys.exit(f"there is no way to YARN's ResourceManager at {', '.join(hosts)}: {reason}")


def ask(patience, *words):
    """What `yarn_client.py` answers within so many seconds.

    Raises Silence.
    """
    command = ["spark-submit", "--master=local[1]", "--driver-memory=256m", f"--driver-java-options={BRIEF}", CLIENT, *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience, check=False)
    except subprocess.TimeoutExpired:
        raise Silence(f"YARN has not answered for {patience} s") from None
    try:
        answer = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        sys.stderr.write(done.stderr)
        raise Silence(f"YARN's client ended with {done.returncode} before it asked") from None
    if "problem" in answer:
        raise Silence(answer["problem"])
    return answer


def stop(driver):
    driver.terminate()
    try:
        driver.wait(timeout=GRACE)
    except subprocess.TimeoutExpired:
        driver.kill()
        driver.wait()


def end(tag):
    """Ends what is left of the application, and says what YARN has to say of one that failed."""
    try:
        applications = ask(LAST_PATIENCE, "end", tag)["applications"]
    except Silence as reason:
        print(f"{reason}; an application that is left there has the tag {tag}", file=sys.stderr)
        return
    for application in applications:
        if application["failed"]:
            print(f"YARN ended {application['id']}: {application['reason']}", file=sys.stderr)
