"""Authentication between tested workers: others on the network can neither forge their messages nor disturb their measurements.

Only the workers of an attempt have its token, CUBELOOM_JOB_TOKEN. Both sides of a connection prove that they have it, with a nonce
from each and an HMAC over both. Nothing is sent before, and the token never is. Messages are lines, each with an HMAC over its text
and position, under a key of this connection. They are not encrypted: an eavesdropper can read the results, but change none of them.
"""

import hashlib
import hmac
import json
import os
import queue
import socket
import struct
import threading
import time

# A peer must authenticate within so many seconds: it may not be a worker.
FIRST = 5
# Maximum number of unauthenticated connections; further ones are closed, and may be tried again.
STRANGERS = 64
# Maximum length of a line, in bytes.
LINE = 1 << 20
CHUNK = 256 << 10
# The lengths of a nonce and of an HMAC, in bytes.
NONCE = 16
SEAL = 32
# The purpose of a connection: messages between the leader and a worker, or a measurement.
TALK = b"talk"
MEASURE = b"meas"


class Lost(Exception):
    """A worker that does not answer."""


def seal(key, *parts):
    """An HMAC over these parts."""
    made = hmac.new(key, digestmod=hashlib.sha256)
    for part in parts:
        made.update(struct.pack("!I", len(part)) + part)
    return made.digest()


def prove(made, token, purpose, me, peer):
    """Authenticates to a peer as a worker of its attempt, and authenticates the peer. Returns the key of their connection."""
    theirs, own = exactly(made, NONCE), os.urandom(NONCE)
    about = purpose + struct.pack("!II", me, peer)
    made.sendall(own + about + seal(token, b"connects", theirs, own, about))
    if not hmac.compare_digest(exactly(made, SEAL), seal(token, b"accepts", theirs, own, about)):
        raise Lost("it is no worker of this attempt")
    return seal(token, b"speaks", theirs, own, about)


def proven(made, token, me):
    """Authenticates a new connection. Returns its purpose, the peer, and the key of the connection."""
    own = os.urandom(NONCE)
    made.sendall(own)
    said = exactly(made, NONCE + 12 + SEAL)
    theirs, about, told = said[:NONCE], said[NONCE:-SEAL], said[-SEAL:]
    peer, to = struct.unpack("!II", about[4:])
    if to != me or not hmac.compare_digest(told, seal(token, b"connects", own, theirs, about)):
        raise Lost("it is no worker of this attempt")
    made.sendall(seal(token, b"accepts", own, theirs, about))
    return about[:4], peer, seal(token, b"speaks", own, theirs, about)


class Door:
    """A worker's port. Each connection has its own thread, so that strangers delay no worker."""

    def __init__(self, listener, token, me, peers):
        self.listener, self.token, self.me = listener, token, me
        self.came = {(purpose, peer): queue.Queue() for purpose in (TALK, MEASURE) for peer in range(peers)}
        self.room = threading.Semaphore(STRANGERS + peers)
        # Connections not yet claimed.
        self.held, self.closed = set(), False
        # The kernel queues further connections, too.
        listener.listen(STRANGERS + peers)
        self.opener = threading.Thread(target=self.open, daemon=True)
        self.opener.start()

    def open(self):
        while True:
            try:
                made, _ = self.listener.accept()
            except OSError:
                if self.closed:
                    return
                # The peer aborted the connection, or descriptors ran out: others may still connect.
                time.sleep(0.05)
                continue
            if not self.room.acquire(blocking=False):
                drop(made)
                continue
            self.held.add(made)
            try:
                threading.Thread(target=self.hear, args=(made,), daemon=True).start()
            except RuntimeError:
                self.room.release()
                self.let_go(made)

    def let_go(self, made):
        self.held.discard(made)
        drop(made)

    def hear(self, made):
        try:
            made.settimeout(FIRST)
            purpose, peer, key = proven(made, self.token, self.me)
            self.came[purpose, peer].put((made, key))
        except (OSError, KeyError, Lost):
            self.let_go(made)
        finally:
            self.room.release()

    def take(self, purpose, peer, seconds):
        """Waits for the connection of a peer. Returns it with its key."""
        try:
            made, key = self.came[purpose, peer].get(timeout=max(0.1, seconds))
        except queue.Empty:
            raise Lost("it did not connect")
        self.held.discard(made)
        return made, key

    def close(self):
        self.closed = True
        # Only this wakes the waiting thread.
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()
        self.opener.join()
        for made in list(self.held):
            drop(made)


def drop(made):
    """Resets a connection. A close would leave the port in TIME_WAIT, and the program needs the port."""
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except OSError:
        pass
    made.close()


class Lines:
    """JSON lines over a connection, each prefixed with an HMAC over its text and position."""

    def __init__(self, made, key, mine, theirs):
        self.socket, self.file, self.key = made, made.makefile("rb"), key
        self.mine, self.theirs = [mine, 0], [theirs, 0]

    def seal(self, side, text):
        side[1] += 1
        return seal(self.key, side[0], struct.pack("!Q", side[1]), text).hex().encode()

    def send(self, value):
        text = json.dumps(value).encode()
        self.socket.sendall(self.seal(self.mine, text) + b" " + text + b"\n")

    def read(self):
        line = self.file.readline(LINE)
        if not line:
            raise Lost("it closed")
        told, _, text = line.rstrip(b"\n").partition(b" ")
        if not hmac.compare_digest(told, self.seal(self.theirs, text)):
            raise Lost("what it said was changed on the way")
        return json.loads(text.decode())


def exactly(made, length):
    parts = []
    while length > 0:
        part = made.recv(min(length, CHUNK))
        if not part:
            raise Lost("it closed")
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
