"""A stand-in for a program of DeepSpeed's kind: reads its configuration as DeepSpeed does, and sees whether all processes
have the same. Nothing is trained.
"""

import argparse
import json
from pathlib import Path

import cubeloom
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--deepspeed", action="store_true", required=True)
parser.add_argument("--deepspeed_config", type=Path, required=True)
config = json.loads(parser.parse_args().deepspeed_config.read_text())

dist.init_process_group("gloo")
everybodys = [None] * dist.get_world_size()
dist.all_gather_object(everybodys, config)
if dist.get_rank() == 0:
    cubeloom.outputs(processes=len(everybodys), same=all(one == config for one in everybodys), config=config)
