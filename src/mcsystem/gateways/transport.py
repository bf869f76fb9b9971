"""One HTTP exchange under our rules: no redirect, no retry, no cookie, no compression, one deadline, a byte limit."""

import asyncio
import contextlib
import importlib
import socket
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

import httpx2

from mcsystem.gateways.address import PORTS, BaseUrl, is_loopback
from mcsystem.gateways.provider import RunBlocking
from mcsystem.gateways.secret import Secret

CONNECT_SECONDS: Final = 10.0
SENDING: Final = "send_request_headers.started"
CONNECTED: Final = "connect_tcp.complete"
AGENT: Final = "mcsystem"
OK: Final = 200
LATE_IMPORTS: Final = ("httpcore2._backends.anyio", "anyio._backends._asyncio")

OpenTransport = Callable[[ssl.SSLContext, str], httpx2.AsyncBaseTransport]


class Broken(StrEnum):
    """Why there is no whole answer."""

    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    INTERRUPTED = "interrupted"
    COMPRESSED = "compressed"
    TOO_LARGE = "too_large"


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request.

    Attributes:
        method: GET or POST.
        base: where it goes; the key goes nowhere else.
        operation: path below the base, such as `/chat/completions`.
        body: JSON as bytes, None for none.
        key: sent as a bearer token, None for none.
        max_bytes: a longer answer is refused.
        proxy: an explicit proxy address, or empty; never used for this machine.
    """

    method: Literal["GET", "POST"]
    base: BaseUrl
    operation: str
    body: bytes | None
    key: Secret | None
    max_bytes: int
    proxy: str = ""


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A whole answer. The body of any status but 200 is never read: it is empty here."""

    status: int
    body: bytes


@dataclass(frozen=True, slots=True)
class HttpFailure:
    """No whole answer.

    Attributes:
        kind: why.
        sent: whether a byte of the request may have left.
        reason: a class name of the HTTP library, for logs; empty for our own refusals.
    """

    kind: Broken
    sent: bool
    reason: str = ""


def open_http(context: ssl.SSLContext, proxy: str) -> httpx2.AsyncBaseTransport:
    """The real thing: HTTP/1.1 without a client around it, so nothing follows, retries, decodes or remembers."""
    return httpx2.AsyncHTTPTransport(
        verify=context,
        trust_env=False,
        http2=False,
        retries=0,
        limits=httpx2.Limits(max_connections=1, max_keepalive_connections=0),
        proxy=httpx2.Proxy(proxy, ssl_context=context if proxy.lower().startswith("https:") else None)
        if proxy
        else None,
    )


class HttpTransport:
    """Sends exchanges, each on a connection of its own that is closed with it.

    Args:
        run_blocking: where the certificate store is read.
        open_transport: seam for tests.
    """

    def __init__(self, run_blocking: RunBlocking, *, open_transport: OpenTransport = open_http) -> None:
        self._run = run_blocking
        self._open = open_transport
        self._context: ssl.SSLContext | None = None

    async def send(
        self, exchange: Exchange, *, deadline: float, sending: Callable[[], None]
    ) -> HttpReply | HttpFailure:
        """Make one exchange; it ends at `deadline` (event loop time) whatever the other side does.

        Args:
            exchange: what to send where.
            deadline: event loop time.
            sending: called right before the first byte of the request leaves.
        """
        trace = _Trace(sending)
        try:
            async with asyncio.timeout_at(deadline):
                return await self._exchange(exchange, trace, deadline)
        except TimeoutError:
            return HttpFailure(Broken.TIMEOUT, trace.sent)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
            kind, reason = Broken.UNREACHABLE, type(error).__name__
        except httpx2.TimeoutException as error:
            kind, reason = Broken.TIMEOUT, type(error).__name__
        except (httpx2.RequestError, httpx2.StreamError, OSError) as error:
            kind, reason = Broken.INTERRUPTED, type(error).__name__
        finally:
            await trace.close()
        # A value, not an exception: the library's exceptions hold the request and with it the key.
        return HttpFailure(kind, trace.sent, reason)

    async def _exchange(self, exchange: Exchange, trace: "_Trace", deadline: float) -> HttpReply | HttpFailure:
        base = exchange.base
        if base.scheme == "http" and not await _is_this_machine(base.host, base.port):
            return HttpFailure(Broken.UNREACHABLE, sent=False, reason="not a loopback address")
        context = await self._certificates()
        request = make_request(exchange, trace, deadline - asyncio.get_running_loop().time())
        async with self._open(context, "" if is_loopback(base.host) else exchange.proxy) as transport:
            response = await transport.handle_async_request(request)
            try:
                return await _read(response, exchange.max_bytes)
            finally:
                await response.aclose()

    async def _certificates(self) -> ssl.SSLContext:
        if self._context is None:
            self._context = await self._run(_prepare)
        return self._context


def _prepare() -> ssl.SSLContext:
    """Read the system's certificates and load what the HTTP library would else import on the event loop (30 ms)."""
    for name in LATE_IMPORTS:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    return httpx2.create_ssl_context(trust_env=False)


class _Trace:
    """Learns from the HTTP library what it connected, and when the first byte of a request leaves."""

    def __init__(self, sending: Callable[[], None]) -> None:
        self.sent = False
        self._sending = sending
        self._streams: list[object] = []

    async def __call__(self, event: str, info: Mapping[str, object]) -> None:
        tunnel = getattr(info.get("request"), "method", b"") == b"CONNECT"  # asked of a proxy; holds nothing of ours
        if event.endswith(SENDING) and not tunnel and not self.sent:
            self.sent = True
            self._sending()
        if event.endswith(CONNECTED):
            self._streams.append(info.get("return_value"))

    async def close(self) -> None:
        """Close what is still open: the library forgets a connection that is broken off in its TLS handshake."""
        for stream in self._streams:
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()


def make_request(exchange: Exchange, trace: object, seconds: float) -> httpx2.Request:
    """The request for the HTTP library; the key is put in only after the address was found to be the configured one.

    Args:
        exchange: what to send.
        trace: the library's `trace` extension: called with each step.
        seconds: limits of each single step, belts within the deadline around all of them.

    Raises:
        httpx2.UnsupportedProtocol: the library reads the address in another way than we do.
    """
    url = httpx2.URL(exchange.base.url(exchange.operation))
    base = exchange.base
    if (url.scheme, url.raw_host.decode("ascii"), url.port or PORTS[base.scheme]) != base.origin:
        raise httpx2.UnsupportedProtocol("the address is read in two ways")
    headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": AGENT, "Connection": "close"}
    if exchange.body is not None:
        headers["Content-Type"] = "application/json"
    if exchange.key is not None:
        headers["Authorization"] = f"Bearer {exchange.key.reveal()}"
    limits = {"connect": min(CONNECT_SECONDS, seconds), "read": seconds, "write": seconds, "pool": seconds}
    extensions = {"timeout": limits, "trace": trace}
    return httpx2.Request(exchange.method, url, headers=headers, content=exchange.body, extensions=extensions)


async def _read(response: httpx2.Response, max_bytes: int) -> HttpReply | HttpFailure:
    if response.status_code != OK:
        return HttpReply(response.status_code, b"")
    if response.headers.get("Content-Encoding", "identity").strip().lower() not in {"identity", ""}:
        return HttpFailure(Broken.COMPRESSED, sent=True)
    length = response.headers.get("Content-Length", "")
    if length.isdecimal() and (len(length) > len(str(max_bytes)) + 9 or int(length) > max_bytes):
        return HttpFailure(Broken.TOO_LARGE, sent=True)
    body = bytearray()
    async for chunk in response.aiter_raw():
        if len(body) + len(chunk) > max_bytes:
            return HttpFailure(Broken.TOO_LARGE, sent=True)
        body += chunk
    return HttpReply(OK, bytes(body))


async def _is_this_machine(host: str, port: int) -> bool:
    """Whether every address of `host` is on this machine; literals were checked when the setting was read."""
    if host != "localhost":
        return True
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return bool(found) and all(is_loopback(str(entry[4][0])) for entry in found)
