"""Webhooks of operators with a certificate for their Service's name: the Service points to this machine."""

from .api import Api, Object


def serve(api: Api, hooks: list[Object], namespace: str, service: str, port: int) -> None:
    """Installs webhook configurations whose server listens at a port of 127.0.0.1."""
    api.apply(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": service, "namespace": namespace},
            "spec": {"type": "ExternalName", "externalName": "localhost"},
        }
    )
    for hook in hooks:
        for each in hook["webhooks"]:
            each["clientConfig"]["service"] |= {"name": service, "namespace": namespace, "port": port}
        api.apply(hook)
