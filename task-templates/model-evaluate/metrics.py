"""What is said of a model on rows whose answers are known."""

import numpy

#: Of these less is better.
LESS = ("log_loss", "rmse", "mae")


def of_regression(truth, guess):
    error = guess - truth
    spread = float(((truth - truth.mean()) ** 2).sum())
    found = {"rmse": float(numpy.sqrt((error**2).mean())), "mae": float(abs(error).mean())}
    # Of one value alone there is nothing to explain.
    return found | ({"r2": 1 - float((error**2).sum()) / spread} if spread else {})


def of_classification(truth, guess, probabilities, classes):
    """Without probabilities there is no log loss and no AUC, nor where the truth has one class alone."""
    found = {"accuracy": float((truth == guess).mean()), "f1_macro": f1_macro(truth, guess)}
    if probabilities is None:
        return found
    positions = numpy.array([classes.index(each) if each in classes else -1 for each in classes_of(truth)])
    at = positions[numpy.searchsorted(classes_of(truth), truth)]
    # A class that the model does not know has no chance; the logarithm of none would be endless.
    chosen = numpy.where(at >= 0, probabilities[numpy.arange(len(truth)), at], 0)
    found["log_loss"] = float(-numpy.log(numpy.clip(chosen, numpy.finfo(float).eps, 1)).mean())
    area = auc_of_classes(at, probabilities)
    return found | ({} if area is None else {"auc": area})


def classes_of(*labels):
    return sorted(set().union(*(each.tolist() for each in labels)))


def f1_macro(truth, guess):
    """The mean of the F1 of each class that is there or was guessed."""
    figures = []
    for each in classes_of(truth, guess):
        both = ((truth == each) & (guess == each)).sum()
        figures.append(2 * both / ((truth == each).sum() + (guess == each).sum()))
    return float(numpy.mean(figures))


def auc_of_classes(at, probabilities):
    """Of two classes the second's; of more the mean of each against the rest."""
    columns = [1] if probabilities.shape[1] == 2 else range(probabilities.shape[1])
    areas = [auc(at == column, probabilities[:, column]) for column in columns]
    areas = [area for area in areas if area is not None]
    return float(numpy.mean(areas)) if areas else None


def auc(positive, scores):
    """How often a row of the class has a larger score than another one; equal scores count half."""
    count = int(positive.sum())
    if not 0 < count < len(positive):
        return None
    _, place, times = numpy.unique(scores, return_inverse=True, return_counts=True)
    ranks = (numpy.cumsum(times) - (times - 1) / 2)[place]
    return float((ranks[positive].sum() - count * (count + 1) / 2) / (count * (len(positive) - count)))


def confusion(truth, guess):
    """The classes, and counts (true class, guessed class)."""
    classes = classes_of(truth, guess)
    counts = numpy.zeros((len(classes), len(classes)), dtype=int)
    numpy.add.at(counts, (numpy.searchsorted(classes, truth), numpy.searchsorted(classes, guess)), 1)
    return classes, counts
