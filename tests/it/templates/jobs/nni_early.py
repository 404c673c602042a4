"""A trial that ends by itself with a good parameter, and never with a bad one; 0 reports nothing, either."""

import signal
import subprocess
import time

import nni

x = nni.get_next_parameter()["x"]
# A trial's processes are killed with it, even if it ignores SIGTERM.
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(["sleep", "1000"])
for step in range(5):
    if x:
        nni.report_intermediate_result(x)
while x == 0:
    time.sleep(1)
while x == 1:
    nni.report_intermediate_result(x)
    time.sleep(0.2)
nni.report_final_result(x)
