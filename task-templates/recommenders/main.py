"""Trains a recommender in several processes with DistributedDataParallel, and scores it on rows that it never saw.

The platform says who this process is: RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT. Every process reads the whole table,
learns from its share of the first rows, and scores its share of the last. Rank 0 reports, and writes checkpoints and
the model.
"""

import argparse
import io
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The template's folder stays as it was: no compiled files in it.
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE / "lib"))
import cubeloom
import torch
import torch.distributed as dist
from events import DataError, generate, prepare, read
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DistributedSampler

#: How many rows are scored at once.
SCORED = 4096


def main():
    options = arguments()
    sys.stdout.reconfigure(line_buffering=True)
    try:
        data = prepare(table(options), options.model, options.history)
    except DataError as error:
        sys.exit(f"{options.data or 'the generated table'}: {error}")
    # What is wrong with the data is said before anything below is loaded.
    from evaluate import evaluate
    from models import build

    device = join()
    torch.manual_seed(options.seed)
    data = data.to(device)
    model = build(options, data).to(device)
    train(model, data, options, device)
    found = evaluate(model, data, options.k, SCORED)
    if cubeloom.rank == 0:
        report(found, data, options, save(model, data, options))
    dist.barrier()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", help="csv, csv.gz or parquet in the run's folder; generated if not given")
    parser.add_argument("--rows", type=int, default=40_000, help="how many are generated")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=256, help="rows of one step in each process")
    parser.add_argument("--learning-rate", type=float, default=0.01)
    parser.add_argument("--embedding", type=int, default=16)
    parser.add_argument("--hidden", type=int, nargs="*", default=[64, 32])
    parser.add_argument("--history", type=int, default=10, help="how many items last clicked a row has")
    parser.add_argument("--interests", type=int, default=4, help="of a user, ComiRec's")
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--save", help="the model file, in the run's folder")
    return parser.parse_args()


def table(options):
    """The rows to learn from, read or made up."""
    if options.data:
        return read(cubeloom.run_dir / options.data)
    rows = generate(options.rows, options.seed)
    if cubeloom.rank == 0:
        print(f"no data given: {len(rows)} rows are GENERATED from seed {options.seed}; nobody clicked on anything")
    return rows


def join():
    """Forms the group; what this process computes on."""
    if os.environ.get("CUBELOOM_HOST", "").startswith("127."):
        # Workers of one machine share its name; Gloo would look that up.
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    for name, alone in [("MASTER_ADDR", "127.0.0.1"), ("MASTER_PORT", "29500"), ("RANK", "0"), ("WORLD_SIZE", "1")]:
        os.environ.setdefault(name, alone)
    with_gpu = torch.cuda.is_available()
    dist.init_process_group("nccl" if with_gpu else "gloo")
    # The platform shows a worker its own GPU alone.
    return torch.device("cuda", 0) if with_gpu else torch.device("cpu")


def train(model, data, options, device):
    """All epochs, from the last checkpoint on."""
    together = DistributedDataParallel(model, device_ids=[device] if device.type == "cuda" else None)
    optimizer = torch.optim.Adam(model.parameters(), lr=options.learning_rate, weight_decay=1e-6)
    rows = model.rows(data)
    sampler = DistributedSampler(rows, seed=options.seed, drop_last=True)
    if len(sampler) < 2:
        sys.exit(f"{len(rows)} rows to train on are too few for {cubeloom.world_size} workers")
    print(f"rank {cubeloom.rank} of {cubeloom.world_size}: {len(sampler)} of {len(rows)} rows an epoch, {device}")
    for epoch in range(restore(model, optimizer), options.epochs):
        sampler.set_epoch(epoch)
        loss = train_epoch(together, optimizer, rows[torch.tensor(list(sampler))], data, options.batch_size)
        if cubeloom.rank == 0:
            checkpoint(model, optimizer, epoch + 1)
            print(f"epoch {epoch + 1}: loss {loss:.4f}")
            cubeloom.metric("loss", loss, step=epoch + 1)
            cubeloom.progress(epoch + 1, options.epochs)
    same_buffers(model)


def train_epoch(model, optimizer, rows, data, batch_size):
    """One pass over this process's rows; the mean loss of all processes, which make equally many steps."""
    model.train()
    total = torch.zeros(2, device=data.device)
    # Batch normalization cannot learn from one row alone.
    for chosen in (part for part in rows.to(data.device).split(batch_size) if len(part) > 1):
        optimizer.zero_grad()
        loss = model(data.inputs(chosen), data.labels[chosen])
        loss.backward()
        optimizer.step()
        total += torch.stack([loss.detach() * len(chosen), torch.tensor(len(chosen), device=data.device)])
    dist.all_reduce(total)
    return float(total[0] / total[1])


def same_buffers(model):
    """The running means of batch normalization are each process's own; all score with those of rank 0, which are saved."""
    for buffer in model.buffers():
        dist.broadcast(buffer, 0)


def checkpoint(model, optimizer, done):
    path = cubeloom.checkpoint_dir / "last.pt"
    with cubeloom.saving(done, path):
        write({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": done}, path)


def restore(model, optimizer):
    """The epoch to begin with. Rank 0 reads the checkpoint and sends it, so that all begin alike."""
    path = cubeloom.checkpoint_dir / "last.pt"
    state = [torch.load(path, map_location="cpu") if cubeloom.rank == 0 and path.exists() else None]
    dist.broadcast_object_list(state)
    if state[0] is None:
        return 0
    model.load_state_dict(state[0]["model"])
    optimizer.load_state_dict(state[0]["optimizer"])
    print(f"going on from the checkpoint of epoch {state[0]['epoch']}")
    return state[0]["epoch"]


def save(model, data, options):
    """Writes the model, with what turns ids into its numbers; its path, or none."""
    if not options.save:
        return None
    path = cubeloom.run_dir / options.save
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "options": vars(options),
        "state": {name: value.cpu() for name, value in model.network.state_dict().items()},
        "vocabularies": data.vocabularies,
        "items": {name: column.cpu() for name, column in data.item_features.items()},
    }
    write(content, path)
    cubeloom.artifact("model", path)
    return str(path)


def write(content, path):
    """Written aside and renamed: a file that has its name is complete. PyTorch itself does not say that a disk is full."""
    aside, whole = path.with_name(f"writing-{path.name}"), io.BytesIO()
    torch.save(content, whole)
    try:
        aside.write_bytes(whole.getbuffer())
        aside.rename(path)
    finally:
        aside.unlink(missing_ok=True)


def report(found, data, options, path):
    """What all processes found together: figures for people, and outputs for the tasks that follow."""
    for name, value in found.items():
        print(f"{name} on {data.held_out} rows held out: {value:.4f}")
        cubeloom.metric(name, value)
    tasks = {name.removeprefix("auc_"): value for name, value in found.items() if name.startswith("auc_")}
    cubeloom.outputs(
        auc=tasks or None,
        recall_at_k=found.get("recall_at_k"),
        popularity_at_k=found.get("popularity_at_k"),
        rows=data.trained,
        held_out=data.held_out,
        generated=options.data is None,
        processes=cubeloom.world_size,
        model=path,
    )


main()
