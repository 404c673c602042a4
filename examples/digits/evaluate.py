"""Judges both models on the held-out images: figures, confusion matrices as a picture, the better model."""

import argparse
import json
import shutil
import sys
from pathlib import Path

import cubeloom
import numpy
import xgboost
from network import Network
from picture import draw_confusions

CLASSES = 10


def main():
    options = arguments()
    features, labels = load(options.features)
    models = {"boost": options.boost, "net": options.net}
    guesses = {"boost": boost_probabilities(options.boost, features), "net": net_probabilities(options.net, features)}
    results = {name: judge(probabilities, labels) for name, probabilities in guesses.items()}
    best = max(results, key=lambda name: results[name]["accuracy"])
    options.target.mkdir(parents=True, exist_ok=True)
    confusions = {name: confusion(probabilities, labels) for name, probabilities in guesses.items()}
    write_report(options.target, results, confusions, best, len(labels))
    titles = {"boost": "Boosted trees", "net": "Neural network"}
    draw_confusions(
        options.target / "confusion.png",
        [(f"{titles[name]}: {results[name]['accuracy']:.1%} right", confusions[name]) for name in confusions],
    )
    cubeloom.artifact("confusion matrices", options.target / "confusion.png")
    keep(models[best], options.target)
    cubeloom.outputs(best=best, accuracy=results[best]["accuracy"], held_out=len(labels))
    poor = [name for name in results if results[name]["accuracy"] < options.minimum_accuracy]
    if poor:
        sys.exit(f"{' and '.join(poor)}: right less often than the {options.minimum_accuracy:.1%} that are asked for")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--features", type=Path, required=True, help="folder of the held-out part-*.npz")
    parser.add_argument("--boost", type=Path, required=True, help="XGBoost's model")
    parser.add_argument("--net", type=Path, required=True, help="the network's model")
    parser.add_argument("--target", type=Path, required=True, help="folder for what comes out")
    parser.add_argument("--minimum-accuracy", type=float, required=True)
    return parser.parse_args()


def load(folder):
    parts = [numpy.load(path) for path in sorted(folder.glob("*.npz"))]
    return tuple(numpy.concatenate([part[name] for part in parts]) for name in ("X", "y"))


def boost_probabilities(path, features):
    """Probabilities (rows, classes)."""
    return xgboost.Booster(model_file=path).predict(xgboost.DMatrix(features))


def net_probabilities(path, features):
    """Probabilities (rows, classes)."""
    with numpy.load(path) as saved:
        network = Network(features.shape[1], int(saved["hidden"]), CLASSES)
        network.vector = saved["vector"]
        return network.forward((features - saved["mean"]) / saved["scale"])[1]


def judge(probabilities, labels):
    chosen = probabilities[numpy.arange(len(labels)), labels]
    return {
        "accuracy": float((probabilities.argmax(axis=1) == labels).mean()),
        "log_loss": float(-numpy.log(chosen + 1e-12).mean()),
    }


def confusion(probabilities, labels):
    """Counts (true digit, guessed digit)."""
    counts = numpy.zeros((CLASSES, CLASSES), dtype=int)
    numpy.add.at(counts, (labels, probabilities.argmax(axis=1)), 1)
    return counts


def write_report(folder, results, confusions, best, rows):
    print(f"on {rows} images that were held out:")
    for name, figures in results.items():
        print(f"  {name}: accuracy {figures['accuracy']:.4f}, log loss {figures['log_loss']:.4f}")
        for figure, value in figures.items():
            cubeloom.metric(f"{name} {figure}", value)
    report = {"best": best, "held_out": rows, "models": results}
    report["confusion"] = {name: counts.tolist() for name, counts in confusions.items()}
    (folder / "report.json").write_text(json.dumps(report, indent=1) + "\n")
    cubeloom.artifact("report", folder / "report.json")


def keep(model, folder):
    """The better model, under one name whichever it is."""
    path = folder / f"model{model.suffix}"
    shutil.copyfile(model, path)
    cubeloom.artifact("model", path)


main()
