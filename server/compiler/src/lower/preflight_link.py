"""How workers that are tested know each other: nobody else on the network can read what they say, or spoil what they measure.

All workers of an attempt have its token, CUBELOOM_JOB_TOKEN, and nobody else has it. Who connects and who is connected to prove to
each other that they do, by a number that each of them makes up and an HMAC over both; nothing is said before, and the token itself
never is. What follows is in lines, each with an HMAC of its own under a key that only this connection has, by its place. They are not
encrypted: who can listen on the way reads what was measured, and can change none of it.
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

# Who connects has to prove itself within so many seconds: it may be no worker.
FIRST = 5
# So many who have not yet are listened to at once; others are turned away, and may come again.
STRANGERS = 64
# More of a line is not read, in bytes.
LINE = 1 << 20
CHUNK = 256 << 10
# The lengths of a number that is made up, and of an HMAC, in bytes.
NONCE = 16
SEAL = 32
# What a connection is for: what the leader and a worker say, or a measurement.
TALK = b"talk"
MEASURE = b"meas"


class Lost(Exception):
    """A worker that does not answer."""


def seal(key, *parts):
    """What nobody can write under these parts who has no key."""
    made = hmac.new(key, digestmod=hashlib.sha256)
    for part in parts:
        made.update(struct.pack("!I", len(part)) + part)
    return made.digest()


def prove(made, token, purpose, me, peer):
    """Proves to a peer that this is a worker of its attempt, and sees that the peer is one. The key of their connection."""
    theirs, own = exactly(made, NONCE), os.urandom(NONCE)
    about = purpose + struct.pack("!II", me, peer)
    made.sendall(own + about + seal(token, b"connects", theirs, own, about))
    if not hmac.compare_digest(exactly(made, SEAL), seal(token, b"accepts", theirs, own, about)):
        raise Lost("it is no worker of this attempt")
    return seal(token, b"speaks", theirs, own, about)


def proven(made, token, me):
    """Who has connected, for what, and the key of the connection."""
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
    """A worker's port. Each who connects is heard by a thread of its own: strangers hold up nobody."""

    def __init__(self, listener, token, me, peers):
        self.listener, self.token, self.me = listener, token, me
        self.came = {(purpose, peer): queue.Queue() for purpose in (TALK, MEASURE) for peer in range(peers)}
        self.room = threading.Semaphore(STRANGERS + peers)
        # Connections that nobody has taken yet.
        self.held, self.closed = set(), False
        # Beyond these the kernel lets wait, too.
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
                # One that was broken off before it was accepted, or no room for it: others come.
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
        """The connection of a peer, and its key, once it has come."""
        try:
            made, key = self.came[purpose, peer].get(timeout=max(0.1, seconds))
        except queue.Empty:
            raise Lost("it did not come")
        self.held.discard(made)
        return made, key

    def close(self):
        self.closed = True
        # Who waits there is woken by that alone.
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()
        self.opener.join()
        for made in list(self.held):
            drop(made)


def drop(made):
    """Closes a connection at once. Who closes first keeps the port for a while, which the program needs: a reset does not."""
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except OSError:
        pass
    made.close()


class Lines:
    """JSON, a line each, over a connection, each behind what seals it in its place."""

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
