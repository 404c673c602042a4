"""The API server's REST interface as needed by the tests: server-side apply, reading, deleting."""

import base64
import json
import ssl
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import yaml

Object = dict[str, Any]


class Refused(Exception):
    """A rejection by the API server or one of its webhooks. `code` is the HTTP status."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


class Api:
    """A client with the rights of its kubeconfig."""

    def __init__(self, url: str, authority: str, token: str) -> None:
        self.url = url
        self._authority = authority
        self._token = token
        self._tls = ssl.create_default_context(cadata=authority)
        self._resources: dict[str, dict[str, Object]] = {}

    @classmethod
    def of(cls, kubeconfig: Path) -> "Api":
        """The client that a kubeconfig of this harness describes."""
        text = yaml.safe_load(kubeconfig.read_text())
        server = text["clusters"][0]["cluster"]
        authority = base64.b64decode(server["certificate-authority-data"]).decode()
        return cls(server["server"], authority, text["users"][0]["user"]["token"])

    def with_token(self, token: str) -> "Api":
        """The same API server with another account's token."""
        return Api(self.url, self._authority, token)

    def kubeconfig(self) -> str:
        """A self-contained kubeconfig for this client's account."""
        # Embedded, because its user may not have access to other files.
        data = base64.b64encode(self._authority.encode()).decode()
        name = "cubeloom-test"
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": {"server": self.url, "certificate-authority-data": data}}],
            "users": [{"name": name, "user": {"token": self._token}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
        }
        return json.dumps(config, indent=2) + "\n"

    def request(self, method: str, path: str, body: Object | None = None, kind: str = "application/json") -> Any:
        """Sends one request. Returns the parsed JSON, or the text if it is not JSON."""
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": kind}
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(asked, context=self._tls, timeout=60) as answer:
                text = answer.read().decode()
        except urllib.error.HTTPError as error:
            raise Refused(error.code, message_of(error.read().decode(errors="replace"))) from None
        return json.loads(text) if text.startswith(("{", "[")) else text

    def ready(self) -> bool:
        """Whether the API server serves."""
        try:
            return self.request("GET", "/readyz") == "ok"
        except (OSError, Refused):
            return False

    def serves(self, version: str, kind: str) -> bool:
        """Whether a kind exists; `version` is the path of its group's version."""
        try:
            return any(each["kind"] == kind for each in self.request("GET", version)["resources"])
        except Refused as refused:
            if refused.code == 404:
                return False
            raise

    def apply(self, thing: Object, dry_run: bool = False) -> Object:
        """Server-side apply. An unknown field is an error."""
        query = {"fieldManager": "cubeloom-tests", "force": "true", "fieldValidation": "Strict"}
        if dry_run:
            query["dryRun"] = "All"
        path = f"{self.path(thing)}?{urllib.parse.urlencode(query)}"
        return self.request("PATCH", path, thing, "application/apply-patch+yaml")

    def get(self, thing: Object) -> Object | None:
        """The current object."""
        try:
            return self.request("GET", self.path(thing))
        except Refused as refused:
            if refused.code == 404:
                return None
            raise

    def delete(self, thing: Object) -> None:
        """Deletes an object and what it owns."""
        self.request("DELETE", f"{self.path(thing)}?propagationPolicy=Background")

    def path(self, thing: Object) -> str:
        """The path of an object, from its `apiVersion`, `kind` and name."""
        version, meta = thing["apiVersion"], thing["metadata"]
        base = f"/apis/{version}" if "/" in version else f"/api/{version}"
        resource = self._resource(base, thing["kind"])
        if resource["namespaced"]:
            base += f"/namespaces/{meta.get('namespace', 'default')}"
        return f"{base}/{resource['name']}/{meta['name']}"

    def _resource(self, base: str, kind: str) -> Object:
        if kind not in self._resources.get(base, {}):
            found = self.request("GET", base)["resources"]
            self._resources[base] = {each["kind"]: each for each in found if "/" not in each["name"]}
        if kind not in self._resources[base]:
            raise Refused(404, f"{base} has no {kind}")
        return self._resources[base][kind]


def message_of(text: str) -> str:
    """The message of a rejection."""
    try:
        return json.loads(text)["message"]
    except (ValueError, KeyError):
        return text.strip()


def documents(file: Path) -> list[Object]:
    """The manifests of a YAML file."""
    return [each for each in yaml.load_all(file.read_text(), yaml.CSafeLoader) if each]
