"""Writes DeepSpeed's configuration, then has torchrun start the script in this worker (main.py).

    launch.py GPUS --micro-batch=N --accumulation=N --processes=N --zero=STAGE --config=JSON SCRIPT ARGS...
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gpus")
    for name in ("--micro-batch", "--accumulation", "--processes", "--zero"):
        parser.add_argument(name, type=int, required=True)
    parser.add_argument("--config", type=json.loads, required=True)
    parser.add_argument("script")
    parser.add_argument("args", nargs=argparse.REMAINDER)
    wanted = parser.parse_args()
    # Each worker has its own: they may share a machine.
    path = Path(tempfile.mkdtemp(prefix="deepspeed-"), "ds_config.json")
    path.write_text(json.dumps(configuration(wanted), indent=2))
    words = ["--script", wanted.script, "--deepspeed", "--deepspeed_config", str(path), *wanted.args]
    os.execv(sys.executable, [sys.executable, str(HERE / "main.py"), wanted.gpus, "0", *words])


def configuration(wanted):
    """As <https://www.deepspeed.ai/docs/config-json/> has it."""
    batches = {
        "train_batch_size": wanted.micro_batch * wanted.accumulation * wanted.processes,
        "train_micro_batch_size_per_gpu": wanted.micro_batch,
        "gradient_accumulation_steps": wanted.accumulation,
    }
    zero = (wanted.config.get("zero_optimization") or {}) | {"stage": wanted.zero}
    return wanted.config | batches | {"zero_optimization": zero}


main()
