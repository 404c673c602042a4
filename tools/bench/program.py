"""A `cubeloom` program that is measured: its own cases, and those that measure it from the outside."""

import json
import subprocess

import figures
import outside
from outside import Failed


class Program:
    """`path` is the program, `scratch` the folder in which cases make theirs."""

    def __init__(self, path, scratch, history):
        self.path, self.scratch, self.history = path, scratch, history

    def cases(self):
        """The names of all cases. The program's own `idle`, which older programs have, gives way to the one here."""
        listed = self.output(["bench", "--list"]).splitlines()
        own = [line.split()[0] for line in listed if line.strip()]
        return [*outside.CASES, *(name for name in own if name not in outside.CASES)]

    def round(self, case):
        """One round of a case, in a process of its own."""
        if case in outside.CASES:
            return outside.CASES[case](self.path, self.scratch)
        options = ["--scratch", str(self.scratch), "--history", str(self.history)]
        printed = self.output(["bench", "--one", case, *options]).splitlines()
        return [figures.typed(found) for found in json.loads(printed[-1])]

    def output(self, arguments):
        done = subprocess.run([self.path, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise Failed(f"`{self.path} {' '.join(arguments)}` ended with {done.returncode}")
        return done.stdout.decode()
