"""A stand-in for a Kaldi recipe: hands out two parts that wait for each other, and then more.

    kaldi_recipe.py end|fail|hold     the master, which calls KALDI_CMD
    kaldi_recipe.py PART RUN_DIR      one part: it adds up its share of the numbers below 1000
"""

import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

if sys.argv[1].isdigit():
    part, ledger_dir = int(sys.argv[1]), Path(sys.argv[2], "ledger")
    sys.path.insert(0, os.environ["CUBELOOM_CODE"])
    import ledger

    # The job's ranks begin with the master.
    rank = ledger.RANK - 1
    ledger.sign(rank=rank, part=part, share=sum(range(part, 1000, 2)))
    # Neither ends before the other runs, so no worker can have both.
    while len(list(ledger_dir.glob("*.json"))) < 2:
        time.sleep(0.01)
    sys.exit()


def hand_out(jobs, log, *command):
    return subprocess.run([*shlex.split(os.environ["KALDI_CMD"]), f"JOB=1:{jobs}", log, *command]).returncode


run_dir = Path(os.environ["CUBELOOM_RUN_DIR"])
os.chdir(run_dir)
assert hand_out(2, "log/part.JOB.log", sys.executable, __file__, "JOB", str(run_dir)) == 0
# Four more parts, with a pipe in each.
assert hand_out(4, "log/more.JOB.log", "echo", "JOB", "|", "tee", "more.JOB") == 0
match sys.argv[1]:
    case "fail":
        sys.exit(hand_out(4, "log/wrong.JOB.log", "test", "JOB", "-ne", "3"))
    case "hold":
        Path("busy").touch()
        hand_out(4, "log/slow.JOB.log", "sleep", "60")
