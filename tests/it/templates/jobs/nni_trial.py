"""A trial: it signs the ledger of its worker, and reports ten times its parameter; 4 fails.

    nni_trial.py end|hold|late     hold: no trial ends; late: the third does not end in the first attempt
"""

import os
import sys
import time
from pathlib import Path

import ledger
import nni

run_dir = Path(os.environ["CUBELOOM_RUN_DIR"])
x = nni.get_next_parameter()["x"]
# The job's ranks begin with the manager.
ledger.sign(rank=ledger.RANK - 1, x=x)
(run_dir / f"began.{x}.{os.environ['CUBELOOM_ATTEMPT']}").touch()
for step in range(3):
    nni.report_intermediate_result(x + step)
third = len(list(run_dir.glob("began.*.1"))) == 3 and os.environ["CUBELOOM_ATTEMPT"] == "1"
if sys.argv[1] == "hold" or sys.argv[1] == "late" and third:
    (run_dir / "busy").touch()
    time.sleep(600)
# Neither of the first two ends before the other runs, so no worker can have both.
while len(list((run_dir / "ledger").glob("*.json"))) < 2:
    time.sleep(0.01)
if x == 4:
    sys.exit("four is a mistake")
print(f"the result of {x} is {10 * x}")
nni.report_final_result(10 * x)
# A trial has one set of parameters: requesting another returns None and does not block.
assert nni.get_next_parameter() is None
