"""What a worker is started with: the arguments of the task."""

import argparse
import os


def arguments(about):
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bootstrap-servers", required=True)
    parser.add_argument("--topics", type=lambda text: text.split(","), required=True)
    parser.add_argument("--group")
    parser.add_argument("--script", help="a file of the pipeline's folder with a function `handle`")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--start", choices=["earliest", "latest"], default="earliest")
    parser.add_argument("--end", choices=["lag", "snapshot", "never"], default="lag")
    parser.add_argument("--idle", type=float, default=10)
    parser.add_argument("--duration", type=float)
    parser.add_argument("--until", help="a moment, as in 2026-01-31T06:00:00Z")
    parser.add_argument("--attempts", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--rejected")
    parser.add_argument("--tolerate", type=int, default=0)
    parser.add_argument("--output-topic")
    parser.add_argument("--broker-timeout", type=float, default=60)
    parser.add_argument("--session-timeout", type=float, default=45)
    parser.add_argument("--security-protocol", default="PLAINTEXT")
    parser.add_argument("--sasl-mechanism", default="PLAIN")
    parser.add_argument("--ca")
    parser.add_argument("command", nargs="*", help="a program and its arguments; with a script, the script's")
    options = parser.parse_args()
    options.has_output = options.output_topic is not None
    if options.group is None:
        # The same in each run of the pipeline, so that one goes on where the last one ended.
        names = (os.environ.get(f"CUBELOOM_{name}", "alone") for name in ("PROJECT", "PIPELINE", "TASK"))
        options.group = ".".join(["cubeloom", *names])
    return options
