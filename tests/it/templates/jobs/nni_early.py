"""A trial that ends by itself when its parameter is good, and never when it is bad; 0 reports nothing, either."""

import signal
import subprocess
import time

import nni

x = nni.get_next_parameter()["x"]
# What a trial starts is ended with it, also when the trial does not care.
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
