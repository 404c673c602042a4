"""etcd, the API server, the controllers and the scheduler of Kubernetes."""

import json
import secrets
import urllib.request
from pathlib import Path

import yaml

from .api import Api
from .keys import pair, self_signed
from .parts import Parts, ports

# By default, a controller's client sends at most 20 requests a second, which would delay thousands of Jobs.
QPS = 500

PROFILE = Path(__file__).resolve().parents[3] / "deploy" / "scheduler" / "kube-scheduler.yaml"


def start(parts: Parts, programs: Path) -> Api:
    """Starts Kubernetes itself and writes the kubeconfig."""
    binaries = programs / "bin"
    etcd = _etcd(parts, binaries)
    api = _api_server(parts, binaries, etcd)
    _controllers(parts, binaries)
    return api


def _etcd(parts: Parts, binaries: Path) -> str:
    client, peer = ports.reserve(2)
    url, peers = f"http://127.0.0.1:{client}", f"http://127.0.0.1:{peer}"
    # The program's name is that of its module's last folder.
    command = [str(binaries / "server"), "--data-dir", str(parts.state / "etcd"), "--unsafe-no-fsync"]
    command += [f"--listen-client-urls={url}", f"--advertise-client-urls={url}", f"--listen-peer-urls={peers}"]
    command += [f"--initial-advertise-peer-urls={peers}", f"--initial-cluster=default={peers}"]
    part = parts.start("etcd", command)
    parts.wait(part, "its health", lambda: _healthy(url))
    return url


def _healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=2) as answer:
            return json.load(answer)["health"] == "true"
    except OSError:
        return False


def _api_server(parts: Parts, binaries: Path, etcd: str) -> Api:
    folder = parts.state / "pki"
    folder.mkdir()
    pair(folder, "sa")
    client = self_signed(folder, "kubelet-client")
    token = secrets.token_hex(16)
    (folder / "tokens.csv").write_text(f'{token},admin,1,"system:masters"\n')
    (port,) = ports.reserve(1)
    command = [str(binaries / "kube-apiserver"), f"--etcd-servers={etcd}", f"--secure-port={port}"]
    command += ["--bind-address=127.0.0.1", "--endpoint-reconciler-type=none", f"--cert-dir={folder}"]
    command += ["--service-cluster-ip-range=10.96.0.0/16", "--allow-privileged=true", "--authorization-mode=RBAC"]
    command += [f"--token-auth-file={folder}/tokens.csv", "--service-account-issuer=https://kubernetes.default.svc"]
    command += [f"--service-account-key-file={folder}/sa.pub", f"--service-account-signing-key-file={folder}/sa.key"]
    # For logs, it reaches the kubelet of a real node. The tests' pods are scheduled there by an annotation of
    # their namespace.
    command += [f"--kubelet-client-certificate={client}", f"--kubelet-client-key={folder}/kubelet-client.key"]
    command += ["--kubelet-preferred-address-types=InternalIP"]
    command += ["--enable-admission-plugins=PodNodeSelector,PodTolerationRestriction"]
    part = parts.start("kube-apiserver", command)
    authority, url = folder / "apiserver.crt", f"https://127.0.0.1:{port}"
    # It signs its own certificate, which exists some time before it listens.
    parts.wait(part, "its certificate", lambda: authority.exists() and "END CERT" in authority.read_text())
    api = Api(url, authority.read_text(), token)
    parts.wait(part, "readiness", api.ready)
    kubeconfig = parts.state / "kubeconfig"
    kubeconfig.write_text(api.kubeconfig())
    kubeconfig.chmod(0o600)
    return api


def _controllers(parts: Parts, binaries: Path) -> None:
    kubeconfig, folder = f"--kubeconfig={parts.state}/kubeconfig", parts.state / "pki"
    manager_port, scheduler_port = ports.reserve(2)
    manager = [str(binaries / "kube-controller-manager"), kubeconfig, "--leader-elect=false"]
    manager += ["--bind-address=127.0.0.1", f"--secure-port={manager_port}", f"--cert-dir={folder}"]
    manager += [f"--service-account-private-key-file={folder}/sa.key", f"--root-ca-file={folder}/apiserver.crt"]
    manager += [f"--flex-volume-plugin-dir={parts.state}/volume-plugins"]  # else a folder in /usr/libexec
    manager += [f"--kube-api-qps={QPS}", f"--kube-api-burst={2 * QPS}", "--concurrent-job-syncs=32"]
    manager += ["--controllers=*,-nodeipam,-cloud-node-lifecycle,-node-route-controller"]
    parts.start("kube-controller-manager", manager)
    scheduler = [str(binaries / "kube-scheduler"), f"--config={_scheduler_profile(parts)}"]
    scheduler += ["--bind-address=127.0.0.1", f"--secure-port={scheduler_port}", f"--cert-dir={folder}"]
    parts.start("kube-scheduler", scheduler)


def _scheduler_profile(parts: Parts) -> Path:
    """The users' scheduler profile with this cluster's address: with a configuration file, flags no longer
    set it."""
    profile = yaml.safe_load(PROFILE.read_text())
    connection = {"kubeconfig": str(parts.state / "kubeconfig"), "qps": QPS, "burst": 2 * QPS}
    profile["clientConnection"] = connection
    profile["leaderElection"] = {"leaderElect": False}
    file = parts.state / "kube-scheduler.json"
    file.write_text(json.dumps(profile))
    return file
