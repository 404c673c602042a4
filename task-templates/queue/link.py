"""The connection to the broker, and what its refusals mean in a sentence."""

import contextlib
import logging
import os
import ssl

import pika
from pika import exceptions
from pika.adapters.utils import connection_workflow

#: How long a single step of connecting may take, in seconds, and the silence after which a connection is lost.
STEP, HEARTBEAT = 5, 30
#: What programs do not see.
SECRETS = ("AMQP_USER", "AMQP_PASSWORD")
#: Codes of AMQP 0-9-1 (and of RabbitMQ) that say what a person has to change.
ACCESS_REFUSED, NOT_FOUND, PRECONDITION_FAILED, NOT_ALLOWED = 403, 404, 406, 530

Unroutable, Refused = exceptions.UnroutableError, exceptions.NackError

# It tells each failure by an exception, too.
logging.getLogger("pika").setLevel(logging.CRITICAL)


class Hopeless(Exception):
    """What does not get better by waiting."""


class Away(Exception):
    """The broker does not answer, or the connection is lost."""


def connect(url):
    user, password = os.environ.get("AMQP_USER"), os.environ.get("AMQP_PASSWORD")
    if (user is None) != (password is None):
        raise Hopeless("AMQP_USER and AMQP_PASSWORD belong together: give the task both, the password as a secret")
    parameters = pika.URLParameters(url)
    # What brokers have at first, for their own machine alone.
    parameters.credentials = pika.PlainCredentials(user or "guest", password or "guest")
    parameters.heartbeat = HEARTBEAT
    parameters.blocked_connection_timeout = 2 * HEARTBEAT
    parameters.socket_timeout, parameters.stack_timeout = STEP, 2 * STEP
    names = (os.environ.get(name, "") for name in ("CUBELOOM_RUN", "CUBELOOM_TASK", "CUBELOOM_INDEX"))
    parameters.client_properties = {"connection_name": " ".join(["cubeloom", *names])}
    return pika.BlockingConnection(parameters)


@contextlib.contextmanager
def told(url, field=None):
    """What goes wrong inside is `Hopeless` or `Away`. `field` is the argument that names what may not be there."""
    try:
        yield
    except (Unroutable, Refused):
        raise
    except (exceptions.AuthenticationError, exceptions.ProbableAuthenticationError) as error:
        user = os.environ.get("AMQP_USER", "guest")
        raise Hopeless(f"the broker at {url} refused the user {user}: wrong name or password ({said(error)})") from None
    except (exceptions.ProbableAccessDeniedError, exceptions.ConnectionClosedByBroker, exceptions.ChannelClosedByBroker) as error:
        raise meaning(url, field, error) from None
    except ssl.SSLCertVerificationError as error:
        raise Hopeless(f"the certificate of {url} is not trusted: {error.verify_message}") from None
    except (exceptions.AMQPError, connection_workflow.AMQPConnectorException, OSError) as error:
        raise Away(f"the broker at {url} does not answer: {said(error)}") from None


def meaning(url, field, error):
    code, text = getattr(error, "reply_code", NOT_ALLOWED), getattr(error, "reply_text", None) or said(error)
    if code == NOT_FOUND and field is not None and " down " not in text:
        return Hopeless(f"{field}: {text}")
    if code in (ACCESS_REFUSED, NOT_ALLOWED):
        return Hopeless(f"the broker at {url} does not allow it: {text}")
    if code == PRECONDITION_FAILED:
        # Not when it is done too late a second time, too: RabbitMQ's `consumer_timeout`.
        hint = "; what is taken together has to be done before that: a smaller `prefetch` or `timeout`" if "timed out" in text else ""
        return Hopeless(f"the broker at {url} took back what it had given: {text}{hint}")
    return Away(f"the broker at {url} closed the connection: {text}")


def said(error):
    """The innermost reason that an exception of pika carries, which often has no text itself."""
    if isinstance(error, connection_workflow.AMQPConnectorStackTimeout):
        return f"it took the connection, and said nothing for {2 * STEP} s"
    while True:
        inner = [one for one in (*getattr(error, "exceptions", ()), *error.args) if isinstance(one, BaseException)]
        inner += [error.exception] if isinstance(getattr(error, "exception", None), BaseException) else []
        if not inner:
            return str(error) or type(error).__name__
        error = inner[-1]
