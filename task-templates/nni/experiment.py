"""NNI's experiment: its tuner, its assessor, and its server, whose trial command is relay.py."""

import functools
import json
import os
import secrets
import shlex
import socket
import sys
import threading
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: The experiment's name; there is one in a folder.
NAME = "experiment"
#: How long its server may take to come up, in seconds.
PATIENCE = 120
#: What takes no goal: it looks at no result, or takes large ones for good.
WITHOUT_GOAL = {"Random", "GridSearch", "Batch", "Curvefitting"}


def algorithm(settings, kind):
    """NNI's tuner or assessor; nothing where none is wanted."""
    from nni.tools.package_utils.tuner_factory import create_builtin_class_instance

    name = settings[kind]
    if name is None:
        return None
    goal = {} if name in WITHOUT_GOAL else {"optimize_mode": settings["optimize_mode"]}
    arguments = goal | settings[f"{kind}_args"]
    try:
        return create_builtin_class_instance(name, arguments, f"{kind}s")
    except ImportError as error:
        sys.exit(f"`requirements`: NNI's {name} needs a package more: {error}")
    except Exception as error:
        sys.exit(f"`{kind}_args`: NNI's {name} does not take {json.dumps(arguments)}: {error}")


def check_space(settings):
    """Whether the tuner takes the search space. It is told to one that is not used: some add up what they are told."""
    from nni.common.hpo_utils import validate_search_space

    name, space = settings["tuner"], settings["search_space"]
    tuner = algorithm(settings, "tuner")
    try:
        # Batch alone has choices that are mappings, and looks at them itself.
        if name != "Batch":
            validate_search_space(space, raise_exception=True)
        tuner.update_search_space(space)
    except Exception as error:
        sys.exit(f"`search_space`: NNI's {name} does not take it: {error}")


def make(settings, folder):
    """The experiment; of one that an attempt before has begun, the settings of then."""
    from nni.experiment import AlgorithmConfig, Experiment, RunMode
    from nni.runtime.msg_dispatcher import MsgDispatcher

    tuner, assessor = algorithm(settings, "tuner"), algorithm(settings, "assessor")

    class Kept(Experiment):
        def has_checkpoint(self):
            # NNI looks into a list below HOME, which is another in each attempt.
            return (folder / NAME / "db/nni.sqlite").exists()

        def _start_nni_manager(self, port, debug, run_mode=RunMode.Background, tuner_command_channel=None, tags=()):
            # The tuner runs in this process, as when NNI searches for networks. A process of its own would have ten
            # seconds to come up, which is not enough on a machine that is busy.
            url = f"ws://localhost:{port}/{self.url_prefix}/tuner"
            super()._start_nni_manager(port, debug, run_mode, url, list(tags))
            self.dispatcher = MsgDispatcher(url, tuner, assessor)
            threading.Thread(target=self.dispatcher.run, daemon=True).start()

    made = Kept("local", id=NAME)
    config = made.config
    config.search_space = settings["search_space"]
    config.tuner = AlgorithmConfig(name=settings["tuner"])
    # By a variable, for the template lies elsewhere in the next attempt. As `exec`: what NNI ends is the relay itself.
    config.trial_command = f'exec {shlex.quote(sys.executable)} "$CUBELOOM_TEMPLATE_DIR/relay.py"'
    # Nothing is read from it; the next attempt has to find it where it was.
    config.trial_code_directory = folder
    config.trial_concurrency = settings["workers"]
    config.max_trial_number = settings["max_trial_number"]
    config.max_experiment_duration = settings["max_experiment_duration"]
    config.max_trial_duration = settings["max_trial_duration"]
    config.experiment_working_directory = folder
    # Whoever reaches its port may command NNI: they need to know this, too.
    made.url_prefix = secrets.token_hex(16)
    return made


def start(experiment):
    """Starts NNI's own server, with the loopback interface only."""
    from nni.experiment import launcher

    # NNI gives its server three seconds, which is not enough either.
    launcher._check_rest_server = functools.partial(launcher._check_rest_server, retry=PATIENCE)
    os.environ["NODE_OPTIONS"] = f"--require={HERE / 'loopback.js'}"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    try:
        experiment.run_or_resume(port, wait_completion=False)
    except Exception as error:
        sys.exit(f"NNI did not start: {error}")
