# Attacks of a worker in a pod, inserted before the last line of `worker.py`. FACTS has `api`, the API
# server's address for pods, `namespace`, and `secret`, the name of a Secret of bob's there.
import ssl

TOKEN = Path("/var/run/secrets/kubernetes.io/serviceaccount")
WORKSPACE = Path(os.environ["CUBELOOM_WORKSPACE"])

reading("the token of a service account", TOKEN / "token", TOKEN / "ca.crt", "/run/secrets/kubernetes.io/serviceaccount/token")
reading("the notes of bob by a way back", WORKSPACE / "../bob/notes", "/cubeloom/bob/notes", "/workspace/bob/notes")
reading("the notes of bob by the pause's root", "/proc/1/root/etc/shadow", "/proc/1/root/cubeloom/workspace/notes")
reading("secrets of bob's pod", "/cubeloom/secrets/key")
listing("what else is in the claim", WORKSPACE / "../bob", "/cubeloom/workspaces")
listing("the node's own files", "/host", "/rootfs", "/var/lib/kubelet/pods", "/run/containerd", "/etc/kubernetes")
writing("the image", "/new", "/usr/bin/new", "/opt/new", "/cubeloom/new", "/etc/hostname")
writing("devices and the kernel", "/dev/new", "/sys/kernel/new", "/sys/fs/cgroup/new", "/proc/sys/vm/overcommit_memory")


def status(name):
    return next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(f"{name}:"))


def holds(what, name, expected, why):
    @attack(what)
    def _():
        if status(name) != expected:
            raise Broke(f"{name} is {status(name)}")
        return why


holds("have any capability within reach", "CapBnd", "0" * 16, "none is left in the bounding set")
holds("call the kernel without a filter", "Seccomp", "2", "a filter is in place")


@attack("be root")
def _():
    if 0 in (os.getuid(), os.geteuid(), os.getgid(), *os.getgroups()):
        raise Broke(f"{os.getuid()} {os.getgid()} {os.getgroups()}")
    return f"it is {os.getuid()}"


@attack("find what says who it is to the cluster among the variables")
def _():
    named = [name for name in os.environ if "TOKEN" in name or "KUBECONFIG" in name or name.startswith("AWS_")]
    if set(named) - {"CUBELOOM_JOB_TOKEN"}:
        raise Broke(str(named))
    return "there is none"


for at, to in (("to-bob", "../bob"), ("to-claim", ".."), ("to-node", "/var/lib")):
    @attack(f"reach what a link leads to: {to}")
    def _(at=at, to=to):
        link = WORKSPACE / at
        if not link.is_symlink():
            link.symlink_to(to)
        found = [name for name in os.listdir(link) if name in ("bob", "notes", "kubelet", "containerd")]
        if found:
            raise Broke(str(found))
        return "it leads into the pod's own view"


def asking_cluster(method, path, body=None, token=None):
    def ask():
        request = urllib.request.Request(f"https://{FACTS['api']}{path}", method=method, data=body and body.encode())
        request.add_header("content-type", "application/json")
        if token:
            request.add_header("authorization", f"Bearer {token}")
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        try:
            with urllib.request.urlopen(request, timeout=30, context=context) as answer:
                raise Broke(f"{answer.status}: {answer.read(200)!r}")
        except urllib.error.HTTPError as error:
            if error.code not in (401, 403):
                raise Broke(f"HTTP {error.code}") from error
            return f"HTTP {error.code}"

    return ask


HERE = f"/api/v1/namespaces/{FACTS['namespace']}"
POD = json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "alice"}, "spec": {"containers": [{"name": "a", "image": "a"}]}})
for method, path, body in (
    ("GET", f"{HERE}/secrets/{FACTS['secret']}", None),
    ("GET", f"{HERE}/secrets", None),
    ("GET", f"{HERE}/pods", None),
    ("GET", f"{HERE}/configmaps", None),
    ("GET", "/api/v1/nodes", None),
    ("GET", "/api/v1/namespaces", None),
    ("POST", f"{HERE}/pods", POD),
    ("POST", f"{HERE}/serviceaccounts/cubeloom-worker/token", json.dumps({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})),
    ("DELETE", f"{HERE}/pods", None),
    ("GET", f"{HERE}/pods/{FACTS['pod']}/log", None),
    ("POST", f"{HERE}/pods/{FACTS['pod']}/exec?command=id", None),
):
    attack(f"ask the API server as nobody: {method} {path}")(asking_cluster(method, path, body))
attack("ask the API server with a made-up token")(asking_cluster("GET", f"{HERE}/secrets", token="alice"))
attack("ask the API server with the job's token")(
    asking_cluster("GET", f"{HERE}/secrets", token=os.environ.get("CUBELOOM_JOB_TOKEN", "none"))
)


@attack("reach the API server by its Service, without any credentials")
def _():
    host = os.environ.get("KUBERNETES_SERVICE_HOST")
    if host is None:
        return "the pod is not told where it is"
    with socket.create_connection((host, int(os.environ["KUBERNETES_SERVICE_PORT"])), timeout=2):
        return "it answers, and knows nobody without a token"
