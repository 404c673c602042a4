"""Benchmarks with records: `make bench` and `make bench-against REF=...`.

    python3 tools/bench run PROGRAM [CASE...]           all cases: a record and the page's tables, compared with the last record
    python3 tools/bench against PROGRAM REF [CASE...]   compared with the program of another commit, alternating
    python3 tools/bench page [--check]                  writes, or checks, the tables of docs/BENCHMARKS.md
"""

import argparse
import sys
from pathlib import Path

import figures
import machine
import noise
import page
import records
import tables
import worktree
from outside import Failed
from program import Program

ROOT = Path(__file__).resolve().parents[2]
# One round takes minutes, follows from a seed, or has no noise. If named explicitly, they run more rounds.
ONCE = ("history", "month", "size")


def run(options):
    program = Program(options.program, options.scratch, options.history)
    before = records.newest(options.records)
    measured_on = machine.describe(options.scratch, ROOT)
    gathered = {case: measured(program, case, rounds_of(case, options)) for case in options.cases or program.cases()}
    show_beside(before, {"machine": measured_on, "cases": gathered})
    if options.cases:
        print("Only some cases were measured: no record is written.")
        return 0
    path = records.write(options.records, measured_on, gathered)
    write_page(options)
    print(f"written: {path}")
    return 0


def measured(program, case, rounds):
    print(f"bench: {case}, {rounds} rounds", file=sys.stderr, flush=True)
    return figures.gather(program.round(case) for _ in range(rounds))


def show_beside(before, now):
    before = before or {"machine": {}, "cases": {}}
    is_same = records.is_same_machine(before, now)
    old = {case: before["cases"].get(case, []) for case in now["cases"]}
    rows = tables.compare(old, now["cases"], is_same)
    commit = before["machine"].get("commit", "none")[:8]
    print(tables.text(rows, f"last ({commit})", "now"))
    if before["cases"] and not is_same:
        print("The last record is of another machine: times and memory are shown, not judged.")
    print(tables.summary(rows))


def against(options):
    path = options.other or worktree.program_of(ROOT, worktree.commit_of(ROOT, options.ref))
    other = Program(path, options.scratch, options.history)
    ours = Program(options.program, options.scratch, options.history)
    old, new = {}, {}
    both = [other.cases(), ours.cases()]
    for case in options.cases or list(dict.fromkeys(both[1] + both[0])):
        sides = [program for program, names in zip((other, ours), both) if case in names]
        if not sides:
            raise SystemExit(f"bench: no case `{case}`; known cases: {', '.join(both[1])}")
        rounds = in_turns(sides, case, rounds_of(case, options), ours)
        for cases, program in ((old, other), (new, ours)):
            cases[case] = figures.gather(rounds.get(program, []))
    rows = tables.compare(old, new)
    print(tables.text(rows, options.ref, "here"))
    print(tables.summary(rows))
    return 1 if any(row["verdict"] == noise.WORSE for row in rows) else 0


def in_turns(programs, case, rounds, ours):
    """A B, B A, A B, ...: other load on the machine affects both. A case that fails with the other program does not end the
    comparison: its figures then exist only for this one."""
    print(f"bench: {case}, {rounds} rounds in turns", file=sys.stderr, flush=True)
    found = {program: [] for program in programs}
    for number in range(rounds):
        for program in [*(programs if number % 2 == 0 else reversed(programs))]:
            try:
                found[program].append(program.round(case))
            except Failed as failed:
                if program is ours:
                    raise
                print(f"bench: {failed}", file=sys.stderr)
                found[program], programs = [], [ours] if ours in programs else []
    return found


def rounds_of(case, options):
    return 1 if case in ONCE and case not in options.cases else options.rounds


def write_page(options):
    record = records.newest(options.records)
    if record is None:
        raise SystemExit(f"bench: {options.records} has no records")
    text = options.page.read_text()
    written = page.with_record(text, record)
    if getattr(options, "check", False):
        if written != text:
            print(f"bench: {options.page} does not match the newest record: run `python3 tools/bench page`", file=sys.stderr)
            return 1
        return 0
    options.page.write_text(written)
    return 0


def parsed(arguments):
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--records", type=Path, default=ROOT / "docs" / "benchmarks")
    common.add_argument("--page", type=Path, default=ROOT / "docs" / "BENCHMARKS.md")
    common.add_argument("--rounds", type=int, default=noise.FEWEST_ROUNDS)
    common.add_argument("--scratch", type=Path, default=Path("/var/tmp"))
    common.add_argument("--history", type=int, default=3_000_000, help="finished tasks of the case `history`")
    parser = argparse.ArgumentParser(prog="bench", description="Benchmarks of speed and size, with stored records.")
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("run", parents=[common])
    command.add_argument("program", type=Path)
    command.add_argument("cases", nargs="*")
    command.set_defaults(act=run)
    command = commands.add_parser("against", parents=[common])
    command.add_argument("program", type=Path)
    command.add_argument("ref")
    command.add_argument("cases", nargs="*")
    command.add_argument("--other", type=Path, help="the other commit's program, built already")
    command.set_defaults(act=against)
    command = commands.add_parser("page", parents=[common])
    command.add_argument("--check", action="store_true")
    command.set_defaults(act=write_page)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    options = parsed(sys.argv[1:])
    try:
        sys.exit(options.act(options))
    except Failed as failed:
        sys.exit(f"bench: {failed}")
