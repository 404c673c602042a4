"""The release program of another commit, built once and cached: ${XDG_CACHE_HOME:-~/.cache}/cubeloom-tools/bench-<commit>."""

import fcntl
import os
import shutil
import subprocess
from pathlib import Path


def cache():
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "cubeloom-tools"


def commit_of(root, ref):
    done = subprocess.run(
        ["git", "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}"],
        cwd=root, capture_output=True, text=True, check=False,
    )
    if done.returncode != 0:
        raise SystemExit(f"bench: `{ref}` is not a commit of this repository")
    return done.stdout.strip()


def program_of(root, commit):
    """The folder of a commit is complete once it has the program: the last step moves it there."""
    home = cache() / f"bench-{commit}"
    program = home / "cubeloom"
    cache().mkdir(parents=True, exist_ok=True)
    with open(cache() / f".bench-{commit}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            print(f"bench: building {commit[:8]}, once", flush=True)
            build(root, commit, home)
    return program


def build(root, commit, home):
    tree = cache() / f".bench-{commit}-tree"
    remove(root, tree)
    subprocess.run(["git", "worktree", "add", "--quiet", "--detach", tree, commit], cwd=root, check=True)
    try:
        # The commit's own release target: it knows its programs and pages.
        environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
        environment["CARGO_TARGET_DIR"] = str(tree / "target")
        subprocess.run(["make", "--no-print-directory", "release"], cwd=tree, env=environment, check=True)
        keep(tree, home)
    finally:
        remove(root, tree)


def keep(tree, home):
    """Copies the files needed to run it. The program finds the task templates next to itself, and is copied last."""
    home.mkdir(exist_ok=True)
    shutil.copytree(tree / "task-templates", home / "task-templates", dirs_exist_ok=True)
    built = tree / "target" / "release"
    for name in ("cubeloom-shim", "cubeloom"):
        if (built / name).exists():
            shutil.copy2(built / name, home / f".{name}")
            (home / f".{name}").rename(home / name)


def remove(root, tree):
    if tree.exists():
        subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=root, check=False)
        shutil.rmtree(tree, ignore_errors=True)
    subprocess.run(["git", "worktree", "prune"], cwd=root, check=True)
