"""Over https the certificate is checked; a service that cannot prove its name gets no key."""

import asyncio
import contextlib
import shutil
import ssl
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import httpx2
import pytest
from bench import CALL, Bench, Outcome, ask, run
from hostile import HostileServer, Peer, chat, receive, response

from mcsystem.gateways import ModelGateway
from mcsystem.gateways.transport import OpenTransport, open_http
from mcsystem.settings import ModelSettings

T = TypeVar("T")
Serve = Callable[..., HostileServer]


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that nobody vouches for, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    made, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    names = ["-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*command, *names, "-keyout", str(key), "-out", str(made)], check=True, capture_output=True)
    return made, key


class TlsServer:
    """An https service on loopback that notes what comes through the tunnel."""

    def __init__(self, serve: Serve, certificate: tuple[Path, Path]) -> None:
        self.heard: list[str] = []
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(*certificate)
        self.url = serve(self._handle, reads=False).url.replace("http://", "https://")

    def _handle(self, peer: Peer) -> None:
        with contextlib.suppress(ssl.SSLError), self._context.wrap_socket(peer.socket, server_side=True) as inner:
            received = receive(inner)
            if received is not None:
                self.heard.append(received.headers.get("authorization", ""))
                inner.sendall(response(chat('{"answered": true, "n": 3}')))


def call(bench: Bench, url: str, open_transport: OpenTransport = open_http) -> Outcome:
    async def one() -> Outcome:
        settings = ModelSettings(base_url=url)
        gateway = ModelGateway(
            lambda: settings,
            bench.ledger,
            concurrency=1,
            daily_calls=lambda: 9,
            environ=bench.environ,
            open_transport=open_transport,
        )
        outcome = await ask(gateway)
        await gateway.close()
        return outcome

    return run(one())


def test_an_unknown_certificate_gets_no_key(serve: Serve, bench: Bench, certificate: tuple[Path, Path]) -> None:
    """The handshake fails, nothing comes through, and the attempt was free."""
    server = TlsServer(serve, certificate)
    outcome = call(bench, server.url)
    assert (outcome.code, bench.rows()) == ("MODEL_UNAVAILABLE", [("failed_free", "MODEL_UNAVAILABLE")])
    assert server.heard == []


def test_a_trusted_certificate_is_answered(serve: Serve, bench: Bench, certificate: tuple[Path, Path]) -> None:
    """The twin: the same service is asked over TLS when its certificate is trusted."""
    server = TlsServer(serve, certificate)

    def trusting(context: ssl.SSLContext, proxy: str) -> httpx2.AsyncBaseTransport:
        assert context.verify_mode is ssl.CERT_REQUIRED
        assert context.check_hostname
        return open_http(ssl.create_default_context(cafile=certificate[0]), proxy)

    assert call(bench, server.url, trusting).value is not None
    assert [heard[:10] for heard in server.heard] == ["Bearer sk-"]


def test_a_certificate_for_another_name_gets_no_key(serve: Serve, bench: Bench, certificate: tuple[Path, Path]) -> None:
    """Trusted, but for another name: refused."""
    server = TlsServer(serve, certificate)

    def trusting(_: ssl.SSLContext, proxy: str) -> httpx2.AsyncBaseTransport:
        return open_http(ssl.create_default_context(cafile=certificate[0]), proxy)

    outcome = call(bench, server.url.replace("127.0.0.1", "localhost"), trusting)
    assert (outcome.code, server.heard) == ("MODEL_UNAVAILABLE", [])


@pytest.mark.parametrize("how", ["deadline", "cancel"])
def test_a_handshake_that_never_ends_is_broken_off(serve: Serve, bench: Bench, how: str) -> None:
    """Nothing was sent, so it is free; the connection is closed at once, not when memory is next tidied up."""

    def silent(peer: Peer) -> None:
        peer.socket.recv(65_536)  # the hello
        peer.wait_for_close()

    server = serve(silent, reads=False)
    gateway = bench.gateway(server.url.replace("http://", "https://"))

    async def one() -> None:
        task = asyncio.create_task(ask(gateway, replace(CALL, timeout=0.4 if how == "deadline" else 30.0)))
        await asyncio.to_thread(server.arrived.wait, 5)
        if how == "cancel":
            await asyncio.sleep(0.1)
            task.cancel()
        await asyncio.wait({task})
        assert await asyncio.to_thread(server.seen_close.wait, 5)
        await gateway.close()

    run(one())
    code = "MODEL_TIMEOUT" if how == "deadline" else "ENGINE_CANCELLED"
    assert bench.rows() == [("failed_free", code)]


def test_reading_certificates_is_done_on_a_worker(serve: Serve, bench: Bench, certificate: tuple[Path, Path]) -> None:
    """The system's certificate store is read away from the event loop, once."""
    jobs: list[str] = []

    async def counting() -> None:
        async def on_worker(job: Callable[[], T]) -> T:
            jobs.append(getattr(job, "__name__", ""))
            return await asyncio.to_thread(job)

        settings = ModelSettings(base_url=TlsServer(serve, certificate).url)
        gateway = ModelGateway(
            lambda: settings,
            bench.ledger,
            concurrency=1,
            daily_calls=lambda: 9,
            environ=bench.environ,
            run_blocking=on_worker,
        )
        await ask(gateway)
        await ask(gateway)
        await gateway.close()

    run(counting())
    assert jobs.count("_prepare") == 1
