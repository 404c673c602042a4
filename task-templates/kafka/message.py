"""A message as this template sees it, and as programs get it."""

import base64
import json

#: Headers that say where a message comes from, and what was wrong with it.
SOURCE, ERROR, TRIES = "x-cubeloom-id", "x-cubeloom-error", "x-cubeloom-tries"
TOPIC, PARTITION, OFFSET = "x-cubeloom-topic", "x-cubeloom-partition", "x-cubeloom-offset"
#: How much of a reason goes into a message's header.
SAID = 500


class Message:
    def __init__(self, record):
        self.topic, self.partition, self.offset = record.topic(), record.partition(), record.offset()
        self.place = (self.topic, self.partition)
        #: None is a tombstone: what has this key is deleted.
        self.value, self.key, self.headers = record.value(), record.key(), record.headers() or []
        self.body = self.value or b""
        kind, at = record.timestamp()
        self.timestamp = at if kind else None
        #: The same for each time that it is read, and no other message's.
        self.id = self.digest = f"{self.topic}/{self.partition}/{self.offset}"
        self.redelivered = False

    @property
    def name(self):
        """What it is called in a log."""
        return f"message {self.id}"

    def facts(self, tries):
        """What is known of it beside its body; nothing where the sender said nothing."""
        key, key_base64 = text_of(self.key)
        return {
            "id": self.id,
            "topic": self.topic,
            "partition": self.partition,
            "offset": self.offset,
            "key": key,
            "key_base64": key_base64,
            "timestamp": self.timestamp,
            "headers": {name: (value or b"").decode(errors="replace") for name, value in self.headers},
            "tombstone": self.value is None,
            "redelivered": self.redelivered,
            "attempt": tries,
        }

    def variables(self, tries):
        """The same as environment variables, `MESSAGE_TOPIC` and so on."""
        facts = self.facts(tries)
        facts["headers"] = json.dumps(facts["headers"], ensure_ascii=False)
        facts |= {name: int(facts[name]) for name in ("tombstone", "redelivered")}
        texts = {f"MESSAGE_{name.upper()}": str(value) for name, value in facts.items() if value is not None}
        return {name: text.replace("\0", "") for name, text in texts.items()}

    def line(self, tries):
        """The same and the body as a JSON object."""
        facts = {name: value for name, value in self.facts(tries).items() if value is not None}
        return json.dumps({**readable(self.body), **facts}, ensure_ascii=False)

    def headers_with(self, error, tries):
        """Its headers, and why it was rejected."""
        said = {TOPIC: self.topic, PARTITION: self.partition, OFFSET: self.offset, ERROR: error[:SAID], TRIES: tries}
        return [*self.headers, *((name, str(value).encode()) for name, value in said.items())]


def text_of(value):
    """A text, or what is none in base64."""
    if value is None:
        return None, None
    try:
        return value.decode(), None
    except UnicodeDecodeError:
        return None, base64.b64encode(value).decode()


def readable(body):
    text, base64_text = text_of(body)
    return {"body": text} if text is not None else {"body_base64": base64_text}
