"""Finds where a bowl is lowest with Ray Tune: trials run beside each other on the cluster; those that do badly end early."""

import cubeloom
from ray import tune
from ray.tune.schedulers import ASHAScheduler


def trial(config):
    for step in range(1, 11):
        # Starts high, and comes down to the depth of its place.
        depth = (config["x"] - 1) ** 2 + (config["y"] + 2) ** 2
        tune.report({"loss": depth + 10 / step})


tuner = tune.Tuner(
    trial,
    param_space={"x": tune.uniform(-5, 5), "y": tune.uniform(-5, 5)},
    tune_config=tune.TuneConfig(
        num_samples=16, metric="loss", mode="min", scheduler=ASHAScheduler(max_t=10, grace_period=2)
    ),
    run_config=tune.RunConfig(name="bowl", storage_path=str(cubeloom.run_dir / "tune"), verbose=1),
)
results = tuner.fit()
best = results.get_best_result()
whole = sum(result.metrics["training_iteration"] == 10 for result in results)
for result in results:
    cubeloom.metric("loss", result.metrics["loss"], step=result.metrics["training_iteration"])
cubeloom.outputs(x=best.config["x"], y=best.config["y"], loss=best.metrics["loss"], trials=len(results), whole=whole)
