"""Writes the tables of docs/BENCHMARKS.md from the newest record, between two markers."""

import tables

BEGIN, END = "<!-- make bench: begin -->", "<!-- make bench: end -->"


def with_record(text, record):
    """The page with this record between its markers."""
    before, found, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not found or not end:
        raise SystemExit(f"bench: docs/BENCHMARKS.md has no `{BEGIN}` and `{END}`")
    return f"{before}{BEGIN}\n\n{section(record)}\n\n{END}{after}"


def section(record):
    return f"{about(record['machine'])}\n\n{tables.of_record(record)}"


def about(machine):
    dirty = " with uncommitted changes" if machine["dirty"] else ""
    disk = machine.get("fdatasync_ms")
    lines = [
        f"Measured on {machine['date'][:10]} at commit `{machine['commit'][:8]}`{dirty}, release build.",
        f"The machine: {machine['cores']} cores of {machine['model']}, {machine['memory_kib'] / 1024 / 1024:.1f} GiB of memory,",
        f"Linux {machine['kernel']}; `fdatasync` of 4 KiB takes {disk:g} ms (median)." if disk else f"Linux {machine['kernel']}.",
    ]
    if machine.get("note"):
        lines.append(machine["note"])
    return "\n".join(lines)
