"""Example: a small network learns which points lie in a circle; saved as TorchScript, its rows beside it as a table."""

import csv

import cubeloom
import torch

torch.manual_seed(7)
points = torch.rand(800, 2) * 2 - 1
inside = (points.norm(dim=1) < 0.8).long()
network = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
optimizer = torch.optim.Adam(network.parameters(), lr=0.05)
for _ in range(200):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(network(points[:600]), inside[:600])
    loss.backward()
    optimizer.step()
torch.jit.script(network.eval()).save(str(cubeloom.run_dir / "network.pt"))
with open(cubeloom.run_dir / "points.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["x", "y", "inside"])
    table.writerows([*point, kind] for point, kind in zip(points[600:].tolist(), inside[600:].tolist()))
cubeloom.outputs(loss=float(loss))
