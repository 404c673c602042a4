"""Calls a web service once, or again while it says that it cannot answer now, and reports what came back."""

import argparse
import email.utils
import http.client
import json
import os
import re
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
# The template's folder stays as it was: no compiled files in it.
sys.dont_write_bytecode = True
import cubeloom

#: What a header may be called (RFC 9110, 5.6.2).
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
#: What may be different a moment later.
PASSING = {408, 425, 429, 500, 502, 503, 504}
#: The longest pause between tries, in seconds, whatever the service asks for.
LONGEST = 60
#: How much of an answer becomes an output, and of a refusal a message, in bytes.
SHOWN, SAID = 64 << 10, 500
PIECE = 1 << 20


def main():
    options = arguments()
    sys.stdout.reconfigure(line_buffering=True)
    request = build(options)
    for tries_left in reversed(range(options.retries + 1)):
        began = time.monotonic()
        status, headers, problem = attempt(request, options)
        if status and is_expected(status, options.expect):
            return tell(options, status, headers, time.monotonic() - began)
        if not tries_left or (status and status not in PASSING):
            sys.exit(problem)
        wait = pause(headers, options.retries - tries_left)
        print(f"{problem}; again in {wait:.0f} s", flush=True)
        time.sleep(wait)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--method", default="GET")
    parser.add_argument("--header", dest="headers", nargs="*", type=named, default=[], help="Accept=text/csv ...")
    parser.add_argument("--body", help="JSON text")
    parser.add_argument("--token-variable", help="the variable whose value is sent as a bearer's token")
    parser.add_argument("--expect", nargs="*", type=int, default=[], help="status codes; without them any from 200 to 299")
    parser.add_argument("--timeout", type=float, default=30)
    parser.add_argument("--retries", type=int, default=2)
    parser.add_argument("--save", help="a file for the answer's body")
    return parser.parse_args()


def named(word):
    name, _, value = word.partition("=")
    return name, value


def build(options):
    headers = {"User-Agent": "cubeloom", **dict(options.headers)}
    if wrong := [name for name in headers if not TOKEN.fullmatch(name)]:
        sys.exit(f"`headers`: {wrong[0]!r} is no name of a header")
    data = None
    if options.body is not None:
        body = json.loads(options.body)
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        if not isinstance(body, str):
            headers.setdefault("Content-Type", "application/json")
    if options.token_variable:
        token = os.environ.get(options.token_variable)
        if token is None:
            sys.exit(f"`token_variable`: there is no variable {options.token_variable}: give the task a secret as `env`")
    request = urllib.request.Request(options.url, data=data, headers=headers, method=options.method)
    if options.token_variable:
        # Not for whomever the service sends us on to.
        request.add_unredirected_header("Authorization", f"Bearer {token}")
    return request


def attempt(request, options):
    """The status, the headers, and what is wrong in a sentence. Status 0: nobody answered."""
    url = request.full_url
    try:
        with urllib.request.urlopen(request, timeout=options.timeout) as answer:
            if is_expected(answer.status, options.expect):
                keep(answer, target(options), options.method)
            return answer.status, answer.headers, f"{url} answered {answer.status}, which was not expected"
    except urllib.error.HTTPError as refusal:
        if is_expected(refusal.code, options.expect):
            keep(refusal, target(options), options.method)
            return refusal.code, refusal.headers, ""
        said = refusal.read(SAID).decode(errors="replace").strip()
        sentence = f"{url} answered {refusal.code} {refusal.reason}" + (f": {said}" if said else "")
        return refusal.code, refusal.headers, sentence
    except (OSError, ValueError, http.client.HTTPException) as error:
        return 0, {}, f"{url} did not answer: {getattr(error, 'reason', error)}"


def is_expected(status, expected):
    return status in expected if expected else 200 <= status < 300


def target(options):
    """Where the answer's body goes; without a file of the user's, beside the task's own things."""
    if options.save:
        return cubeloom.run_dir / options.save
    return Path(os.environ.get("TMPDIR", "."), "answer")


def keep(answer, path, method):
    """Whole or not at all: aside first."""
    aside = path.with_name(f".{path.name}.part")
    try:
        with opened(path, aside) as file:
            while piece := memoryview(answer.read(PIECE)):
                while piece:
                    with keeping(path):
                        piece = piece[file.write(piece) :]
            size, declared = file.tell(), answer.headers.get("Content-Length")
        if declared is not None and method != "HEAD" and size != int(declared):
            raise OSError(f"only {size} of {declared} bytes came")
        with keeping(path):
            aside.rename(path)
    finally:
        aside.unlink(missing_ok=True)


def opened(path, aside):
    """Without a buffer: what does not fit is known at once, and not when the file is closed."""
    with keeping(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        return aside.open("wb", buffering=0)


@contextmanager
def keeping(path):
    """What is wrong with this side is not the service's fault: it is not asked again."""
    try:
        yield
    except OSError as error:
        sys.exit(f"the answer cannot be kept as {path}: {error.strerror}")


def pause(headers, tries):
    """What the service asks for, else longer each time."""
    asked = headers.get("Retry-After") if headers else None
    try:
        wait = float(asked)
    except (TypeError, ValueError):
        moment = email.utils.parsedate_to_datetime(asked).timestamp() if is_date(asked) else None
        wait = moment - time.time() if moment else 2.0**tries
    return min(max(wait, 0.0), LONGEST)


def is_date(text):
    try:
        return text is not None and email.utils.parsedate_to_datetime(text) is not None
    except ValueError:
        return False


def tell(options, status, headers, seconds):
    path = target(options)
    size = path.stat().st_size
    print(f"{options.method} {options.url}: {status}, {size} bytes in {seconds:.2f} s")
    body = None
    if size <= SHOWN:
        text = path.read_bytes().decode(errors="replace")
        body = parsed(text) if "json" in (headers.get("Content-Type") or "") else text
    if options.save:
        cubeloom.artifact(path.name, path)
    cubeloom.outputs(status=status, bytes=size, body=body)


def parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


if __name__ == "__main__":
    main()
