"""What every process of Spark needs here before it starts."""

import glob
import os
import pwd
import sys
import tempfile
from pathlib import Path

LIB = Path(__file__).resolve().parent / "lib"
#: The properties of Spark's programs, in the folder that SPARK_CONF_DIR names.
DEFAULTS = "spark-defaults.conf"
#: The program begins when all executors have come, or after this time.
TOGETHER = (
    "--conf=spark.scheduler.minRegisteredResourcesRatio=1.0",
    "--conf=spark.scheduler.maxRegisteredResourcesWaitingTime=120s",
)


def lead():
    """Puts the pipeline's folder and `cubeloom` on the path of every Python below, Spark's own files beside the task's
    (else they lie in the environment, which tasks share), and gives the user a name."""
    hadoop = os.environ.get("HADOOP_CONF_DIR")
    if hadoop and not os.path.isdir(hadoop):
        sys.exit(f"hadoop_conf: there is no folder {hadoop}")
    code = os.environ.get("CUBELOOM_CODE", os.getcwd())
    scratch = os.environ.get("TMPDIR", "/tmp")
    paths = [code, str(LIB), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    os.environ.update(SPARK_WORKER_DIR=scratch, SPARK_LOCAL_DIRS=scratch, SPARK_LOG_DIR=scratch)
    name_user(scratch)


def guard():
    """Lets the processes of Spark obey only those that have this job's token. They listen where others may reach them: without
    it a master takes anybody's program, and a driver anybody's executors. Settings of the task go over these.

    https://spark.apache.org/docs/latest/security.html#spark-rpc-communication-protocol-between-spark-processes"""
    given = Path(os.environ["SPARK_CONF_DIR"], DEFAULTS)
    lines = given.read_text() if given.exists() else ""
    # Made with 0700: the settings that the platform wrote are for more people to read.
    folder = tempfile.mkdtemp(prefix="spark-conf-", dir=os.environ.get("TMPDIR", "/tmp"))
    token = os.environ["CUBELOOM_JOB_TOKEN"]
    # A master takes programs at its REST server, too, where nobody is asked for a secret.
    guards = f"""
spark.authenticate true
spark.authenticate.secret {token}
spark.master.rest.enabled false
spark.ui.killEnabled false
"""
    Path(folder, DEFAULTS).write_text(lines.rstrip("\n") + guards)
    os.environ["SPARK_CONF_DIR"] = folder


def name_user(scratch):
    """Hadoop's files, which are in Spark, refuse a user that the machine has no name for. Workers have such users."""
    try:
        pwd.getpwuid(os.getuid())
        return
    except KeyError:
        pass
    found = glob.glob("/usr/lib/*/libnss_wrapper.so")
    if not found:
        sys.exit(f"the user {os.getuid()} has no name here, which Spark asks for: install libnss-wrapper")
    users = Path(scratch, "passwd")
    users.write_text(f"worker:x:{os.getuid()}:{os.getgid()}::{scratch}:/bin/sh\n")
    os.environ.update(LD_PRELOAD=found[0], NSS_WRAPPER_PASSWD=str(users), NSS_WRAPPER_GROUP="/etc/group")
