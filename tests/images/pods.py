"""The compiler's output for Kubernetes, as pods that this machine can start, as a kubelet would.

A task's jobs are those of a cluster without operators: the command, the variables and the folders of every
worker.
"""

import itertools
import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FACTS = """
kubernetes: {service_account: cubeloom-worker, workspace_claim: workspace}
"""
#: Placeholder for an output of an earlier task.
WAITS = re.compile(r"<output (\w+) of ([\w-]+)>")
INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"


@dataclass
class Pod:
    """One worker."""

    name: str
    role: str
    image: str
    commands: list[list[str]]  # its setup, if any, then its program
    variables: dict[str, str]
    mounts: list[dict[str, Any]]
    address: str
    hosts: list[str] = field(default_factory=list)  # its names


@dataclass
class Task:
    """One task of a pipeline, with its only job."""

    name: str
    pods: list[Pod]


def compile_file(program: Path, templates: Path, file: Path, facts: Path) -> list[dict[str, Any]]:
    """The tasks, in an executable order."""
    facts.write_text(FACTS)
    words = [program, "compile", file, "--for", "kubernetes", "--facts", facts, "--templates", templates, "--output", "json"]
    return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)["tasks"]


def task(told: dict[str, Any], outputs: dict[str, dict[str, Any]]) -> Task | str:
    """The task. Raises an error if it cannot run without an engine."""
    if not isinstance(told["jobs"], list) or len(told["jobs"]) != 1:
        return "it has no job before others have ended"
    text = json.dumps(told["jobs"][0]["objects"])
    for name, of in set(WAITS.findall(text)):
        value = outputs.get(of, {}).get(name)
        if not isinstance(value, (str, int, float)):
            return f"it waits for the output {name} of {of}"
        text = text.replace(f"<output {name} of {of}>", json.dumps(str(value))[1:-1])
    if "<output" in text:
        return "it waits for what an earlier task reports"
    numbers = itertools.count(2)
    jobs = [one for one in json.loads(text) if one["kind"] in ("Job", "Pod")]
    indexes = ((job, index) for job in jobs for index in range(job["spec"].get("completions", 1)))
    pods = [_pod(job, index, f"10.99.0.{next(numbers)}") for job, index in indexes]
    return Task(told["task"], pods)


def _pod(job: dict[str, Any], index: int, address: str) -> Pod:
    pod, name = job["spec"].get("template", job), f"{job['metadata']['name']}-{index}"
    spec = pod["spec"]
    container = spec["containers"][0]
    fields = {"status.podIP": address, INDEX: str(index)}
    variables: dict[str, str] = {}
    for one in container["env"]:
        variables[one["name"]] = _value(one, fields, variables)
    # Set by the Job controller.
    variables.setdefault("JOB_COMPLETION_INDEX", str(index))
    hosts = [name]
    if "subdomain" in spec:
        space = job["metadata"]["namespace"]
        behind = f"{name}.{spec['subdomain']}"
        hosts = [f"{behind}.{space}.svc.cluster.local", f"{behind}.{space}.svc", f"{behind}.{space}", behind, name]
    containers = [*spec.get("initContainers", []), container]
    return Pod(
        name=name,
        role=job["spec"]["template"]["metadata"]["labels"]["cubeloom/role"],
        image=container["image"],
        commands=[[_expanded(word, variables) for word in one["command"]] for one in containers],
        variables=variables,
        mounts=[{**one, "subPath": _sub_path(one, variables)} for one in container["volumeMounts"]],
        address=address,
        hosts=hosts,
    )


def _value(one: dict[str, Any], fields: dict[str, str], before: dict[str, str]) -> str:
    source = one.get("valueFrom", {})
    if "fieldRef" in source:
        return fields[source["fieldRef"]["fieldPath"]]
    if "secretKeyRef" in source:
        return "a-secret-of-the-tests"
    return _expanded(one.get("value", ""), before)


def _sub_path(mount: dict[str, Any], variables: dict[str, str]) -> str:
    return _expanded(mount.get("subPathExpr", mount.get("subPath", "")), variables)


def _expanded(text: str, variables: dict[str, str]) -> str:
    """Replaces `$(NAME)` like the kubelet: unknown names stay unchanged."""
    return re.sub(r"\$\((\w+)\)", lambda found: variables.get(found[1], found[0]), text)
