"""Counts the primes of one shard of the numbers, and disturbs shard 3 as the tests request.

    shards.py end     nothing
              slow    the first run of it takes too long
              killed  the first run of it is killed, as if OOM killed
              fail    it never succeeds
              retry   it succeeds only in the task's second attempt, and waits in the first for another
              shard's result
              hold    worker 1 keeps its shard; the others continue once it has one
"""

import os
import signal
import sys
import time
from pathlib import Path

import cubeloom
import ledger

LIMIT = 10_000

shard, shards, folder = int(os.environ["CUBELOOM_SHARD"]), int(os.environ["CUBELOOM_SHARDS"]), Path(os.environ["CUBELOOM_SHARD_DIR"])
then, named = sys.argv[1:]
assert named == f"{shard} of {shards}", named


def is_first():
    try:
        (cubeloom.run_dir / f"first-{shard}").touch(exist_ok=False)
        return True
    except FileExistsError:
        return False


print(f"shard {shard}: {then}")
match then, shard:
    case "slow", 3 if is_first():
        time.sleep(120)
    case "killed", 3 if is_first():
        os.kill(os.getpid(), signal.SIGKILL)
    case "fail", 3:
        sys.exit("the numbers of this shard cannot be read")
    case "retry", 3 if os.environ["CUBELOOM_ATTEMPT"] == "1":
        while not any(folder.parent.with_name("results").iterdir()):
            time.sleep(0.01)
        sys.exit("not now")
    case "hold", _ if cubeloom.index == 1:
        ledger.write("busy", str(shard))
        time.sleep(120)
    case "hold", _:
        while not (cubeloom.run_dir / "busy").exists():
            time.sleep(0.01)

share = range(2 + shard, LIMIT, shards)
primes = sum(all(number % divisor for divisor in range(2, int(number**0.5) + 1)) for number in share)
(folder / "primes").write_text(f"{primes}\n")
ledger.write(f"ran/{shard}.{os.environ['CUBELOOM_ATTEMPT']}.{os.getpid()}", os.environ["CUBELOOM_INDEX"])
cubeloom.progress(1, 1)
cubeloom.metric("primes", primes, step=shard)
cubeloom.artifact(f"primes-{shard}", folder / "primes")
