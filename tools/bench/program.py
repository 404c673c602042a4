"""A measured `cubeloom` program: its own cases, and those that measure it from outside."""

import json
import subprocess

import figures
import outside
from outside import Failed


class Program:
    """`path` is the program, `scratch` the parent of the cases' folders."""

    def __init__(self, path, scratch, history):
        self.path, self.scratch, self.history = path, scratch, history

    def cases(self):
        """The names of all cases. The `idle` case of this tool replaces the one in older programs."""
        listed = self.output(["bench", "--list"]).splitlines()
        own = [line.split()[0] for line in listed if line.strip()]
        return [*outside.CASES, *(name for name in own if name not in outside.CASES)]

    def round(self, case):
        """One round of a case, in its own process."""
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
