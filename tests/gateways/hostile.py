"""A server on loopback that misbehaves on command, on real sockets, counting what reaches it."""

import contextlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

KEY = "sk-hostile-0123456789abcdef"
OTHER_HOST = "http://127.0.0.1:9/v1/chat/completions"


@dataclass(frozen=True)
class Received:
    """One request as it came over the wire."""

    line: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Peer:
    """The other end of one connection, given to the handler."""

    socket: socket.socket
    server: "HostileServer"

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def drip(self, data: bytes, *, every: float = 0.02) -> None:
        """One byte at a time, for ever over again, until the client goes or the server stops."""
        while not self.server.stopping.is_set():
            for byte in data:
                self.send(bytes((byte,)))
                time.sleep(every)

    def wait_for_close(self, seconds: float = 10.0) -> None:
        """Returns when the client has closed the connection; notes it."""
        self.socket.settimeout(seconds)
        if self.socket.recv(1) == b"":
            self.server.seen_close.set()

    def reset(self) -> None:
        """Close with a TCP reset."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


Handler = Callable[[Peer], None]


@dataclass
class HostileServer:
    """Accepts, reads one request, and hands the connection to `handler`.

    Attributes:
        handler: what to do then.
        reads: False hands the connection over untouched.
        accepted: connections that were made.
        requests: whole requests that arrived.
        arrived: set when the first one did.
        seen_close: set when a handler saw the client go.
        stopping: set when the server ends.
    """

    handler: Handler
    reads: bool = True
    accepted: int = 0
    requests: list[Received] = field(default_factory=list[Received])
    arrived: threading.Event = field(default_factory=threading.Event)
    seen_close: threading.Event = field(default_factory=threading.Event)
    stopping: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port: int = self._listener.getsockname()[1]
        self._peers: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def close(self) -> None:
        self.stopping.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for peer in self._peers:
            with contextlib.suppress(OSError):
                peer.shutdown(socket.SHUT_RDWR)
            peer.close()
        for thread in self._threads:
            thread.join(5)

    def _accept(self) -> None:
        while not self.stopping.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.accepted += 1
            self._peers.append(connection)
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            received = receive(connection) if self.reads else Received("", {}, b"")
            if received is not None:
                self.requests.append(received)
                self.arrived.set()
                self.handler(Peer(connection, self))


def receive(connection: socket.socket) -> Received | None:
    """Read one whole request; None when the client said nothing that is one."""
    data = b""
    while b"\r\n\r\n" not in data:
        got = connection.recv(65_536)
        if not got:
            return None
        data += got
        if data[:1] == b"\x16":  # a TLS hello
            return Received("TLS", {}, b"")
    head, _, body = data.partition(b"\r\n\r\n")
    line, *rest = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (item.partition(": ") for item in rest)}
    while len(body) < int(headers.get("content-length", "0")):
        body += connection.recv(65_536)
    return Received(line, headers, body)


def response(body: bytes, *, status: str = "200 OK", headers: str = "", length: int | None = None) -> bytes:
    """One HTTP answer; `length` lies about the body's when given."""
    said = len(body) if length is None else length
    return f"HTTP/1.1 {status}\r\nContent-Length: {said}\r\n{headers}\r\n".encode("latin-1") + body


def chat(content: object, **changes: object) -> bytes:
    """A chat answer; `changes` replace parts of the choice, or `usage` or `choices` of the answer."""
    message: dict[str, object] = {"role": "assistant", "content": content}
    choice: dict[str, object] = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = changes.pop("usage", {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12})
    choices = changes.pop("choices", [{**choice, **changes}])
    return json.dumps({"id": "x", "choices": choices, "usage": usage}).encode()


def answering(body: bytes, *, status: str = "200 OK", headers: str = "", length: int | None = None) -> Handler:
    """A handler that gives one answer and closes."""
    return lambda peer: peer.send(response(body, status=status, headers=headers, length=length))


GOOD = '{"answered": true, "n": 3}'
good = answering(chat(GOOD))
