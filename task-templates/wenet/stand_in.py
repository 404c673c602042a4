"""A stand-in for WeNet's train.py, which needs GPUs or days: it takes the same options, deals the utterances out to the ranks as
WeNet does, adds up what they have, and leaves the files that WeNet leaves. Nothing is trained.
"""

import argparse
import json
import os
from pathlib import Path

import cubeloom
import torch.distributed as dist

parser = argparse.ArgumentParser(allow_abbrev=False)
parser.add_argument("--train_engine", choices=["torch_ddp", "torch_fsdp", "deepspeed"], default="torch_ddp")
parser.add_argument("--device", choices=["cpu", "npu", "cuda"], default="cuda")
parser.add_argument("--ddp.dist_backend", dest="dist_backend", choices=["nccl", "gloo", "hccl"], default="nccl")
parser.add_argument("--data_type", choices=["raw", "shard"], default="raw")
for name in ("config", "train_data", "cv_data", "model_dir"):
    parser.add_argument(f"--{name}", type=Path, required=True)
for name in ("checkpoint", "deepspeed_config", "tensorboard_dir"):
    parser.add_argument(f"--{name}", type=Path)
parser.add_argument("--num_workers", type=int, default=0)
parser.add_argument("--prefetch", type=int, default=100)
parser.add_argument("--pin_memory", action="store_true")
parser.add_argument("--use_amp", action="store_true")
parser.add_argument("--fail", type=int, help="of the stand-in: the epoch in which rank 1 of the first attempt fails")
args = parser.parse_args()

dist.init_process_group(args.dist_backend)
rank, size = dist.get_rank(), dist.get_world_size()
epochs = int(args.config.read_text().partition("max_epoch:")[2].split()[0])
mine = args.train_data.read_text().splitlines()[rank::size]
first = int(args.checkpoint.stem.partition("_")[2]) + 1 if args.checkpoint else 0
for epoch in range(first, epochs):
    if rank == 1 and epoch == args.fail and os.environ["CUBELOOM_ATTEMPT"] == "1":
        raise ValueError(f"there is a mistake in epoch {epoch}")
    everybodys = [None] * size
    dist.all_gather_object(everybodys, [json.loads(line)["key"] for line in mine])
    if rank == 0:
        seen = sorted(key for keys in everybodys for key in keys)
        (args.model_dir / f"epoch_{epoch}.pt").write_text(json.dumps(seen))
        (args.model_dir / f"epoch_{epoch}.yaml").write_text(f"epoch: {epoch}\n")
        cubeloom.progress(epoch + 1, epochs)
if rank == 0:
    told = {name: str(value) for name, value in vars(args).items() if value is not None}
    group = {name: os.environ[name] for name in ("WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_WORLD_SIZE")}
    cubeloom.outputs(options=told, group=group, shares=[len(keys) for keys in everybodys], seen=seen, first=first)
