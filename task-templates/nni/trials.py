"""Trials between NNI, which starts a relay for each, and the workers that run them."""

import json
import queue
import threading

import cubeloom
import link

#: Trials that no worker has yet.
WAITING = queue.Queue()


class Trials:
    """The trials that got their parameters, in that order, in this attempt and before it."""

    def __init__(self, file):
        self.file = file
        self.lock = threading.Lock()
        lines = file.read_text().splitlines() if file.exists() else []
        #: Parameters by the trial's identity in NNI, in the order of the trials' numbers.
        self.parameters = dict(map(json.loads, lines))
        #: How many have ended badly, by themselves, and how the first of them did.
        self.failed, self.reason = 0, None

    def number(self, identity, parameters):
        """The trial's number. Only here it is known which trial has which parameters: NNI lists them in the order in which
        trials began, and gives them out in the order in which they ask."""
        with self.lock:
            if identity not in self.parameters:
                self.parameters[identity] = parameters
                with open(self.file, "a") as file:
                    file.write(json.dumps([identity, parameters]) + "\n")
            return list(self.parameters).index(identity)

    def fail(self, reason):
        with self.lock:
            self.failed += 1
            self.reason = self.reason or reason


class Trial:
    """A trial between NNI, whose relay waits for it, and the worker that has it."""

    def __init__(self, variables, relay):
        self.variables, self.relay = variables, relay
        self.identity = variables["NNI_TRIAL_JOB_ID"]
        self.lock = threading.Lock()
        self.worker, self.cancelled, self.number = None, False, None

    def begin(self, worker):
        """Whether this worker is to run it."""
        with self.lock:
            self.worker = None if self.cancelled else worker
            return not self.cancelled

    def end(self, code):
        with self.lock:
            self.worker = None
            try:
                link.send(self.relay, {"exit": code})
            except OSError:
                # NNI has just ended it.
                pass

    def cancel(self):
        """NNI has ended the relay: nobody waits for the trial any more."""
        with self.lock:
            self.cancelled = True
            if self.worker:
                self.worker.send({"end": self.identity})
                print(f"{self} is stopped", flush=True)

    def __str__(self):
        return "a trial" if self.number is None else f"trial {self.number}"


class Worker:
    """A worker's line, which two threads may write to."""

    def __init__(self, stream):
        self.stream, self.lock = stream, threading.Lock()

    def send(self, message):
        try:
            with self.lock:
                link.send(self.stream, message)
        except OSError:
            # It has gone, which whoever reads hears.
            pass


def serve(trials, stream, name):
    """Gives a worker one trial after another."""
    print(f"{name} takes trials", flush=True)
    worker = Worker(stream)
    while True:
        trial = WAITING.get()
        if not trial.begin(worker):
            continue
        code = follow(trials, trial, worker, name)
        if code is None:
            # The platform ends the job, for it sees the worker's end as well.
            print(f"{name} went away with {trial}", flush=True)
        elif code and not trial.cancelled:
            reason = f"{trial} on {name} ended with exit code {code}: its log says why"
            print(reason, flush=True)
            trials.fail(reason)
        trial.end(255 if code is None else code)
        if code is None:
            return


def follow(trials, trial, worker, name):
    """Passes on what a trial and NNI say to each other, until it ends: its exit code, `None` when its worker went away."""
    from nni.runtime.command_channel.http import HttpChannel

    channel = HttpChannel(trial.variables["NNI_TRIAL_COMMAND_CHANNEL"])
    worker.send({"run": trial.variables})
    while (message := link.receive(worker.stream)) is not None:
        if "exit" in message:
            return message["exit"]
        command = message["command"]
        asks = command["type"] == "request_parameter"
        # To a trial that it has stopped NNI does not listen, and it has one set of parameters for each: it would never
        # answer to a second question.
        if trial.cancelled or asks and trial.number is not None:
            if asks:
                worker.send({"answer": None})
            continue
        try:
            channel.send(command)
            if asks:
                worker.send({"answer": learn(trials, trial, channel.receive(), name)})
            else:
                show(trial, json.loads(command["metric"]))
        except OSError as error:
            # NNI has ended, and the job does, too.
            print(f"NNI does not hear {trial}: {error}", flush=True)
    return None


def learn(trials, trial, answer, name):
    """Notes which parameters a trial gets."""
    parameters = json.loads(answer["parameter"])["parameters"]
    trial.number = trials.number(trial.identity, parameters)
    print(f"{trial} on {name}: {json.dumps(parameters)}", flush=True)
    return answer


def show(trial, metric):
    """Reports a result of a trial: those on the way are a curve of each trial, the final ones a curve of all."""
    value = figure(json.loads(metric["value"]))
    if value is None:
        return
    if metric["type"] == "FINAL":
        print(f"trial {trial.number}: {value:g}", flush=True)
        cubeloom.metric("final", value, step=trial.number)
    else:
        cubeloom.metric(f"trial-{trial.number}", value, step=metric["sequence"])


def figure(value):
    """What NNI's tuners look at: the number that was reported, or `default` of several."""
    value = value.get("default") if isinstance(value, dict) else value
    return float(value) if isinstance(value, (int, float)) else None


def answer(trials, stream, hello):
    """A worker takes trials; a relay brings one, and is ended when NNI wants no more of it."""
    if hello["role"] == "worker":
        serve(trials, stream, hello["name"])
    elif variables := link.receive(stream):
        trial = Trial(variables, stream)
        WAITING.put(trial)
        link.receive(stream)
        trial.cancel()
