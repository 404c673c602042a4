"""Instructions for trying Cubeloom on this Slurm by hand: the commands for a server with this cluster."""

import json
import shutil
from pathlib import Path

from . import written

NAME = "hall"
# The user whose jobs run as the project's member.
PERSON = "ada"


def prepare(state: Path, told: dict[str, str], program: Path) -> str:
    """Writes the server's configuration, puts the program where the nodes find it, and prints the commands.
    """
    folder = state / "by-hand"
    folder.mkdir()
    workspace = Path(told["CUBELOOM_TEST_SLURM_WORKSPACE"])
    shared = shutil.copy(program, workspace.with_name("cubeloom"))
    (folder / "hall.json").write_text(json.dumps(cluster(workspace, Path(shared), told["CUBELOOM_TEST_SLURM_MEMBER"])))
    example = Path("examples/hello/pipeline.yaml").read_text()
    (folder / "hello.json").write_text(json.dumps({"document": f"{example.rstrip()}\ncluster: {NAME}\n"}))
    words = ("setpriv", "--reuid", "{account}", "--regid", "{account}", "--init-groups", "--")
    calls = f"{{become = [{', '.join(json.dumps(word) for word in words)}], conf = \"{told['SLURM_CONF']}\"}}"
    return f"""
In another terminal, as root, start a server with this Slurm as the cluster `{NAME}`:

  export CUBELOOM_DATA={folder}/data CUBELOOM_SLURM_{NAME.upper()}='{calls}'
  {program} user add {PERSON} --admin
  {program} serve

In a third terminal, as {PERSON}, add the cluster and run a pipeline there:

  export CUBELOOM_DATA={folder}/data
  token=$({program} token create --user {PERSON} --scope admin)
  post() {{
    curl --silent --show-error --fail-with-body --write-out '\\n' -H "authorization: Bearer $token" \\
      --json @{folder}/$1 http://127.0.0.1:8080/api/v1/$2
  }}
  post hall.json clusters
  post hello.json projects/default/runs
  {program} runs show latest

Stop the server first. Ctrl-C here then stops this Slurm and deletes its files.
"""


def cluster(workspace: Path, program: Path, member: str) -> dict[str, object]:
    """The cluster, as an administrator describes it."""
    facts = {
        "account": written.PROJECT,
        "qos": written.QOS,
        "partition": "all",
        "node_groups": {"cards": {"partition": "cards"}},
        "cards": {"types": ["a100", "h100"]},
        "workspace": str(workspace),
        "templates": f"{workspace}/.templates",
        "program": str(program),
        "env": {"PATH": "/usr/bin:/bin"},
    }
    return {"name": NAME, "access": "slurm", "slurm": {"facts": facts, "way": {"accounts": {PERSON: member}}}}
