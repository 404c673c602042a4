"""The manager: runs an experiment of NNI, and gives its trials to workers that are free.

    manager.py SETTINGS     the task's arguments, as JSON

NNI starts relay.py for each trial, as it would start the trial's own program. The relay brings the trial here, a worker takes
it, and what trial and NNI have to say to each other passes through. NNI keeps its experiment in the folder for checkpoints:
the next attempt goes on from there.
"""

import collections
import json
import logging
import os
import signal
import sys
import time
from pathlib import Path

# The template's folder stays as it was: no compiled files in it.
sys.dont_write_bytecode = True
sys.path.insert(1, str(Path(__file__).resolve().parent / "lib"))
import cubeloom
import link
from experiment import check_space, make, start
from trials import Trials, answer, figure

#: How often NNI is asked how far it is, in seconds.
PERIOD = 0.5


def wait(experiment, trials, settings):
    """Until there are no more trials."""
    from nni.experiment import rest

    done = 0
    while True:
        status = rest.get(experiment.port, "/check-status", experiment.url_prefix)
        states = collections.Counter(job["status"] for job in jobs(experiment))
        ended = sum(states.values()) - states["WAITING"] - states["RUNNING"]
        if ended > done:
            done = ended
            cubeloom.progress(done, settings["max_trial_number"])
        if errors := [*experiment.dispatcher.worker_exceptions, *status["errors"]]:
            sys.exit(f"NNI stopped: {errors[0]}")
        if trials.failed > settings["max_failures"]:
            most = settings["max_failures"]
            sys.exit(f"{trials.failed} trials failed, and `max_failures` is {most}; first {trials.reason}")
        if status["status"] == "DONE" or is_exhausted(experiment, status["status"], states):
            return
        time.sleep(PERIOD)


def is_exhausted(experiment, status, states):
    """Whether the tuner has no more to try: NNI would wait for somebody to change the search space."""
    if status != "TUNER_NO_MORE_TRIAL" or states["WAITING"] or states["RUNNING"]:
        return False
    return sum(states.values()) >= experiment.get_experiment_profile()["nextSequenceId"]


def jobs(experiment):
    from nni.experiment import rest

    return rest.get(experiment.port, "/trial-jobs", experiment.url_prefix)


def report(experiment, trials, settings):
    """The best trial is the task's result."""
    ended = jobs(experiment)
    values = {}
    for job in ended:
        value = figure(json.loads(json.loads(job["finalMetricData"][0]["data"]))) if job.get("finalMetricData") else None
        if job["status"] == "SUCCEEDED" and value is not None:
            values[job["trialJobId"]] = value
    states = collections.Counter(job["status"] for job in ended)
    if not values:
        reason = trials.reason or "none of them called `nni.report_final_result`"
        sys.exit(f"no trial of {len(ended)} has a result: {reason}")
    best = (max if settings["optimize_mode"] == "maximize" else min)(values, key=values.get)
    cubeloom.outputs(
        best_parameters=trials.parameters[best],
        best_value=values[best],
        best_trial=list(trials.parameters).index(best),
        trials=len(ended),
        failed=states["FAILED"],
        stopped=states["EARLY_STOPPED"] + states["USER_CANCELED"],
    )


def main(settings):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # NNI is asked at this machine's own address, whatever goes by a proxy.
    os.environ["no_proxy"] = ",".join(filter(None, [os.environ.get("no_proxy") or os.environ.get("NO_PROXY"), "localhost"]))
    # Else it writes into the folder of the packages, which others use, too.
    os.environ["NNI_CONFIG_DIR"] = str(Path("nni").absolute())
    # What NNI has to say beside warnings is of a port that nobody reaches.
    logging.disable(logging.INFO)
    folder = (cubeloom.checkpoint_dir / "nni").absolute()
    folder.mkdir(parents=True, exist_ok=True)
    trials = Trials(folder / "parameters.jsonl")
    check_space(settings)
    experiment = make(settings, folder)
    link.listen(lambda stream, hello: answer(trials, stream, hello))
    start(experiment)
    try:
        wait(experiment, trials, settings)
        report(experiment, trials, settings)
    except OSError as error:
        sys.exit(f"NNI's server does not answer any more: {error}")
    finally:
        experiment.stop()


main(json.loads(sys.argv[1]))
