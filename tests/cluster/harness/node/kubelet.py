"""The kubelet's configuration, and the node that it registers."""

import json
from pathlib import Path

from ..api import Object
from .place import Place

NODE = "real"
LABEL = "cubeloom-test/node"
#: Only pods meant for the real node are scheduled there.
TOLERATION = {"key": LABEL, "operator": "Equal", "value": NODE, "effect": "NoSchedule"}


def command(program: Path, state: Path, folder: Path, place: Place, port: int) -> list[str]:
    """The kubelet's command line, with its configuration written."""
    file = folder / "kubelet.json"
    file.write_text(json.dumps(configuration(state, folder, place, port), indent=2))
    return [
        str(program),
        f"--config={file}",
        f"--kubeconfig={state}/kubeconfig",
        f"--root-dir={folder}/kubelet",
        f"--cert-dir={folder}/certificates",
        f"--hostname-override={NODE}",
        f"--node-ip={place.gateway}",
        f"--node-labels={LABEL}={NODE}",
    ]


def configuration(state: Path, folder: Path, place: Place, port: int) -> Object:
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": place.gateway,
        "port": port,
        "healthzPort": 0,
        # The API server alone: access to logs includes the right to run commands in containers.
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": False},
            "x509": {"clientCAFile": f"{state}/pki/kubelet-client.crt"},
        },
        "authorization": {"mode": "AlwaysAllow"},
        "registerWithTaints": [{"key": LABEL, "value": NODE, "effect": "NoSchedule"}],
        "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
        "volumePluginDir": f"{folder}/volume-plugins",
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{place.cgroup}",
        "failCgroupV1": False,
        "failSwapOn": False,
        "makeIPTablesUtilChains": False,
        "localStorageCapacityIsolation": False,
        # Only names of the cluster: the machine's own resolver is not used.
        "clusterDNS": [place.gateway],
        "clusterDomain": "cluster.local",
        "resolvConf": "",
        # A nearly full disk of the machine must not evict the tests, or delete images that no registry has.
        "evictionHard": {"memory.available": "100Mi"},
        "imageGCHighThresholdPercent": 100,
        # When a log grows faster than it is read, the part that the kubelet has rotated away is lost.
        "containerLogMaxSize": "1Gi",
    }
