"""Runs commands on the job's workers and waits for their end: to be called as Kaldi's run.pl and queue.pl.

    hand_out.py [--mem 4G] [--num-threads 2] ... [JOB=1:32] LOG COMMAND...

Every JOB in LOG and COMMAND is replaced by a number. Options of other queues are read and not used: a worker has what the
task's `resources` say. Folders must be the same for all workers: on the workspace, as {{ run.dir }} is.
"""

import os
import re
import sys
from pathlib import Path

# The template's folder stays as it was: no compiled files in it.
sys.dont_write_bytecode = True
import link


def main(words):
    name, numbers = None, [None]
    while words and (words[0].startswith("-") or re.fullmatch(r"[A-Za-z_]\w*=\d+(:\d+)?", words[0])):
        word = words.pop(0)
        if word.startswith("-"):
            # All options of these programs have a value, but this one.
            del words[: 0 if word in ("--sync", "-V") else 1]
        else:
            name, _, span = word.partition("=")
            first, _, last = span.partition(":")
            numbers = range(int(first), int(last or first) + 1)
    if len(words) < 2:
        sys.exit("hand_out.py [OPTIONS] [JOB=1:N] LOG COMMAND...")
    log, *command = words
    logs = [fill(log, name, number) for number in numbers]
    work = [prepare(fill(quote(command), name, number), log) for number, log in zip(numbers, logs)]
    try:
        stream = link.connect(role="hand_out")
    except ConnectionError as error:
        sys.exit(str(error))
    link.send(stream, work)
    exits = link.receive(stream)
    if exits is None:
        sys.exit("the master went away")
    failed = [log for log, status in zip(logs, exits) if status != 0]
    if failed:
        sys.exit(f"hand_out.py: {len(failed)} / {len(logs)} failed, log is in {failed[0]}")


def fill(text, name, number):
    return text if name is None else text.replace(name, str(number))


def quote(command):
    """As run.pl does: a word without blanks is the shell's, which makes pipes; one with blanks keeps its double quotes."""
    return " ".join(word if re.fullmatch(r"\S+", word) else f"'{word}'" if '"' in word else f'"{word}"' for word in command)


def prepare(command, log):
    log = Path(log).absolute()
    log.parent.mkdir(parents=True, exist_ok=True)
    return {"command": command, "folder": os.getcwd(), "log": str(log)}


main(sys.argv[1:])
