"""A message as this template sees it, and as programs get it."""

import base64
import copy
import datetime
import hashlib
import json


class Message:
    def __init__(self, method, properties, body):
        self.tag, self.exchange, self.routing_key = method.delivery_tag, method.exchange, method.routing_key
        self.redelivered, self.properties, self.body = method.redelivered, properties, body
        self.id, self.correlation_id = properties.message_id, properties.correlation_id
        #: The same for each delivery of a message.
        facts = [self.id, properties.timestamp, properties.correlation_id, self.exchange, self.routing_key]
        self.digest = hashlib.sha256(json.dumps(facts, default=str).encode() + body).hexdigest()[:16]

    @property
    def name(self):
        """What it is called in a log."""
        return f"message {self.id or self.digest}"

    def facts(self, tries):
        """What is known of it beside its body; nothing where the sender said nothing."""
        of_it = self.properties
        return {
            "id": of_it.message_id,
            "content_type": of_it.content_type,
            "content_encoding": of_it.content_encoding,
            "type": of_it.type,
            "correlation_id": of_it.correlation_id,
            "reply_to": of_it.reply_to,
            "app_id": of_it.app_id,
            "timestamp": of_it.timestamp,
            "priority": of_it.priority,
            "exchange": self.exchange,
            "routing_key": self.routing_key,
            "headers": plain(of_it.headers or {}),
            "redelivered": bool(self.redelivered),
            "attempt": tries,
        }

    def variables(self, tries):
        """The same as environment variables, `MESSAGE_ID` and so on."""
        facts = self.facts(tries)
        facts["headers"], facts["redelivered"] = json.dumps(facts["headers"], ensure_ascii=False), int(facts["redelivered"])
        texts = {f"MESSAGE_{name.upper()}": str(value) for name, value in facts.items() if value is not None}
        return {name: text.replace("\0", "") for name, text in texts.items()}

    def line(self, tries):
        """The same and the body as a JSON object."""
        facts = {name: value for name, value in self.facts(tries).items() if value is not None}
        return json.dumps({**readable(self.body), **facts}, ensure_ascii=False)

    def properties_with(self, headers):
        """Its properties with more headers, kept by the broker over a restart."""
        properties = copy.copy(self.properties)
        properties.headers = {**(properties.headers or {}), **headers}
        properties.delivery_mode = 2
        # It would be thrown away from the next queue, too.
        properties.expiration = None
        # Only its sender may name a user, and the broker compares.
        properties.user_id = None
        return properties


def readable(body):
    try:
        return {"body": body.decode()}
    except UnicodeDecodeError:
        return {"body_base64": base64.b64encode(body).decode()}


def plain(value):
    """A table of AMQP as JSON can hold it."""
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)
