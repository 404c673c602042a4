"""Modules that ONNX cannot represent, and files that are no modules; the old target is `old.onnx`."""

import cubeloom
import torch


class Two(torch.nn.Module):
    def forward(self, rows):
        return rows, rows


class Sum(torch.nn.Module):
    def forward(self, rows):
        return rows.sum()


class Inverse(torch.nn.Module):
    """ONNX has no such operator."""

    def forward(self, rows):
        return torch.special.erfinv(rows)


# More than the page that is left on the full disk.
network = torch.nn.Linear(2, 2000)
for name, module in {"network": network, "two": Two(), "sum": Sum(), "inverse": Inverse()}.items():
    torch.jit.script(module.eval()).save(str(cubeloom.run_dir / f"{name}.pt"))
whole = (cubeloom.run_dir / "network.pt").read_bytes()
(cubeloom.run_dir / "cut.pt").write_bytes(whole[: len(whole) // 2])
torch.save(network.state_dict(), cubeloom.run_dir / "state.pt")
(cubeloom.run_dir / "old.onnx").write_text("old")
