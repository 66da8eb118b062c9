# SPDX-License-Identifier: GPL-2.0-or-later
"""HTTP/2 frame by frame, for peers that no library would let us be. Nothing is done unasked but
what can be switched off: SETTINGS and PING are answered, received bytes are given back to the
windows. Headers are sent as literals; those received are decoded, without a dynamic table."""
import collections
import os
import select
import socket
import struct
import time

from daemon_lib import WAIT

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = (
    range(10))
END_STREAM, ACK, END_HEADERS, PADDED = 1, 1, 4, 8
HEADER_TABLE_SIZE, ENABLE_PUSH, MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE, \
    MAX_HEADER_LIST_SIZE = range(1, 7)
NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR = range(4)
STREAM_CLOSED, FRAME_SIZE_ERROR, REFUSED_STREAM, CANCEL, COMPRESSION_ERROR = range(5, 10)
ENHANCE_YOUR_CALM = 11

Frame = collections.namedtuple("Frame", "kind flags stream payload")

# RFC 7541, appendix A: the names, with values where there are any.
STATIC = [(), (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"),
          (":path", "/index.html"), (":scheme", "http"), (":scheme", "https"),
          *((":status", code) for code in ("200", "204", "206", "304", "400", "404", "500")),
          ("accept-charset", ""), ("accept-encoding", "gzip, deflate"),
          *((name, "") for name in """accept-language accept-ranges accept
          access-control-allow-origin age allow authorization cache-control content-disposition
          content-encoding content-language content-length content-location content-range
          content-type cookie date etag expect expires from host if-match if-modified-since
          if-none-match if-range if-unmodified-since last-modified link location max-forwards
          proxy-authenticate proxy-authorization range referer refresh retry-after server
          set-cookie strict-transport-security transfer-encoding user-agent vary via
          www-authenticate""".split())]
# Appendix B is a canonical code: the lengths of the printable characters, from the space on, say
# it all. What we get in headers is never anything else.
LENGTHS = [6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6,
           7, 8, 15, 6, 12, 10, 13, 6, *[7] * 22, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6,
           6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13]


def _huffman():
    lengths = sorted([(length, 32 + i) for i, length in enumerate(LENGTHS)] + [(13, 0)])  # and NUL
    codes, code, former = {}, 0, lengths[0][0]
    for length, symbol in lengths:
        code <<= length - former
        codes[(length, code)] = symbol
        code, former = code + 1, length
    return codes


HUFFMAN = _huffman()


def unhuffman(data):
    out, code, length = bytearray(), 0, 0
    for byte in data:
        for bit in range(7, -1, -1):
            code, length = code << 1 | byte >> bit & 1, length + 1
            if (length, code) in HUFFMAN:
                out.append(HUFFMAN[(length, code)])
                code = length = 0
    assert length < 8 and code == (1 << length) - 1, "padding"
    return bytes(out)


def integer(value, bits, first=0):
    """HPACK's prefixed integer."""
    limit = (1 << bits) - 1
    if value < limit:
        return bytes([first | value])
    out, value = [first | limit], value - limit
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def literals(headers):
    """A header block of literals without indexing."""
    out = b""
    for pair in headers:
        out += b"\0"
        for text in pair:
            text = text.encode() if isinstance(text, str) else text
            out += integer(len(text), 7) + text
    return out


def frame(kind, flags=0, stream=0, payload=b""):
    return (struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) +
            struct.pack(">I", stream) + payload)


def message(body, flag=0, length=None):
    """A gRPC message with its prefix."""
    return struct.pack(">BI", flag, len(body) if length is None else length) + body


def call_headers(path, *more, authority="xds_cluster"):
    """As Envoy sends them."""
    return [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", authority),
            ("te", "trailers"), ("content-type", "application/grpc"),
            ("x-envoy-internal", "true"), ("x-forwarded-for", "10.0.0.1"), *more]


class Answer:
    """What came on a stream."""

    def __init__(self):
        self.blocks = []    # header blocks: [headers] or [headers, trailers]
        self.body = bytearray()
        self.frames = []    # (kind, flags, length of the payload)
        self.is_ended = False
        self.reset = None   # code of RST_STREAM

    @property
    def headers(self):
        return dict(self.blocks[0])

    @property
    def trailers(self):
        return dict(self.blocks[-1])

    @property
    def status(self):
        """grpc-status, None before it came."""
        code = self.trailers.get("grpc-status") if self.blocks else None
        return None if code is None else int(code)

    @property
    def text(self):
        return self.trailers.get("grpc-message", "")

    def messages(self):
        """[(flag, body)] of the whole messages so far."""
        out, at = [], 0
        while len(self.body) - at >= 5:
            flag, length = struct.unpack_from(">BI", self.body, at)
            if len(self.body) - at - 5 < length:
                break
            out.append((flag, bytes(self.body[at + 5:at + 5 + length])))
            at += 5 + length
        return out


class H2:
    """One connection."""

    def __init__(self, address, settings=None, greet=True, receive_buffer=None, window=1 << 30):
        if address.startswith("unix:"):
            self.socket = socket.socket(socket.AF_UNIX)
            target = address[5:]
        else:
            host, port = address.rsplit(":", 1)
            target = (host.strip("[]"), int(port))
            self.socket = socket.socket(socket.AF_INET6 if ":" in target[0] else socket.AF_INET)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(WAIT)
        self.socket.connect(target)
        self.buffer = bytearray()
        self.block = None           # of HEADERS until END_HEADERS
        self.answers = collections.defaultdict(Answer)
        self.settings = {}          # the server's
        self.goaways = []           # (last stream, code, text)
        self.pings = []             # payloads of PINGs, and of answers to ours
        self.pongs = []
        self.next_stream = 1
        self.answers_settings = self.answers_pings = self.gives_back = True
        self.is_closed = False
        if greet:
            self.send(PREFACE + frame(SETTINGS, payload=b"".join(
                struct.pack(">HI", *pair) for pair in {HEADER_TABLE_SIZE: 0, **(settings or {})}
                .items())))
            if window > 65535:
                self.send(frame(WINDOW_UPDATE, payload=struct.pack(">I", window - 65535)))

    # What we say.

    def send(self, data):
        self.socket.sendall(data)

    def try_send(self, data):
        """False: the peer is gone."""
        try:
            self.send(data)
            return True
        except OSError:
            self.is_closed = True
            return False

    def open(self, path, *more, end=False, first=b"", headers=None):
        """Begins a call; its stream."""
        stream, self.next_stream = self.next_stream, self.next_stream + 2
        self.send(self.opening(stream, path, *more, end=end, headers=headers) + (
            frame(DATA, 0, stream, first) if first else b""))
        return stream

    def opening(self, stream, path, *more, end=False, headers=None):
        block = literals(headers or call_headers(path, *more))
        return frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), stream, block)

    def data(self, stream, payload, end=False):
        self.send(frame(DATA, END_STREAM if end else 0, stream, payload))

    def give(self, stream, size):
        """WINDOW_UPDATE for a stream, or the connection (0)."""
        self.send(frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", size)))

    # What we hear.

    def is_readable(self, seconds=0.0):
        return bool(select.select([self.socket], [], [], seconds)[0])

    def fill(self):
        """Reads once; False at the end of the connection."""
        try:
            data = self.socket.recv(1 << 18)
        except ConnectionError:
            data = b""
        self.buffer += data
        self.is_closed |= not data
        return bool(data)

    def _take(self):
        if len(self.buffer) < 9:
            return None
        length = int.from_bytes(self.buffer[:3], "big")
        if len(self.buffer) < 9 + length:
            return None
        kind, flags, stream = struct.unpack_from(">BBI", self.buffer, 3)
        payload = bytes(self.buffer[9:9 + length])
        del self.buffer[:9 + length]
        return Frame(kind, flags, stream & 0x7fffffff, payload)

    def read(self):
        """The next frame, after it was dealt with; None at the end of the connection."""
        while True:
            got = self._take()
            if got:
                self._note(got)
                return got
            if not self.fill():
                return None

    def _note(self, got):
        answer = self.answers[got.stream] if got.stream else None
        if answer:
            answer.frames.append((got.kind, got.flags, len(got.payload)))
        if got.kind == SETTINGS and not got.flags & ACK:
            self.settings.update(struct.iter_unpack(">HI", got.payload))
            if self.answers_settings:
                self.try_send(frame(SETTINGS, ACK))
        elif got.kind == PING and got.flags & ACK:
            self.pongs.append(got.payload)
        elif got.kind == PING:
            self.pings.append(got.payload)
            if self.answers_pings:
                self.try_send(frame(PING, ACK, 0, got.payload))
        elif got.kind == GOAWAY:
            last, code = struct.unpack_from(">II", got.payload)
            self.goaways.append((last & 0x7fffffff, code, got.payload[8:]))
        elif got.kind == RST_STREAM:
            answer.reset, = struct.unpack(">I", got.payload)
            answer.is_ended = True
        elif got.kind in (HEADERS, CONTINUATION):
            self.block = got.payload if got.kind == HEADERS else self.block + got.payload
            if got.flags & END_HEADERS:
                answer.blocks.append(decode(self.block))
        elif got.kind == DATA:
            answer.body += got.payload
            if self.gives_back and got.payload:
                size = struct.pack(">I", len(got.payload))
                self.try_send(frame(WINDOW_UPDATE, 0, 0, size) +
                              frame(WINDOW_UPDATE, 0, got.stream, size))
        if got.kind in (DATA, HEADERS) and got.flags & END_STREAM:
            answer.is_ended = True

    def until(self, what, check, patience=WAIT):
        """Reads until check() holds."""
        end = time.monotonic() + patience
        while not check():
            assert time.monotonic() < end, f"not in time: {what}"
            self.socket.settimeout(max(end - time.monotonic(), 0.001))
            try:
                if self.read() is None:
                    assert check(), f"closed before: {what}; goaways: {self.goaways}"
                    return
            except socket.timeout:
                raise AssertionError(f"not in time: {what}") from None
            finally:
                self.socket.settimeout(WAIT)

    def until_ended(self, stream):
        answer = self.answers[stream]
        self.until(f"the end of stream {stream}", lambda: answer.is_ended)
        return answer

    def until_messages(self, stream, count):
        answer = self.answers[stream]
        self.until(f"{count} messages on stream {stream}; {answer.blocks}",
                   lambda: len(answer.messages()) >= count or answer.is_ended)
        assert len(answer.messages()) >= count, (answer.blocks, answer.reset)
        return answer

    def until_closed(self):
        """Reads on until the peer closes."""
        self.until("the connection to be closed", lambda: self.is_closed)

    def barrier(self):
        """Whatever was sent before has been looked at, and answered as far as it was at once."""
        payload = os.urandom(8)
        self.send(frame(PING, 0, 0, payload))
        self.until("PING", lambda: payload in self.pongs)

    def reset(self):
        """Closes with a TCP reset."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def decode(block):
    """[(name, value)] of a header block that uses no dynamic table."""
    at, out = 0, []

    def number(bits):
        nonlocal at
        limit = (1 << bits) - 1
        value = block[at] & limit
        at += 1
        shift = 0
        while value >= limit:
            byte = block[at]
            at += 1
            value += (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        return value

    def text():
        nonlocal at
        is_huffman = block[at] & 128
        length = number(7)
        data = block[at:at + length]
        at += length
        return (unhuffman(data) if is_huffman else bytes(data)).decode()
    while at < len(block):
        first = block[at]
        if first & 0x80:
            out.append(STATIC[number(7)])
        elif first & 0xe0 == 0x20:
            assert number(5) == 0, "a dynamic table"
        else:
            name = STATIC[number(6 if first & 0x40 else 4)]
            name = name[0] if name else text()
            out.append((name, text()))
    return out
