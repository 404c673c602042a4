"""How clients connect to the brokers, and what these refuse, in a sentence that names the argument."""

import contextlib
import os
import sys
import threading
import time
from pathlib import Path

from confluent_kafka import KafkaError, KafkaException

#: What programs do not see.
SECRETS = ("KAFKA_USER", "KAFKA_PASSWORD", "KAFKA_CERTIFICATE", "KAFKA_KEY", "KAFKA_KEY_PASSWORD")
#: How long a single request may take, in seconds.
STEP = 10
CRITICAL = 2

#: The partitions are another worker's by now.
LOST = {KafkaError.UNKNOWN_MEMBER_ID, KafkaError.FENCED_INSTANCE_ID}
REFUSED = {
    KafkaError._AUTHENTICATION,
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError.UNSUPPORTED_SASL_MECHANISM,
    KafkaError.ILLEGAL_SASL_STATE,
}
UNKNOWN = {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION, KafkaError.TOPIC_EXCEPTION}
OF_GROUP = {KafkaError.INVALID_GROUP_ID, KafkaError.INCONSISTENT_GROUP_PROTOCOL, KafkaError.GROUP_MAX_SIZE_REACHED}


class Hopeless(Exception):
    """What does not get better by waiting."""


class Away(Exception):
    """The brokers do not answer."""


def settings(options):
    """What every client of this template is set to."""
    names = (os.environ.get(name, "") for name in ("CUBELOOM_RUN", "CUBELOOM_TASK", "CUBELOOM_INDEX"))
    return {
        "bootstrap.servers": options.bootstrap_servers,
        "client.id": "-".join(["cubeloom", *names]),
        "socket.timeout.ms": STEP * 1000,
        "socket.connection.setup.timeout.ms": STEP * 1000,
        "reconnect.backoff.max.ms": 2000,
        # What is wrong is said once, by this program.
        "log_level": CRITICAL,
        **security(options),
    }


def client(kind, given):
    """A client of the library; what it cannot be set to is often a certificate or a key."""
    try:
        return kind(given)
    except KafkaException as error:
        raise Hopeless(f"the connection to Kafka cannot be set up; check KAFKA_CERTIFICATE and KAFKA_KEY: {error.args[0].str()}") from None


def security(options):
    protocol, found = options.security_protocol, {}
    if protocol.startswith("SASL"):
        user, password = os.environ.get("KAFKA_USER"), os.environ.get("KAFKA_PASSWORD")
        if not user or password is None:
            raise Hopeless(f"`security_protocol`: {protocol} needs KAFKA_USER and KAFKA_PASSWORD: give the task both, the password as a secret")
        found |= {"sasl.mechanism": options.sasl_mechanism, "sasl.username": user, "sasl.password": password}
    if protocol.endswith("SSL"):
        if options.ca:
            path = Path(os.environ.get("CUBELOOM_CODE", os.getcwd()), options.ca)
            if not path.is_file():
                raise Hopeless(f"`ca`: {options.ca!r} is not in the pipeline's folder: {path} does not exist")
            found["ssl.ca.location"] = str(path)
        pairs = {"certificate.pem": "KAFKA_CERTIFICATE", "key.pem": "KAFKA_KEY", "key.password": "KAFKA_KEY_PASSWORD"}
        found |= {f"ssl.{name}": os.environ[variable] for name, variable in pairs.items() if os.environ.get(variable)}
    return found | {"security.protocol": protocol}


def meaning(error, options, field=None):
    """What an error of the library means here. `field` is the argument with the topic that it is about."""
    code, text, servers = error.code(), error.str(), options.bootstrap_servers
    topic = f"`{field}`: the topic {getattr(options, field)}" if field and isinstance(getattr(options, field), str) else "`topics`"
    if code in REFUSED:
        user = os.environ.get("KAFKA_USER", "")
        return Hopeless(f"the brokers at {servers} refused the user {user}: wrong name, password or `sasl_mechanism` ({text})")
    if code == KafkaError._SSL:
        return Hopeless(f"`security_protocol`, `ca`: no TLS with the brokers at {servers}: {text}")
    if code in UNKNOWN:
        return Hopeless(f"{topic} does not exist at {servers}; create it, or change the name ({text})")
    if code == KafkaError.TOPIC_AUTHORIZATION_FAILED:
        return Hopeless(f"{topic}: the user has no permission ({text})")
    if code == KafkaError.GROUP_AUTHORIZATION_FAILED:
        return Hopeless(f"`group`: the user has no permission to read as the group {options.group} ({text})")
    if code in OF_GROUP:
        return Hopeless(f"`group`: the brokers refused the group {options.group}: {text}")
    if code == KafkaError.INVALID_SESSION_TIMEOUT:
        return Hopeless(f"`session_timeout`: the brokers do not allow {options.session_timeout:g} s: {text}")
    if code in (KafkaError.CLUSTER_AUTHORIZATION_FAILED, KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED):
        return Hopeless(f"the brokers at {servers} do not allow it: {text}")
    if error.fatal():
        return Hopeless(f"the client gave up: {text}")
    return Away(text)


class Patience:
    """How long the brokers have been away, and the end of waiting for them."""

    def __init__(self, options, abandon):
        """`abandon` is called before the program ends in the middle of a call of the library."""
        self.options, self.abandon, self.since, self.blocked = options, abandon, None, None
        threading.Thread(target=self.watch, daemon=True).start()

    def worked(self):
        self.since = None

    def failed(self, reason, began=None):
        """`began` is when that was begun which failed now."""
        now = time.monotonic()
        if self.since is None:
            self.since = began or now
            print(f"the brokers do not answer, for {self.options.broker_timeout:g} s at most: {reason}", flush=True)
        if now - self.since >= self.options.broker_timeout:
            raise Hopeless(self.sentence(reason)) from None

    def sentence(self, reason):
        servers, limit = self.options.bootstrap_servers, self.options.broker_timeout
        return f"the brokers at {servers} were unreachable for {limit:g} s; check `bootstrap_servers` and `security_protocol`: {reason}"

    @contextlib.contextmanager
    def blocking(self, what):
        """Around a call that the library may never end, in the thread that serves the group."""
        self.blocked = (time.monotonic(), what)
        try:
            yield
        finally:
            self.blocked = None

    def watch(self):
        while True:
            time.sleep(1)
            since, what = self.blocked or (time.monotonic(), "")
            if time.monotonic() - since > self.options.broker_timeout:
                self.abandon()
                print(self.sentence(f"no answer to {what}"), file=sys.stderr, flush=True)
                os._exit(1)
