"""Example: trains two classifiers on the tumours that come with scikit-learn, and holds out a table of them.

Writes train.parquet, test.parquet, boosted.json (XGBoost) and linear.skops (scikit-learn) into the run's folder.
"""

import cubeloom
import numpy
import pyarrow
import skops.io
import xgboost
from pyarrow import parquet
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

bunch = load_breast_cancer()
names, features, labels = bunch.feature_names.tolist(), bunch.data.astype(numpy.float32), bunch.target
held_out = numpy.zeros(len(labels), dtype=bool)
held_out[numpy.random.default_rng(7).permutation(len(labels))[:142]] = True
for name, chosen in (("train", ~held_out), ("test", held_out)):
    columns = dict(zip(names, features[chosen].T)) | {"row": numpy.flatnonzero(chosen), "benign": labels[chosen]}
    parquet.write_table(pyarrow.table(columns), cubeloom.run_dir / f"{name}.parquet")

settings = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.3, "nthread": 1}
matrix = xgboost.DMatrix(features[~held_out], label=labels[~held_out], feature_names=names)
boosted = xgboost.train(settings, matrix, num_boost_round=40)
boosted.save_model(cubeloom.run_dir / "boosted.json")
linear = make_pipeline(StandardScaler(), LogisticRegression()).fit(features[~held_out], labels[~held_out])
skops.io.dump(linear, cubeloom.run_dir / "linear.skops")
cubeloom.outputs(
    boosted=str(cubeloom.run_dir / "boosted.json"),
    linear=str(cubeloom.run_dir / "linear.skops"),
    train=str(cubeloom.run_dir / "train.parquet"),
    test=str(cubeloom.run_dir / "test.parquet"),
    features=names,
    settings=settings,
)
