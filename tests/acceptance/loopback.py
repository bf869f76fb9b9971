"""A model service on the loopback interface that says what a test tells it, and remembers what it was asked."""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, cast

PASSAGE: Final = "Hold a golden shovel and right-click two opposite corners"


@dataclass(slots=True)
class Reply:
    """One HTTP answer."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    wait: threading.Event | None = None


def completion(content: str, finish: str = "stop") -> Reply:
    """A chat completion with this text."""
    message = {"role": "assistant", "content": content}
    whole = {
        "id": "one",
        "object": "chat.completion",
        "model": "scripted",
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
        "usage": {"prompt_tokens": 90, "completion_tokens": 20, "total_tokens": 110},
    }
    return Reply(json.dumps(whole).encode())


def claims(*pairs: tuple[str, list[int]]) -> Reply:
    """An answer in the form that our prompt asks for."""
    return completion(json.dumps({"answered": True, "claims": [{"text": text, "sources": n} for text, n in pairs]}))


def not_in_these() -> Reply:
    """The answer that the sources do not say it."""
    return completion(json.dumps({"answered": False, "claims": []}))


def refusal(status: int, words: str = "no") -> Reply:
    """An error as these services send it."""
    return Reply(json.dumps({"error": {"message": words, "code": str(status)}}).encode(), status)


@dataclass(slots=True)
class Loopback:
    """The service; set `reply`, read `asked`."""

    reply: Reply = field(default_factory=lambda: claims(("Use a golden shovel.", [1])))
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    keys: list[str] = field(default_factory=list[str])
    connections: int = 0
    broken: threading.Event = field(default_factory=threading.Event)
    url: str = ""
    stop: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Listen on a free port."""
        server = Server(("127.0.0.1", 0), Handler)
        server.service = self
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        self.url = f"http://127.0.0.1:{server.server_address[1]}/v1"

        def stop() -> None:
            if self.reply.wait is not None:
                self.reply.wait.set()
            server.shutdown()
            server.server_close()
            thread.join(5)

        self.stop = stop


class Server(ThreadingHTTPServer):
    """Knows whose requests it takes."""

    service: Loopback


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def service(self) -> "Loopback":
        return cast("Server", self.server).service

    def setup(self) -> None:
        self.service.connections += 1
        super().setup()

    def log_message(self, *_: Any) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        pass

    def do_GET(self) -> None:
        self._send(Reply(b'{"object": "list", "data": []}') if self.service.reply.status == 200 else self.service.reply)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.service.asked.append(cast("dict[str, Any]", json.loads(body)))
        self.service.keys.append(self.headers.get("Authorization", ""))
        if self.service.reply.wait is not None:
            self._watch(self.service.reply.wait)
        self._send(self.service.reply)

    def _watch(self, wait: threading.Event) -> None:
        """Hold the answer back until released; notice when the other side goes away."""
        self.connection.settimeout(0.05)
        while not wait.is_set():
            try:
                if self.connection.recv(1) == b"":
                    self.service.broken.set()
                    return
            except TimeoutError:
                continue
            except OSError:
                self.service.broken.set()
                return
        self.connection.settimeout(None)

    def _send(self, reply: Reply) -> None:
        try:
            self.send_response(reply.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply.body)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body)
        except OSError:
            self.service.broken.set()
