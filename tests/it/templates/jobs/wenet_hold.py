"""Replaces WeNet's train.py: adds up numbers with the others until one of them is killed."""

import time

import ledger
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
ledger.sign()
while True:
    dist.all_reduce(torch.ones(1))
    if dist.get_rank() == 0:
        ledger.write("busy", "")
    time.sleep(0.1)
