"""A model of XGBoost, and what the comparison needs of it."""

import json
import re

import numpy
import xgboost
from onnxmltools.convert import convert_xgboost
from onnxmltools.convert.common.data_types import FloatTensorType
from tables import Mistake, first_line

#: Objectives whose predictions the converter's operators have; others are refused, not tried.
CLASSES = ("binary:logistic", "multi:softprob", "multi:softmax")
NUMBERS = (
    "reg:squarederror", "reg:squaredlogerror", "reg:pseudohubererror", "reg:absoluteerror", "reg:gamma", "reg:tweedie",
    "count:poisson",
)  # fmt: skip


class XGBoostModel:
    """Trees, as `save_model` writes them."""

    takes_missing = True

    def __init__(self, path, options):
        try:
            self.booster = xgboost.Booster(model_file=path)
            self.content = json.loads(self.booster.save_raw("json"))["learner"]
        except (xgboost.core.XGBoostError, ValueError, KeyError) as error:
            # Without the time and the place in XGBoost's own sources.
            reason = re.sub(r"^\[[\d:]+\] \S+:\d+: ", "", first_line(error))
            raise Mistake(f"`model`: {path} is no model of XGBoost that can be read: {reason}") from None
        self.objective = self.content["objective"]["name"]
        kind = self.content["gradient_booster"]["name"]
        if kind != "gbtree":
            raise Mistake(f"`model`: {path} is a {kind}; only trees of `gbtree` can be converted")
        if self.objective not in CLASSES + NUMBERS:
            known = ", ".join(CLASSES + NUMBERS)
            raise Mistake(f"`model`: the objective of {path} is {self.objective}; it can be one of {known}")
        if "c" in (self.booster.feature_types or []):
            raise Mistake(f"`model`: {path} has categorical features, unknown to the converter; encode them as numbers")
        self.width = self.booster.num_features()
        self.features = self.booster.feature_names
        # The converter wants its own names.
        self.booster.feature_names = self.booster.feature_types = None
        if self.objective == "multi:softmax":
            # The same trees; the converter leaves out the probabilities of this one.
            self.booster.set_param("objective", "multi:softprob")
        count = max(2, int(self.content["learner_model_param"]["num_class"]))
        self.shape, self.raw = [self.width], False
        self.classes = list(range(count)) if self.objective in CLASSES else None

    def convert(self):
        return convert_xgboost(self.booster, initial_types=[("features", FloatTensorType([None, self.width]))])

    def ranges(self):
        """Where the trees split each feature."""
        low, high = numpy.full(self.width, numpy.inf), numpy.full(self.width, -numpy.inf)
        for tree in self.content["gradient_booster"]["model"]["trees"]:
            splits = numpy.array(tree["left_children"]) >= 0
            at = numpy.array(tree["split_indices"])[splits]
            values = numpy.array(tree["split_conditions"], dtype=float)[splits]
            numpy.minimum.at(low, at, values)
            numpy.maximum.at(high, at, values)
        return numpy.where(low <= high, low, -1), numpy.where(low <= high, high, 1)

    def predict(self, rows):
        """Nothing, and the probabilities of all classes or the numbers."""
        matrix = xgboost.DMatrix(rows)
        if self.classes is None:
            return None, self.booster.predict(matrix).astype(numpy.float64)
        margin = self.booster.predict(matrix, output_margin=True).astype(numpy.float64)
        if margin.ndim == 1:
            second = 1 / (1 + numpy.exp(-margin))
            return None, numpy.stack([1 - second, second], axis=1)
        powers = numpy.exp(margin - margin.max(axis=1, keepdims=True))
        return None, powers / powers.sum(axis=1, keepdims=True)
