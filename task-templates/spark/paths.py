"""What every process of Spark needs here before it starts."""

import glob
import os
import pwd
import sys
from pathlib import Path

LIB = Path(__file__).resolve().parent / "lib"
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
