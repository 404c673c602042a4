"""Trains models of several kinds, and prints scikit-learn's metrics of them."""

import csv
import pickle

import cubeloom
import joblib
import numpy
import pyarrow
import skops.io
from pyarrow import parquet
from sklearn import metrics
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

flowers, kinds = load_iris(return_X_y=True)
flowers, names = flowers.astype(numpy.float32), numpy.array(["setosa", "versi,color", "virginica"])
with open(cubeloom.run_dir / "flowers.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["id", "a", "b", "c", "d", "kind"])
    table.writerows([f"{at:03}", *row, names[kind]] for at, (row, kind) in enumerate(zip(flowers.tolist(), kinds)))
# Few rows, so that it makes some mistakes.
forest = RandomForestClassifier(20, random_state=1).fit(flowers[::5], names[kinds[::5]])
weak = make_pipeline(StandardScaler(), LogisticRegression(C=0.01)).fit(flowers, names[kinds])
joblib.dump(forest, cubeloom.run_dir / "forest.joblib")
skops.io.dump(weak, cubeloom.run_dir / "weak.skops")

people, sickness = load_diabetes(return_X_y=True)
people = people.astype(numpy.float32)
columns = {f"f{at}": people[:, at] for at in range(people.shape[1])}
parquet.write_table(pyarrow.table(columns | {"sickness": sickness}), cubeloom.run_dir / "people.parquet")
ridge = Ridge().fit(people, sickness)
with open(cubeloom.run_dir / "ridge.pkl", "wb") as file:
    pickle.dump(ridge, file)


def judged(model):
    guess, chances = model.predict(flowers), model.predict_proba(flowers)
    return {
        "accuracy": metrics.accuracy_score(names[kinds], guess),
        "f1_macro": metrics.f1_score(names[kinds], guess, average="macro"),
        "log_loss": metrics.log_loss(names[kinds], chances),
        "auc": metrics.roc_auc_score(names[kinds], chances, multi_class="ovr"),
    }


guess = ridge.predict(people)
numbers = {
    "rmse": metrics.root_mean_squared_error(sickness, guess),
    "mae": metrics.mean_absolute_error(sickness, guess),
    "r2": metrics.r2_score(sickness, guess),
}
(cubeloom.run_dir / "cut.skops").write_bytes((cubeloom.run_dir / "weak.skops").read_bytes()[:900])
with open(cubeloom.run_dir / "list.pkl", "wb") as file:
    pickle.dump([1, 2], file)
cubeloom.outputs(forest=judged(forest), weak=judged(weak), ridge=numbers)
