"""A model of PyTorch, saved as TorchScript, and what the comparison needs of it."""

import io
import warnings

import numpy
import onnx
import torch
from tables import Mistake, first_line

#: The newest one that PyTorch 1.13 writes without gaps.
OPSET = 16


class TorchModel:
    """A module with one tensor in and one tensor out, of rows whose shape a person has to say."""

    takes_missing, raw = False, True
    features = classes = None

    def __init__(self, path, options):
        self.path, self.shape = path, options.shape
        self.width = int(numpy.prod(self.shape))
        try:
            self.model = torch.jit.load(str(path), map_location="cpu").eval()
        except (RuntimeError, ValueError) as error:
            how, reason = "`torch.jit.script(model).save(...)`", first_line(error)[:300]
            raise Mistake(f"`model`: {path} is no TorchScript; write it with {how}: {reason}") from None
        self.told(torch.zeros(2, *self.shape))

    def told(self, rows):
        """What the module says of rows."""
        try:
            with torch.no_grad():
                found = self.model(rows)
        except RuntimeError as error:
            reason = [line for line in str(error).splitlines() if line.strip()][-1]
            raise Mistake(f"`shape`: {self.path} does not take rows of the shape {self.shape}: {reason}") from None
        if not isinstance(found, torch.Tensor) or found.shape[:1] != rows.shape[:1]:
            raise Mistake(f"`model`: {self.path} yields no tensor with one entry a row")
        return found

    def convert(self):
        target = io.BytesIO()
        axes = {"features": {0: "rows"}, "scores": {0: "rows"}}
        try:
            # It finds no signature in TorchScript, and does without.
            warnings.simplefilter("ignore", UserWarning)
            torch.onnx.export(
                self.model,
                torch.zeros(2, *self.shape),
                target,
                opset_version=OPSET,
                input_names=["features"],
                output_names=["scores"],
                dynamic_axes=axes,
            )
        except Exception as error:  # the exporter has many classes for what it cannot do
            raise Mistake(f"`model`: {self.path} cannot be exported: {first_line(error)[:300]}") from None
        return onnx.load_from_string(target.getvalue())

    def ranges(self):
        return numpy.full(self.width, -1.0), numpy.full(self.width, 1.0)

    def predict(self, rows):
        """Nothing, and the output as it is."""
        found = self.told(torch.from_numpy(rows.reshape(-1, *self.shape)))
        return None, found.numpy().astype(numpy.float64).reshape(len(rows), -1)
