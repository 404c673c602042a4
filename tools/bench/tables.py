"""Tables of one record, as Markdown, and of two records, for the terminal."""

from statistics import median

import figures
import noise


def of_record(record):
    """The rows of docs/BENCHMARKS.md."""
    lines = ["| case | figure | median | min - max | goal | met |", "|---|---|---:|---:|---|---|"]
    for case, listed in record["cases"].items():
        for found in listed:
            lines.append(row_of_record(case, found))
    return "\n".join(lines)


def row_of_record(case, found):
    values, goal = found["values"], found["goal"]
    least_most = f"{figures.short(min(values))} - {figures.short(max(values))}" if len(values) > 1 else ""
    middle = f"{figures.short(median(values))} {found['unit']}".strip()
    cells = [case, found["name"], middle, least_most, figures.goal_text(goal), figures.met_text(goal, values)]
    return "| " + " | ".join(cells) + " |"


def compare(before, now, is_same_machine=True):
    """Rows of two records' cases: case, figure, before, now, ratio, goal, met, verdict. All rows are included."""
    rows = []
    for case in [*now, *(case for case in before if case not in now)]:
        old = {found["name"]: found for found in before.get(case, [])}
        new = {found["name"]: found for found in now.get(case, [])}
        for name in [*new, *(name for name in old if name not in new)]:
            rows.append(row(case, old.get(name), new.get(name), is_same_machine))
    return rows


def row(case, old, new, is_same_machine):
    found = new or old
    was, is_now = (median(side["values"]) if side else None for side in (old, new))
    return {
        "case": case,
        "figure": f"{found['name']} ({found['unit']})" if found["unit"] else found["name"],
        "before": "" if old is None else figures.short(was),
        "now": "" if new is None else figures.short(is_now),
        "ratio": f"{is_now / was:.2f}" if old and new and was else "",
        "goal": figures.goal_text(found["goal"]),
        "met": figures.met_text(new["goal"], new["values"]) if new else "",
        "verdict": judge(old, new, is_same_machine),
    }


def judge(old, new, is_same_machine):
    if old is None:
        return "only now"
    if new is None:
        return "only before"
    if old["unit"] != new["unit"]:
        return "other unit"
    if not is_same_machine and not new.get("exact"):
        return noise.NOT_JUDGED if new.get("better") else noise.SAME
    return noise.verdict(new, old["values"], new["values"])


def text(rows, before, now):
    """The rows as aligned columns, under the names of both sides."""
    head = {"case": "case", "figure": "figure", "before": before, "now": now, "ratio": "ratio", "goal": "goal"}
    head |= {"met": "met", "verdict": ""}
    lines = [head, *rows]
    widths = {key: max(len(line[key]) for line in lines) for key in head}
    right = ("before", "now", "ratio")
    cell = lambda line, key: line[key].rjust(widths[key]) if key in right else line[key].ljust(widths[key])
    return "\n".join("  ".join(cell(line, key) for key in head).rstrip() for line in lines)


def summary(rows):
    """The last lines: how many figures are worse, better, or miss their goals."""
    names = lambda key, value: [f"{row['case']}: {row['figure']}" for row in rows if row[key] == value]
    parts = [("worse beyond noise", names("verdict", noise.WORSE)), ("goal missed", names("met", "no"))]
    parts.insert(1, ("better beyond noise", names("verdict", noise.BETTER)))
    return "\n".join(f"{what}: {'; '.join(found) or 'nothing'}" for what, found in parts)
