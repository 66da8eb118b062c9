# SPDX-License-Identifier: GPL-2.0-or-later
"""A daemon under attack, and a good client that is there all the time."""
import collections
import contextlib
import os
import threading
import time

from grpc_lib import DiscoveryRequest, Sotw, node, path, url
from grpc_tree import serving
from h2_lib import H2, message

MIB = 1 << 20
PROMPT = 10.0  # seconds that a good client may wait on a busy machine, sanitizers included
LINES = 100    # that an attack may cost in the log: some of each kind and loop in ten seconds


def request(kind="CDS", names=(), who=None, **fields):
    return DiscoveryRequest(type_url=url(kind), resource_names=names, node=who or node(),
                            **fields).SerializeToString()


GOOD = message(request())


class Victim:
    def __init__(self, daemon):
        self.daemon = daemon
        self.address = daemon.grpc_tcp()
        self.channel = daemon.channel(unix=False)
        self.ads = Sotw(self.channel)
        self.ads.ask("CDS")
        self.ads.take("CDS")
        with open(f"/proc/{daemon.process.pid}/maps") as file:
            maps = file.read()
        self.is_sanitized = "libasan" in maps or "libtsan" in maps
        self.lines = len(daemon.log().splitlines())
        self.serves()
        self.before = self.memory()

    def memory(self):
        """Resident bytes."""
        with open(f"/proc/{self.daemon.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def peer(self, *args, **kwargs):
        return H2(self.address, *args, **kwargs)

    def serves(self):
        """The old client and a new one are answered, at once."""
        start = time.monotonic()
        self.ads.expect_silence()
        with H2(self.address) as peer:
            stream = peer.open(path("CDS"), first=GOOD)
            peer.until_messages(stream, 1)
        took = time.monotonic() - start
        assert took < PROMPT, f"{took:.1f} s"

    def stays_below(self, growth):
        """Sanitizers keep what was freed: there only leaks and crashes count."""
        used = self.memory() - self.before
        assert self.is_sanitized or used < growth, f"{used / MIB:.1f} MiB more"

    def is_rid_of_them(self, connections=1):
        """The attackers' connections are closed; the good client's is there."""
        self.daemon.until("their connections are closed",
                          lambda s: s["grpc"]["connections"] <= connections)

    def logged(self):
        """What clients caused, changes of the tree apart."""
        return [line for line in self.daemon.log().splitlines()[self.lines:]
                if not any(f"event={event}" in line for event in ("built", "published", "bridge"))]

    def finish(self):
        self.ads.finish()
        self.channel.close()
        lines = self.logged()
        kinds = collections.Counter(line.split("event=")[1].split()[0] for line in lines)
        assert len(lines) <= LINES, f"{len(lines)} lines: {kinds}"
        assert not [line for line in lines if "level=error" in line], lines


@contextlib.contextmanager
def victim(*options, content=None, **more):
    with serving(content or {"CDS": ["a"]}, *options, **more) as daemon:
        attacked = Victim(daemon)
        yield attacked
        attacked.serves()
        attacked.finish()


def push(peer, data):
    """Sends as long as the other side takes it."""
    for at in range(0, len(data), 1 << 16):
        if not peer.try_send(data[at:at + (1 << 16)]):
            return


def drain(peer):
    """Reads to the end of the connection, whatever comes."""
    try:
        while peer.read() is not None:
            pass
    except OSError:
        pass


def flood(attacked, peer, data, is_refused=True, reads=True):
    """Sends much, and reads what it causes if it is polite; the good clients are served meanwhile.
    is_refused: it must have led to the end of the connection."""
    peer.answers_settings = peer.answers_pings = peer.gives_back = False  # one sender at a time
    sender = threading.Thread(target=push, args=(peer, data))
    sender.start()
    attacked.serves()
    if is_refused and reads:
        drain(peer)
        assert peer.is_closed, "tolerated"
        for _, code, _ in peer.goaways:  # that may get lost when the connection is reset
            assert code != 0, peer.goaways
    elif reads:
        sender.join()
        peer.barrier()
    attacked.stays_below(32 * MIB)
    peer.reset()
    sender.join()
