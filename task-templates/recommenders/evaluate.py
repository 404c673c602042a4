"""Scores a model on the rows held out: every process its share, the figures are of all."""

import torch
import torch.distributed as dist
from events import FIRST
from models import Ranking
from sklearn.metrics import roc_auc_score


@torch.no_grad()
def evaluate(model, data, k, batch):
    model.eval()
    held_out = torch.arange(data.trained, len(data.labels))
    if isinstance(model, Ranking):
        return auc(model, data, share(held_out, batch, data.device))
    clicked = held_out[data.labels[data.trained :, 0].cpu() == 1]
    return recall(model, data, share(clicked, batch, data.device), k)


def share(rows, batch, device):
    """This process's rows, some at a time; unlike training's, every row belongs to exactly one process."""
    own = rows[dist.get_rank() :: dist.get_world_size()].to(device)
    return own.split(batch) if len(own) else ()


def auc(model, data, parts):
    """How probable it is that a row with the label has a higher score than one without; 0.5 is chance."""
    scores = [(model.score(data.inputs(rows)).cpu().numpy(), data.labels[rows].cpu().numpy()) for rows in parts]
    gathered = [None] * dist.get_world_size()
    dist.all_gather_object(gathered, scores)
    scores, labels = zip(*(part for process in gathered for part in process))
    column = lambda parts, task: [value for part in parts for value in part[:, task]]
    return {
        f"auc_{name}": float(roc_auc_score(column(labels, task), column(scores, task)))
        for task, name in enumerate(data.tasks)
    }


def recall(model, data, parts, k):
    """Of the clicks held out, in how many the item was among the k that the model ranks first of all items; and among
    the k that were clicked most in training, which is what a model has to beat. Unknown items are never found."""
    items = model.of_items(data.of_items(torch.arange(FIRST, model.known, device=data.device)))
    k = min(k, len(items))
    popular = model.clicks.to(data.device)[FIRST:].topk(k).indices + FIRST
    counts = torch.zeros(3, device=data.device)
    for rows in parts:
        # A user with several interests is as near to an item as the nearest of these.
        nearness = (model.of_users(data.inputs(rows)) @ items.T).amax(dim=1)
        wanted = data.items[rows].unsqueeze(1)
        found = (nearness.topk(k).indices + FIRST == wanted).any(dim=1)
        usual = (popular == wanted).any(dim=1)
        counts += torch.stack([found.sum(), usual.sum(), torch.tensor(len(rows), device=data.device)])
    dist.all_reduce(counts)
    hits, usual, clicks = counts.tolist()
    return {"recall_at_k": hits / clicks, "popularity_at_k": usual / clicks}
