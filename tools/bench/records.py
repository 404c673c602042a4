"""Records: docs/benchmarks/<date>-<commit>.json, one per complete `make bench`."""

import json
from pathlib import Path

FORMAT = 1


def write(folder, machine, cases):
    record = {"format": FORMAT, "machine": machine, "cases": cases}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{machine['date'][:10]}-{machine['commit'][:8]}.json"
    path.write_text(dumps(record))
    return path


def dumps(record):
    """One figure per line, so that a diff of two files is readable."""
    cases = []
    for case, figures in record["cases"].items():
        lines = ",\n".join("      " + json.dumps(figure) for figure in figures)
        cases.append(f"    {json.dumps(case)}: [\n{lines}\n    ]")
    machine = ",\n".join(f"    {json.dumps(key)}: {json.dumps(value)}" for key, value in record["machine"].items())
    joined = ",\n".join(cases)
    return f'{{\n  "format": {record["format"]},\n  "machine": {{\n{machine}\n  }},\n  "cases": {{\n{joined}\n  }}\n}}\n'


def read(path):
    record = json.loads(Path(path).read_text())
    if record.get("format") != FORMAT:
        raise SystemExit(f"bench: {path} has format {record.get('format')}; this tool reads {FORMAT}")
    return record


def newest(folder):
    """The record measured last, or None. The file's name has only the day; the record has the time."""
    found = [read(path) for path in sorted(Path(folder).glob("*.json"))]
    return max(found, key=lambda record: record["machine"]["date"], default=None)


def is_same_machine(one, other):
    keys = ("cores", "model", "memory_kib")
    return all(one["machine"].get(key) == other["machine"].get(key) for key in keys)
