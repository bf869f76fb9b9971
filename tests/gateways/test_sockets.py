"""No socket opens without need, none twice, and none to where it must not."""

import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from bench import Bench, ask, run
from hostile import KEY, Handler, HostileServer, good

from mcsystem.errors import AssistantError, ErrorCode

Serve = Callable[[Handler], HostileServer]


@dataclass
class Sockets:
    """Counts sockets that anybody in this process opens while it is on."""

    on: bool = False
    opened: list[str] = field(default_factory=list[str])

    def __call__(self, event: str, _: tuple[Any, ...]) -> None:
        if self.on and event in {"socket.__new__", "socket.connect", "socket.getaddrinfo"}:
            self.opened.append(event)


SOCKETS = Sockets()
sys.addaudithook(SOCKETS)  # cannot be removed; it does nothing while it is off


@pytest.mark.parametrize(
    ("settings", "environ", "field_name"),
    [
        ({}, {}, "SYSTEM_DEEPSEEK_API_KEY"),
        ({}, {"SYSTEM_DEEPSEEK_API_KEY": "  "}, "SYSTEM_DEEPSEEK_API_KEY"),
        ({}, {"SYSTEM_DEEPSEEK_API_KEY": "sk-1\n"}, "SYSTEM_DEEPSEEK_API_KEY"),
        ({}, {"SYSTEM_DEEPSEEK_API_KEY": "sk-密钥"}, "SYSTEM_DEEPSEEK_API_KEY"),
        ({}, {"SYSTEM_DEEPSEEK_API_KEY": "x" * 5000}, "SYSTEM_DEEPSEEK_API_KEY"),
        ({"api_key_environment": "OTHER"}, {"SYSTEM_DEEPSEEK_API_KEY": KEY}, "OTHER"),
        ({"base_url": "http://models.example/v1"}, {"SYSTEM_DEEPSEEK_API_KEY": KEY}, "model.baseUrl"),
        ({"proxy": "socks5://127.0.0.1:1"}, {"SYSTEM_DEEPSEEK_API_KEY": KEY}, "model.proxy"),
    ],
)
def test_without_a_usable_connection_nothing_is_opened(
    bench: Bench, settings: dict[str, str], environ: dict[str, str], field_name: str
) -> None:
    """MODEL_NOT_CONFIGURED names what to set and why; no socket, no name look-up, no row, no thread."""
    bench.environ = environ
    gateway = bench.gateway(settings.pop("base_url", "https://models.example/v1"), **settings)

    async def both() -> AssistantError | None:
        SOCKETS.opened, SOCKETS.on = [], True
        try:
            assert gateway.unavailable() is not None
            return (await ask(gateway)).error
        finally:
            SOCKETS.on = False
            await gateway.close()

    error = run(both())
    assert error is not None
    assert (error.code, error.details["field"]) == (ErrorCode.MODEL_NOT_CONFIGURED, field_name)
    assert error.details["reason"]
    assert error.details["expected"]
    assert (SOCKETS.opened, bench.rows()) == ([], [])
    assert "sk-" not in str(error).replace("'sk-...'", "")


def test_the_socket_guard_sees_sockets(serve: Serve, bench: Bench) -> None:
    """The negative twin: the same guard does see a call that goes out."""
    server = serve(good)
    SOCKETS.opened, SOCKETS.on = [], True
    try:
        bench.ask(server.url)
    finally:
        SOCKETS.on = False
    assert "socket.connect" in SOCKETS.opened


def test_a_refused_connection_is_tried_once(serve: Serve, bench: Bench) -> None:
    """Not even connecting is tried again."""
    server = serve(good)
    server.close()
    SOCKETS.opened, SOCKETS.on = [], True
    try:
        outcome = bench.ask(server.url)
    finally:
        SOCKETS.on = False
    assert outcome.code == "MODEL_UNAVAILABLE"
    assert SOCKETS.opened.count("socket.connect") == 1


def test_localhost_must_be_this_machine(serve: Serve, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where `localhost` leads elsewhere no plain-text request, and no key, goes there."""
    server = serve(good)
    url = server.url.replace("127.0.0.1", "localhost")
    assert bench.ask(url).value is not None

    def elsewhere(*_: object, **__: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", server.port))]

    monkeypatch.setattr(socket, "getaddrinfo", elsewhere)
    SOCKETS.opened, SOCKETS.on = [], True
    try:
        outcome = bench.ask(url)
    finally:
        SOCKETS.on = False
    assert (outcome.code, outcome.reason) == ("MODEL_UNAVAILABLE", "not a loopback address")
    assert "socket.connect" not in SOCKETS.opened
