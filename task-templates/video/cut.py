"""Makes pictures or sound of videos with FFmpeg: each worker its share, several at a time.

What is made of a video appears whole or not at all; a video whose result is there already is left alone. One that cannot be
read is told with FFmpeg's own last words, in the report.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

import shards
from shards import Failed, cubeloom


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["frames", "audio"])
    parser.add_argument("--from", dest="source", required=True, help="a pattern below the run's folder, like videos/**/*.mp4")
    parser.add_argument("--to", required=True)
    parser.add_argument("--every", type=float, default=1, help="seconds between pictures")
    parser.add_argument("--width", type=int, default=0, help="of the pictures; 0 for the video's own")
    parser.add_argument("--format", default="", help="jpg, png; wav, flac, mp3")
    parser.add_argument("--rate", type=int, default=16_000, help="of the sound, in samples a second")
    parser.add_argument("--parallel", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=3600)
    parser.add_argument("--tolerate", type=int, default=0)
    options = parser.parse_args()
    if shutil.which("ffmpeg") is None:
        sys.exit("there is no ffmpeg here: apt-get install --no-install-recommends ffmpeg")
    folder = cubeloom.run_dir / options.to
    # What the others make meanwhile is no video to cut.
    found = (path for path in cubeloom.run_dir.glob(options.source) if folder not in path.parents)
    videos = sorted(path for path in found if path.is_file())
    if not videos:
        sys.exit(f"`from`: no file matches {options.source} in the run's folder")
    make = frames if options.what == "frames" else audio
    shards.work(
        videos,
        lambda video: make(video, folder / video.relative_to(cubeloom.run_dir), options),
        options.parallel,
        options.tolerate,
        folder / "failures.jsonl",
        ["made", "skipped", "frames" if options.what == "frames" else "bytes"],
    )


def frames(video, target, options):
    """A folder of pictures, called after the video."""
    if target.is_dir():
        return {"skipped": 1}
    aside = target.with_name(f".{target.name}.part")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    steps = [f"fps=1/{options.every:g}", *([f"scale={options.width}:-2"] if options.width else [])]
    pictures = f"{str(aside).replace('%', '%%')}/%06d.{options.format or 'jpg'}"
    try:
        run(video, ["-vf", ",".join(steps), pictures], options.timeout)
        count = len(list(aside.iterdir()))
        if not count:
            raise Failed("has no pictures")
        aside.rename(target)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return {"made": 1, "frames": count}


def audio(video, target, options):
    """A file of one channel, called after the video."""
    kind = options.format or "wav"
    target = target.with_name(f"{target.name}.{kind}")
    if target.exists():
        return {"skipped": 1}
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = target.with_name(f".{target.name}.part")
    try:
        run(video, ["-vn", "-ac", "1", "-ar", str(options.rate), "-f", kind, str(aside)], options.timeout)
        size = aside.stat().st_size
        aside.rename(target)
    finally:
        aside.unlink(missing_ok=True)
    return {"made": 1, "bytes": size}


def run(video, words, timeout):
    # `repeat`: the last line is what is wrong, and not how often it was said.
    command = ["ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "repeat+error", "-xerror", "-y", "-i", str(video), *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=timeout, cwd=os.environ.get("TMPDIR", "."))
    except subprocess.TimeoutExpired:
        raise Failed(f"took longer than {timeout:g} s") from None
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise Failed(said[-1] if said else f"ffmpeg ended with {done.returncode}")


main()
