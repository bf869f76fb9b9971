"""Whatever a service does on the wire, one call is one request, ends in time, and costs no more than a clear error."""

import time
import tracemalloc
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from bench import Bench
from hostile import GOOD, KEY, OTHER_HOST, Handler, HostileServer, Peer, answering, chat, good, response

Serve = Callable[[Handler], HostileServer]
BOMB = zlib.compress(b" " * 20_000_000, 9)


@dataclass(frozen=True)
class Case:
    """How the service behaves and what must come of it."""

    handler: Handler
    code: str
    state: str
    reason: str | None = None
    timeout: float = 5.0


def raw(data: bytes) -> Handler:
    return lambda peer: peer.send(data)


def encoded(name: str, body: bytes = BOMB) -> Handler:
    return answering(body, headers=f"Content-Encoding: {name}\r\n")


def endless_chunks(peer: Peer) -> None:
    peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not peer.server.stopping.is_set():
        peer.send(b"10000\r\n" + b" " * 65_536 + b"\r\n")


def endless_body(peer: Peer) -> None:
    peer.send(b"HTTP/1.1 200 OK\r\n\r\n")
    while not peer.server.stopping.is_set():
        peer.send(b" " * 65_536)


def endless_headers(peer: Peer) -> None:
    peer.send(b"HTTP/1.1 200 OK\r\n")
    while not peer.server.stopping.is_set():
        peer.send(b"X-More: " + b"a" * 8_000 + b"\r\n")


def half_close(peer: Peer) -> None:
    peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
    peer.socket.shutdown(1)
    peer.wait_for_close()


def reset_midway(peer: Peer) -> None:
    peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
    time.sleep(0.1)
    peer.reset()


def silent(peer: Peer) -> None:
    peer.wait_for_close()


def body_drip(peer: Peer) -> None:
    peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    peer.drip(b" ")


def blank_lines_then_nothing(peer: Peer) -> None:
    peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    peer.drip(b"1\r\n\n\r\n", every=0.01)


def header_drip(peer: Peer) -> None:
    peer.send(b"HTTP/1.1 200 OK\r\nX: ")
    peer.drip(b"h")


def interim_flood(peer: Peer) -> None:
    peer.drip(b"HTTP/1.1 100 Continue\r\n\r\n", every=0.001)


UNKNOWN, FREE = "unknown", "failed_free"
INVALID = "MODEL_INVALID_RESPONSE"
ECHO = f'{{"error": "your key {KEY} is wrong"}}'.encode()

CASES: dict[str, Case] = {
    **{
        f"redirect {status}": Case(
            answering(b"", status=f"{status} Moved", headers=f"Location: {OTHER_HOST}\r\n"), "MODEL_HTTP_ERROR", FREE
        )
        for status in (301, 302, 303, 307, 308)
    },
    **{
        f"status {status}": Case(answering(ECHO, status=f"{status} X"), code, FREE)
        for status, code in {
            400: "MODEL_INVALID_REQUEST",
            401: "MODEL_KEY_REJECTED",
            402: "MODEL_NO_CREDIT",
            403: "MODEL_KEY_REJECTED",
            404: "MODEL_INVALID_REQUEST",
            418: "MODEL_HTTP_ERROR",
            422: "MODEL_INVALID_REQUEST",
            429: "MODEL_RATE_LIMITED",
            500: "MODEL_UNAVAILABLE",
            502: "MODEL_UNAVAILABLE",
            503: "MODEL_UNAVAILABLE",
            204: "MODEL_HTTP_ERROR",
            206: "MODEL_HTTP_ERROR",
        }.items()
    },
    "html": Case(answering(b"<html>hi</html>"), INVALID, UNKNOWN, "not_json"),
    "empty object": Case(answering(b"{}"), INVALID, UNKNOWN, "choices"),
    "empty body": Case(answering(b""), INVALID, UNKNOWN, "not_json"),
    "list": Case(answering(b"[]"), INVALID, UNKNOWN, "not_an_object"),
    "not utf-8": Case(answering(b'{"a": "\xff"}'), INVALID, UNKNOWN, "not_utf8"),
    "byte order mark": Case(answering(b"\xef\xbb\xbf" + chat(GOOD)), INVALID, UNKNOWN, "not_json"),
    "two objects": Case(answering(chat(GOOD) * 2), INVALID, UNKNOWN, "not_json"),
    "duplicate key": Case(answering(b'{"choices": [], "choices": []}'), INVALID, UNKNOWN, "duplicate_key"),
    "NaN": Case(answering(b'{"a": NaN}'), INVALID, UNKNOWN, "not_a_number"),
    "10^400": Case(answering(b'{"a": 1e400}'), INVALID, UNKNOWN, "number_too_large"),
    "400 digits": Case(answering(b'{"a": ' + b"9" * 400 + b"}"), INVALID, UNKNOWN, "number_too_large"),
    "depth 10000": Case(answering(b'{"a":' + b"[" * 10_000 + b"]" * 10_000 + b"}"), INVALID, UNKNOWN, "too_deep"),
    "depth 40": Case(answering(b'{"a":' + b"[" * 40 + b"]" * 40 + b"}"), INVALID, UNKNOWN, "too_deep"),
    **{
        f"compressed {name}": Case(encoded(name), INVALID, UNKNOWN, "compressed")
        for name in ("gzip", "br", "deflate", "zstd", "gzip, gzip", "GZIP", "x-unknown")
    },
    "announced too large": Case(answering(b"{}", length=5_000_000), INVALID, UNKNOWN, "too_large"),
    "announced absurd": Case(answering(b"{}", length=10**15), INVALID, UNKNOWN, "too_large"),
    "announced more than comes": Case(answering(b"{}", length=50), "MODEL_UNAVAILABLE", UNKNOWN),
    "announced less than comes": Case(answering(chat(GOOD), length=20), INVALID, UNKNOWN, "not_json"),
    "endless chunks": Case(endless_chunks, INVALID, UNKNOWN, "too_large"),
    "endless body": Case(endless_body, INVALID, UNKNOWN, "too_large"),
    "endless headers": Case(endless_headers, "MODEL_UNAVAILABLE", UNKNOWN),
    "half close": Case(half_close, "MODEL_UNAVAILABLE", UNKNOWN),
    "reset at once": Case(lambda peer: peer.reset(), "MODEL_UNAVAILABLE", UNKNOWN),
    "reset midway": Case(reset_midway, "MODEL_UNAVAILABLE", UNKNOWN),
    "closes at once": Case(lambda _: None, "MODEL_UNAVAILABLE", UNKNOWN),
    "not http": Case(raw(b"SSH-2.0-OpenSSH_9.6\r\n"), "MODEL_UNAVAILABLE", UNKNOWN),
    "two lengths": Case(
        raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}"), "MODEL_UNAVAILABLE", UNKNOWN
    ),
    "never answers": Case(silent, "MODEL_TIMEOUT", UNKNOWN, timeout=0.5),
    "header drip": Case(header_drip, "MODEL_TIMEOUT", UNKNOWN, timeout=0.5),
    "interim answers": Case(interim_flood, "MODEL_TIMEOUT", UNKNOWN, timeout=0.5),
    "body drip": Case(body_drip, "MODEL_TIMEOUT", UNKNOWN, timeout=0.5),
    "blank-line keep-alive": Case(blank_lines_then_nothing, "MODEL_TIMEOUT", UNKNOWN, timeout=0.5),
}


@pytest.mark.parametrize("name", list(CASES))
def test_a_hostile_service_costs_one_request_and_a_clear_error(
    name: str, serve: Serve, bench: Bench, all_logs: pytest.LogCaptureFixture
) -> None:
    """One connection, one request, the right code, the right row, in time, and the key nowhere but in its header."""
    case = CASES[name]
    server = serve(case.handler)
    outcome = bench.ask(server.url, timeout=case.timeout)
    assert (outcome.code, bench.rows()) == (case.code, [(case.state, case.code)])
    if case.reason is not None:
        assert outcome.reason == case.reason
    assert (server.accepted, len(server.requests)) == (1, 1)
    assert outcome.seconds < case.timeout + 1.5
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    told = outcome.shown + all_logs.text + repr(bench.ledger.attempts())
    for private in (KEY, "only the service may read this", "<html>", "your key"):
        assert private not in told


def test_a_good_answer_is_decoded_and_counted(serve: Serve, bench: Bench) -> None:
    """The twin of the cases above: a plain answer gives the value, and its tokens stand in the ledger."""
    server = serve(good)
    outcome = bench.ask(server.url)
    assert outcome.value is not None
    assert (outcome.value.answered, outcome.value.n) == (True, 3)
    row = bench.last()
    assert (row.state.value, row.prompt, row.completion, row.total, row.code) == ("success", 7, 5, 12, "")
    assert (row.service, row.model) == (f"127.0.0.1:{server.port}", "deepseek-flash")


@pytest.mark.parametrize("name", ["endless chunks", "endless body", "announced too large", "compressed gzip"])
def test_memory_stays_near_the_byte_limit(name: str, serve: Serve, bench: Bench) -> None:
    """A body without end, a lie about its length and a bomb take no more memory than a few times the limit."""
    server = serve(CASES[name].handler)
    bench.ask(serve(good).url)  # imports and certificates are not the body's
    tracemalloc.start()
    try:
        bench.ask(server.url, max_response_bytes=1_048_576)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6_000_000


def test_identity_encoding_is_asked_for_and_taken(serve: Serve, bench: Bench) -> None:
    """`Content-Encoding: identity` is no compression; nothing else is asked for."""
    server = serve(answering(chat(GOOD), headers="Content-Encoding: identity\r\n"))
    assert bench.ask(server.url).value is not None
    assert server.requests[0].headers["accept-encoding"] == "identity"


def test_a_slow_but_honest_answer_arrives(serve: Serve, bench: Bench) -> None:
    """Blank lines while the service queues (as one does) do not spoil the answer that follows."""

    def queued(peer: Peer) -> None:
        peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(5):
            peer.send(b"1\r\n\n\r\n")
            time.sleep(0.05)
        body = chat(GOOD)
        peer.send(f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n")

    assert bench.ask(serve(queued).url).value is not None


def test_cookies_are_not_kept(serve: Serve, bench: Bench) -> None:
    """A cookie that one answer sets does not come with the next request, nor does the connection."""
    server = serve(answering(chat(GOOD), headers="Set-Cookie: track=1; Path=/\r\n"))
    bench.ask(server.url)
    bench.ask(server.url)
    assert server.accepted == 2
    assert all("cookie" not in request.headers for request in server.requests)


def test_a_refused_connection_is_free(serve: Serve, bench: Bench) -> None:
    """Where nobody listens nothing was sent, so the attempt costs nothing."""
    server = serve(good)
    server.close()
    outcome = bench.ask(server.url)
    assert (outcome.code, bench.rows()) == ("MODEL_UNAVAILABLE", [("failed_free", "MODEL_UNAVAILABLE")])


def test_a_failed_tls_handshake_is_free_and_sends_no_key(serve: Serve, bench: Bench) -> None:
    """A server that speaks no TLS behind an https address gets a hello and nothing more."""
    server = serve(lambda peer: peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n"))
    outcome = bench.ask(server.url.replace("http://", "https://"))
    assert (outcome.code, bench.rows()) == ("MODEL_UNAVAILABLE", [("failed_free", "MODEL_UNAVAILABLE")])
    assert [request.line for request in server.requests] == ["TLS"]


def test_the_answer_may_not_give_the_key_away(serve: Serve, bench: Bench) -> None:
    """A service that puts the key into its answer is not shown to a player."""
    outcome = bench.ask(serve(answering(chat(f'{{"answered": true, "n": 1, "text": "{KEY}"}}'))).url)
    assert (outcome.code, outcome.reason) == ("MODEL_INVALID_RESPONSE", "key_in_answer")


def test_an_escaped_key_is_seen_as_well(serve: Serve, bench: Bench) -> None:
    """JSON escapes inside the answer hide no key."""
    hidden = "".join(f"\\u{ord(letter):04x}" for letter in KEY)
    outcome = bench.ask(serve(answering(chat(f'{{"answered": true, "n": 1, "text": "{hidden}"}}'))).url)
    assert (outcome.code, outcome.reason) == ("MODEL_INVALID_RESPONSE", "key_in_answer")


def test_environment_proxies_are_ignored(serve: Serve, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy named in the environment gets nothing."""
    proxy, server = serve(good), serve(good)
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
    assert bench.ask(server.url).value is not None
    assert (proxy.accepted, server.accepted) == (0, 1)


def test_a_configured_proxy_gets_a_tunnel_and_no_key(serve: Serve, bench: Bench) -> None:
    """The explicit proxy is asked for a tunnel to the service; the key goes through the tunnel only."""
    proxy = serve(answering(b"", status="403 Forbidden"))
    outcome = bench.ask("https://models.invalid/v1", proxy=f"http://127.0.0.1:{proxy.port}")
    assert (outcome.code, bench.rows()) == ("MODEL_UNAVAILABLE", [("failed_free", "MODEL_UNAVAILABLE")])
    assert [request.line for request in proxy.requests] == ["CONNECT models.invalid:443 HTTP/1.1"]
    assert KEY not in repr(proxy.requests)


def test_a_model_on_this_machine_is_never_asked_through_the_proxy(serve: Serve, bench: Bench) -> None:
    """The configured proxy is for services elsewhere: it would read a plain request, key and all."""
    proxy, server = serve(good), serve(good)
    assert bench.ask(server.url, proxy=f"http://127.0.0.1:{proxy.port}").value is not None
    assert (proxy.accepted, server.accepted) == (0, 1)


def test_response_wire_helper_is_honest() -> None:
    """The fixture itself says the length it means, so that the lies above are the only ones."""
    assert response(b"abc").endswith(b"Content-Length: 3\r\n\r\nabc")
