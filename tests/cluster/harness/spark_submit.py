"""A stand-in for spark-submit without Java: it only creates the driver's pod from the same properties.

The driver of a simulated node runs no program, so it creates no executors. Omitted: the driver's Service and
properties file, dependencies, volumes, secrets.
"""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

from .api import Api, Object

PREFIX = "spark.kubernetes"
CONTAINER = "spark-kubernetes-driver"
OVERHEAD = 384  # MiB at least, as Spark adds to the JVM's memory
UNITS = {"k": 1 / 1024, "m": 1, "g": 1024, "t": 1024 * 1024}


def read(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """Parses the properties, and the program with its arguments."""
    properties = {}
    rest = iter(words)
    for word in rest:
        if not word.startswith("--"):
            return properties, [word, *rest]
        value = next(rest)
        if word == "--conf":
            name, _, value = value.partition("=")
            properties[name] = value
        else:
            properties[word] = value
    return properties, []


def below(properties: dict[str, str], prefix: str) -> dict[str, str]:
    """The properties with a prefix, by the rest of their names."""
    return {name.removeprefix(prefix): text for name, text in properties.items() if name.startswith(prefix)}


def driver(properties: dict[str, str], program: list[str]) -> Object:
    """The driver's pod."""
    file = properties.get(f"{PREFIX}.driver.podTemplateFile")
    pod: Object = yaml.safe_load(Path(file).read_text()) if file else {}
    meta, spec = pod.setdefault("metadata", {}), pod.setdefault("spec", {})
    meta |= {"name": properties[f"{PREFIX}.driver.pod.name"], "namespace": properties[f"{PREFIX}.namespace"]}
    meta["labels"] = (
        (meta.get("labels") or {}) | below(properties, f"{PREFIX}.driver.label.") | {"spark-role": "driver"}
    )
    meta["annotations"] = (meta.get("annotations") or {}) | below(properties, f"{PREFIX}.driver.annotation.")
    spec |= {"restartPolicy": "Never"} | dict(placement(properties))
    containers = spec.setdefault("containers", [])
    if not containers:
        containers.append({})
    containers[0] |= container(properties, program)
    containers[0]["env"] = [*(containers[0].get("env") or []), *environment(properties)]
    return {"apiVersion": "v1", "kind": "Pod", **{name: pod[name] for name in ("metadata", "spec")}}


def placement(properties: dict[str, str]) -> Iterator[tuple[str, object]]:
    """Sets the pod's scheduler, node selection and account."""
    for role in (PREFIX, f"{PREFIX}.driver"):
        if scheduler := properties.get(f"{role}.scheduler.name"):
            yield "schedulerName", scheduler
    if selector := below(properties, f"{PREFIX}.node.selector."):
        yield "nodeSelector", selector
    if account := properties.get(f"{PREFIX}.authenticate.driver.serviceAccountName"):
        yield "serviceAccountName", account


def container(properties: dict[str, str], program: list[str]) -> Object:
    cores = properties.get("spark.driver.cores", "1")
    memory = mebibytes(properties.get("spark.driver.memory", "1g"))
    factor = float(properties.get(f"{PREFIX}.memoryOverheadFactor", "0.1"))
    overhead = properties.get("spark.driver.memoryOverhead")
    memory += mebibytes(overhead) if overhead else max(OVERHEAD, int(memory * factor))
    amounts = {"memory": f"{memory}Mi"}
    limit = properties.get(f"{PREFIX}.driver.limit.cores")
    return {
        "name": CONTAINER,
        "image": properties.get(f"{PREFIX}.driver.container.image") or properties[f"{PREFIX}.container.image"],
        "args": ["driver", *program],
        "resources": {
            "requests": {**amounts, "cpu": properties.get(f"{PREFIX}.driver.request.cores", cores)},
            "limits": {**amounts, **({"cpu": limit} if limit else {})},
        },
    }


def environment(properties: dict[str, str]) -> list[Object]:
    return [{"name": name, "value": text} for name, text in below(properties, f"{PREFIX}.driverEnv.").items()]


def mebibytes(text: str) -> int:
    """An amount of memory in Java's notation: `512m`, `1g`."""
    number, unit = re.fullmatch(r"(\d+)([kmgt]?)b?", text.lower()).groups()
    return int(int(number) * UNITS[unit or "m"])


def main() -> None:
    api = Api.of(Path(os.environ["KUBECONFIG"]))
    pod = driver(*read(sys.argv[1:]))
    api.request("POST", f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods", pod)


if __name__ == "__main__":
    main()
