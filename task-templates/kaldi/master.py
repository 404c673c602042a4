"""The master: runs the recipe, and gives the commands that it hands out to workers that are free.

    master.py --script run.py ARGS...     a Python file of the pipeline's folder
    master.py -- PROGRAM ARGS...          any other program: ./run.sh

The recipe finds in KALDI_CMD what it sets as its `train_cmd` and `decode_cmd`. What it ends with is the task's end.
"""

import os
import queue
import shlex
import subprocess
import sys
from pathlib import Path

# The template's folder stays as it was: no compiled files in it.
sys.dont_write_bytecode = True
import link

HERE = Path(__file__).resolve().parent
#: Commands that no worker has yet: (command, its number, where its exit status goes).
WAITING = queue.Queue()


def answer(stream, hello):
    """A worker takes commands, a hand_out brings some."""
    if hello["role"] == "worker":
        serve(stream, hello["name"])
    else:
        gather(stream)


def serve(stream, name):
    """Gives a worker one command after another."""
    print(f"{name} takes work", flush=True)
    while True:
        command, number, answers = WAITING.get()
        try:
            link.send(stream, command)
            answer = link.receive(stream)
        except OSError:
            answer = None
        if answer is None:
            # The platform ends the job, for it sees the worker's end as well.
            print(f"{name} went away with command {number}", flush=True)
            answers.put((number, 255))
            return
        answers.put((number, answer["exit"]))


def gather(stream):
    """Puts a hand_out's commands in the queue, and answers when all have ended."""
    commands, answers = link.receive(stream) or [], queue.Queue()
    for number, command in enumerate(commands):
        WAITING.put((command, number, answers))
    ended = dict(answers.get() for _ in commands)
    link.send(stream, [ended[number] for number in range(len(commands))])


def main(words):
    link.listen(answer)
    os.environ["KALDI_CMD"] = shlex.join([sys.executable, str(HERE / "hand_out.py")])
    done = subprocess.run([sys.executable, str(HERE / "program.py"), *words])
    sys.exit(done.returncode if done.returncode >= 0 else 128 - done.returncode)


main(sys.argv[1:])
