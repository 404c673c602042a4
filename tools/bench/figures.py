"""The rounds of figures, by case and name, and their goals.

A figure is `{"name", "unit", "goal", "better", "values"}`: all its rounds are kept. `goal` is `{"at_most": n}`,
`{"at_least": n}` or None; `better` is "lower", "higher" or None, for figures that are not judged.
"""

import re
from statistics import median


def figure(name, value, unit, at_most=None, better="lower", exact=False):
    """One round of a figure that this tool measures itself."""
    goal = None if at_most is None else {"at_most": at_most}
    measured = {"name": name, "value": value, "unit": unit, "goal": goal, "better": better}
    return {**measured, "exact": True} if exact else measured


def gather(rounds):
    """The figures of several rounds as one list, each with its values."""
    gathered = {}
    for one in rounds:
        for found in one:
            known = gathered.setdefault(found["name"], {**typed(found), "values": []})
            known["values"].append(found["value"])
    for known in gathered.values():
        known.pop("value", None)
    return list(gathered.values())


def typed(found):
    """Programs before 2026-11-28 print goals as text and no direction."""
    goal = found.get("goal")
    if not isinstance(goal, str):
        return dict(found)
    goal = goal_of(goal)
    better = "higher" if goal and "at_least" in goal else "lower" if goal else None
    return {**found, "goal": goal, "better": found.get("better", better)}


def goal_of(text):
    """A goal in the text form: `at most 3`, `at least 5000`, `15`, `about 1`."""
    match = re.fullmatch(r"(at most|at least|about)?\s*([\d.]+)", text.strip())
    if not match:
        return None
    return {"at_least" if match[1] == "at least" else "at_most": float(match[2])}


def is_met(goal, values):
    """Whether the median meets the goal; None without a goal."""
    if not goal:
        return None
    middle = median(values)
    return middle <= goal["at_most"] if "at_most" in goal else middle >= goal["at_least"]


def goal_text(goal):
    if not goal:
        return ""
    return f"at most {plain(goal['at_most'])}" if "at_most" in goal else f"at least {plain(goal['at_least'])}"


def met_text(goal, values):
    return {None: "", True: "yes", False: "no"}[is_met(goal, values)]


def plain(number):
    return f"{number:,.0f}" if number == int(number) else f"{number:g}"


def short(number):
    """Three significant digits; thousands without decimals."""
    size = abs(number)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3
    return f"{number:,.{digits}f}"
