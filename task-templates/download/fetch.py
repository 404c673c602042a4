"""Fetches the files of a list: each worker its share, several at a time, not more often than is allowed.

A file that is here already is not fetched again. One that cannot be fetched is told with its reason, in the report.
"""

import argparse
import http.client
import re
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import shards
from shards import Failed, cubeloom

#: What may be different a moment later.
PASSING = {408, 425, 429, 500, 502, 503, 504}
#: The longest pause between tries, in seconds.
LONGEST = 60
PIECE = 1 << 20
#: What a file that the list gives no name keeps of its address.
LONGEST_NAME = 150
#: The file with what failed, in the folder of the others.
REPORT = "failures.jsonl"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", dest="urls", nargs="*", default=[])
    parser.add_argument("--list", help="a file of the run's folder: an address a line, and behind a space what its file is called")
    parser.add_argument("--to", required=True)
    parser.add_argument("--parallel", type=int, default=4)
    parser.add_argument("--rate", type=float, default=0, help="requests a second, of all workers together; 0 for any")
    parser.add_argument("--retries", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=30)
    parser.add_argument("--tolerate", type=int, default=0)
    options = parser.parse_args()
    folder, gate = cubeloom.run_dir / options.to, Gate(options.rate / shards.WORKERS)
    shards.work(
        named(addresses(options), "list" if options.list else "urls"),
        lambda one: fetch(one, folder, gate, options),
        options.parallel,
        options.tolerate,
        folder / REPORT,
        ["fetched", "skipped", "bytes"],
    )


def addresses(options):
    lines = [*options.urls]
    if options.list:
        path = cubeloom.run_dir / options.list
        try:
            lines += path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            sys.exit(f"`list`: {path} cannot be read: {error}")
    lines = [line.strip() for line in lines]
    return [line for line in lines if line and not line.startswith("#")]


def named(lines, argument):
    """Addresses and the names of their files, each name once; `argument` is where they come from."""
    items, taken = [], set()
    for number, line in enumerate(lines):
        url, _, name = line.partition(" ")
        last = re.sub(r"[^A-Za-z0-9._-]+", "_", urllib.parse.unquote(url.partition("?")[0].rpartition("/")[2]))
        name = name.strip() or f"{number:06}-{last[-LONGEST_NAME:] or 'file'}"
        if Path(name).is_absolute() or ".." in Path(name).parts or name in taken or name == REPORT:
            sys.exit(f"`{argument}`: {name!r} is no name of a file below the folder, or stands there twice")
        taken.add(name)
        items.append(Item(url, name))
    return items


class Item:
    def __init__(self, url, name):
        self.url, self.name = url, name

    def __str__(self):
        return self.url


class Gate:
    """Lets through so many a second."""

    def __init__(self, rate):
        self.gap, self.next, self.lock = 1 / rate if rate else 0, time.monotonic(), threading.Lock()

    def wait(self):
        with self.lock:
            at = max(self.next, time.monotonic())
            self.next = at + self.gap
        time.sleep(max(0.0, at - time.monotonic()))


def fetch(item, folder, gate, options):
    target = folder / item.name
    with keeping(target):
        if target.exists():
            return {"skipped": 1}
        target.parent.mkdir(parents=True, exist_ok=True)
    for tries in range(options.retries + 1):
        gate.wait()
        try:
            return {"fetched": 1, "bytes": keep(item.url, target, options.timeout)}
        except urllib.error.HTTPError as refusal:
            problem = Failed(f"answered {refusal.code} {refusal.reason}")
            if refusal.code not in PASSING:
                raise problem from None
            wait = pause(refusal.headers.get("Retry-After"), tries)
        except (OSError, ValueError, http.client.HTTPException) as error:
            problem, wait = Failed(f"did not answer: {getattr(error, 'reason', error)}"), pause(None, tries)
        if tries < options.retries:
            time.sleep(wait)
    raise problem


def pause(asked, tries):
    """What the server asks for in seconds, else longer each time."""
    try:
        return min(max(float(asked), 0.0), LONGEST)
    except (TypeError, ValueError):
        return min(2.0**tries / 2, LONGEST)


def keep(url, target, timeout):
    """Whole or not at all: aside first. How many bytes."""
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise Failed("is no address with http or https")
    request = urllib.request.Request(url, headers={"User-Agent": "cubeloom"})
    aside = target.with_name(f".{target.name}.part")
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer, opened(aside, target) as file:
            while piece := memoryview(answer.read(PIECE)):
                while piece:
                    with keeping(target):
                        piece = piece[file.write(piece) :]
            size, declared = file.tell(), answer.headers.get("Content-Length")
        if declared is not None and size != int(declared):
            raise OSError(f"only {size} of {declared} bytes came")
        with keeping(target):
            aside.rename(target)
        return size
    finally:
        aside.unlink(missing_ok=True)


def opened(aside, target):
    """Without a buffer: what does not fit is known at once, and not when the file is closed."""
    with keeping(target):
        return aside.open("wb", buffering=0)


@contextmanager
def keeping(target):
    """What is wrong with this side is not the server's fault, and no better a moment later."""
    try:
        yield
    except OSError as error:
        raise Failed(f"cannot be kept as {target.name}: {error.strerror}") from None


main()
