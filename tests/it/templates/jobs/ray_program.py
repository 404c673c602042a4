"""Exits with its own code, calls Ray without its token, or runs until it is disturbed."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

import ledger
import ray



def call_without_token():
    url = f"http://{os.environ['CUBELOOM_HOST']}:8265/api/jobs/"
    for token in ("", "guessed" * 8):
        headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {token}"} if token else {})
        request = urllib.request.Request(url, json.dumps({"entrypoint": "true"}).encode(), headers)
        try:
            urllib.request.urlopen(request, timeout=60)
        except urllib.error.HTTPError as error:
            assert error.code in (401, 403), error
        else:
            sys.exit(f"Ray took a job of one with the token {token!r}")
    ask = f"import ray; ray.init(address={ray.get_runtime_context().gcs_address!r}); print(ray.nodes())"
    for mode in ("token", "disabled"):
        env = os.environ | {"RAY_AUTH_MODE": mode, "RAY_AUTH_TOKEN": "guessed" * 8}
        asked = subprocess.run([sys.executable, "-c", ask], env=env, check=False)
        assert asked.returncode != 0, f"Ray let one in, in the mode {mode}"


ray.init()
assert sum(node["Alive"] for node in ray.nodes()) == 3
if sys.argv[1] == "fail":
    sys.exit(7)
if sys.argv[1] == "call":
    call_without_token()
    sys.exit(0)
ledger.write("busy", "")
time.sleep(600)
