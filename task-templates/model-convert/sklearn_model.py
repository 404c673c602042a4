"""A model of scikit-learn, and what the comparison needs of it."""

import warnings

import numpy
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.exceptions import InconsistentVersionWarning
from tables import Mistake, first_line


class SklearnModel:
    """A classifier or a regressor of numbers, a pipeline included."""

    takes_missing = False

    def __init__(self, path, options):
        self.path = path
        self.model = load(path, options.trusted)
        if not isinstance(self.model, BaseEstimator) or not (is_classifier(self.model) or is_regressor(self.model)):
            raise Mistake(f"`model`: {path} has a {type(self.model).__name__}, which is neither classifier nor regressor")
        self.width = getattr(self.model, "n_features_in_", None)
        if self.width is None:
            raise Mistake(f"`model`: the {type(self.model).__name__} in {path} was not trained")
        names = getattr(self.model, "feature_names_in_", None)
        self.features = None if names is None else names.tolist()
        self.shape, self.raw = [self.width], False
        self.classes = self.model.classes_.tolist() if is_classifier(self.model) else None

    def convert(self):
        try:
            return self.to_onnx({"zipmap": False} if self.classes else {})
        except Exception as error:  # the converter has no class of its own for what it cannot do
            if "Option 'zipmap'" not in str(error):
                raise self.refusal(error) from None
        # A classifier without probabilities, which has none to lay out.
        try:
            return self.to_onnx({})
        except Exception as error:
            raise self.refusal(error) from None

    def to_onnx(self, options):
        types = [("features", FloatTensorType([None, self.width]))]
        return to_onnx(self.model, initial_types=types, options={id(self.model): options} if options else None)

    def refusal(self, error):
        return Mistake(f"`model`: {self.path} cannot be converted: {first_line(error)[:300]}")

    def ranges(self):
        """Where trees split each feature, or how a scaler found them; else from -1 to 1."""
        low, high = numpy.full(self.width, numpy.inf), numpy.full(self.width, -numpy.inf)
        for part in parts(self.model):
            if getattr(part, "n_features_in_", self.width) != self.width:
                continue
            if (tree := getattr(part, "tree_", None)) is not None:
                splits = tree.feature >= 0
                numpy.minimum.at(low, tree.feature[splits], tree.threshold[splits])
                numpy.maximum.at(high, tree.feature[splits], tree.threshold[splits])
            elif hasattr(part, "mean_") and getattr(part, "scale_", None) is not None:
                low, high = part.mean_ - 2 * part.scale_, part.mean_ + 2 * part.scale_
                break
        return numpy.where(low <= high, low, -1), numpy.where(low <= high, high, 1)

    def predict(self, rows):
        """The classes, and their probabilities or the numbers."""
        with warnings.catch_warnings():
            # The rows have no names; they are in the order of the model's.
            warnings.simplefilter("ignore", UserWarning)
            try:
                label = self.model.predict(rows)
                if self.classes is None:
                    return None, numpy.asarray(label, dtype=numpy.float64).reshape(len(rows), -1)[:, 0]
                chances = self.model.predict_proba(rows) if hasattr(self.model, "predict_proba") else None
            except ValueError as error:
                raise Mistake(f"`model`: {self.path} does not take a table of numbers: {first_line(error)}") from None
        return label, None if chances is None else numpy.asarray(chances, dtype=numpy.float64)


def load(path, trusted):
    with warnings.catch_warnings():
        warnings.simplefilter("always", InconsistentVersionWarning)
        try:
            if path.suffix == ".skops":
                return load_skops(path, trusted)
            import joblib

            return joblib.load(path)
        except Mistake:
            raise
        except Exception as error:  # a pickle can raise anything
            reason = f"{type(error).__name__}: {first_line(error)}"
            raise Mistake(f"`model`: {path} is no model of scikit-learn that can be loaded: {reason}") from None


def load_skops(path, trusted):
    import skops.io

    unknown = [name for name in skops.io.get_untrusted_types(file=path) if name not in trusted]
    if unknown:
        raise Mistake(f"`trusted`: {path} has {', '.join(unknown)}; name them if you trust the file's origin")
    return skops.io.load(path, trusted=trusted)


def parts(model):
    """The model and what it is made of."""
    yield model
    for name in ("steps", "estimators_", "estimator_", "best_estimator_", "calibrated_classifiers_"):
        inner = getattr(model, name, None)
        inner = inner.ravel().tolist() if isinstance(inner, numpy.ndarray) else inner
        for part in inner if isinstance(inner, list) else [] if inner is None else [inner]:
            yield from parts(part[1] if isinstance(part, tuple) else part)
