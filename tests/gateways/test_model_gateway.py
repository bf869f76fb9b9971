"""The gateway's own promises: limits, the ledger, cancellation, and that nothing opens without need."""

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from bench import CALL, PLAYER, QUESTION, Answer, Bench, ask, run
from hostile import GOOD, KEY, Handler, HostileServer, Peer, answering, chat, good, response

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.gateways import ModelGateway, ScriptedModel
from mcsystem.settings import ModelSettings

Serve = Callable[[Handler], HostileServer]
NOBODY = "http://127.0.0.1:9/v1"


def slow(seconds: float) -> Handler:
    def handler(peer: Peer) -> None:
        time.sleep(seconds)
        peer.send(response(chat(GOOD)))

    return handler


def silent(peer: Peer) -> None:
    peer.wait_for_close()


def dripping(peer: Peer) -> None:
    peer.drip(b"HTTP/1.1 200 OK\r\nX: " + b"h" * 1000)


def test_a_local_server_needs_no_key(serve: Serve, bench: Bench) -> None:
    """An empty `apiKeyEnvironment` sends no Authorization header at all."""
    bench.environ = {}
    server = serve(good)
    assert bench.ask(server.url, api_key_environment="").value is not None
    assert "authorization" not in server.requests[0].headers


def test_too_many_bytes_are_never_sent(serve: Serve, bench: Bench) -> None:
    """One byte over the budget is refused before anything is opened; exactly the budget goes. Bytes, not characters."""
    server = serve(good)
    size = len(CALL.system.encode()) + len("领地".encode())
    fits = replace(CALL, user="领地", input_bytes=size)

    async def both() -> list[str]:
        gateway = bench.gateway(server.url)
        found = [await ask(gateway, replace(fits, input_bytes=size - 1)), await ask(gateway, fits)]
        await gateway.close()
        return [outcome.code for outcome in found]

    assert run(both()) == ["BUDGET_EXHAUSTED", ""]
    assert (server.accepted, len(bench.rows())) == (1, 1)


def test_the_daily_quota_stops_before_the_network(serve: Serve, bench: Bench) -> None:
    """The third call of a day under a quota of two is refused with when it opens again, and never leaves."""
    bench.daily = 2
    server = serve(good)
    outcomes = [bench.ask(server.url) for _ in range(3)]
    assert [outcome.code for outcome in outcomes] == ["", "", "QUOTA_DAILY_CALLS"]
    assert outcomes[2].error is not None
    assert outcomes[2].error.details["limit"] == 2
    assert (server.accepted, len(bench.rows())) == (2, 2)


def test_the_quota_of_one_player_is_not_another_s(serve: Serve, bench: Bench) -> None:
    """Each player has the whole quota."""
    bench.daily = 1
    server = serve(good)

    async def two() -> list[str]:
        gateway = bench.gateway(server.url)
        found = [await ask(gateway, replace(CALL, player=UUID(int=number))) for number in (1, 2)]
        await gateway.close()
        return [outcome.code for outcome in found]

    assert run(two()) == ["", ""]


def test_a_ledger_that_cannot_be_written_stops_calls(serve: Serve, bench: Bench) -> None:
    """What cannot be counted is not bought."""
    path = bench.databases.world / "data" / "system" / "token_usage.dat"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"broken")
    server = serve(good)
    outcome = bench.ask(server.url)
    assert (outcome.code, outcome.reason, server.accepted) == ("LEDGER_UNAVAILABLE", "STORAGE_CORRUPT", 0)


def test_an_answer_outlives_a_ledger_that_fails_after_it(
    serve: Serve, bench: Bench, monkeypatch: pytest.MonkeyPatch, all_logs: pytest.LogCaptureFixture
) -> None:
    """The answer that was paid for is shown; the log says that its row waits for the next write."""

    def full(*_: Any, **__: Any) -> None:
        raise AssistantError(ErrorCode.LEDGER_UNAVAILABLE, reason="STORAGE_WRITE_FAILED")

    monkeypatch.setattr(bench.ledger, "finish", full)
    assert bench.ask(serve(good).url).value is not None
    assert "usage ledger: LEDGER_UNAVAILABLE" in all_logs.text
    assert bench.rows() == [("sent", "")]


def test_the_row_is_on_disk_before_the_request_leaves(serve: Serve, bench: Bench) -> None:
    """When the service reads the request, the ledger file already says `sent`."""
    seen: list[list[tuple[str, str]]] = []

    def handler(peer: Peer) -> None:
        seen.append(bench.rows())
        peer.send(response(chat(GOOD)))

    bench.ask(serve(handler).url)
    assert seen == [[("sent", "")]]
    assert bench.rows() == [("success", "")]


def test_cancelling_closes_the_connection_at_once(serve: Serve, bench: Bench) -> None:
    """A cancelled call ends in milliseconds, the service sees the connection go, and the row says unknown."""
    server = serve(lambda peer: peer.wait_for_close())

    async def cancelled() -> float:
        gateway = bench.gateway(server.url)
        task = asyncio.create_task(gateway.ask(replace(CALL, timeout=30.0), Answer))
        await asyncio.to_thread(server.arrived.wait, 10)
        since = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        took = time.monotonic() - since
        await gateway.close()
        return took

    assert run(cancelled()) < 0.5
    assert server.seen_close.wait(5)
    assert bench.rows() == [("unknown", "ENGINE_CANCELLED")]


@pytest.mark.parametrize("steps", range(0, 60, 3))
def test_cancelling_at_any_moment_leaves_an_ended_row(serve: Serve, bench: Bench, steps: int) -> None:
    """Wherever a call is cancelled its row ends: free when nothing had left, unknown when something may have."""
    server = serve(slow(0.05))

    async def cancelled() -> None:
        gateway = bench.gateway(server.url)
        task = asyncio.create_task(gateway.ask(CALL, Answer))
        for _ in range(steps):
            await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.wait({task})
        await gateway.close()

    run(cancelled())
    states = {state for state, _ in bench.rows()}
    assert states <= {"failed_free", "unknown", "success"}
    if server.requests and states != {"success"}:
        assert states == {"unknown"}
    uses = bench.ledger.days().values()
    assert all(use.attempts == use.successes + use.failed + use.unknown for use in uses)


def test_only_so_many_calls_run_at_once(serve: Serve, bench: Bench) -> None:
    """Eight askers under a limit of two: never more than two at the service, all answered."""
    bench.concurrency = 2
    lock, running, most = threading.Lock(), [0], [0]

    def handler(peer: Peer) -> None:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.05)
        with lock:
            running[0] -= 1
        peer.send(response(chat(GOOD)))

    server = serve(handler)

    async def eight() -> list[str]:
        gateway = bench.gateway(server.url)
        found = await asyncio.gather(*(ask(gateway, replace(CALL, timeout=20.0)) for _ in range(8)))
        await gateway.close()
        return [outcome.code for outcome in found]

    assert run(eight()) == [""] * 8
    assert most[0] == 2


def test_who_waits_too_long_is_told_busy_and_pays_nothing(bench: Bench) -> None:
    """A call that cannot start within half its time is MODEL_BUSY: no row, no quota, nothing sent."""
    bench.concurrency = 1
    model = ScriptedModel(lambda _: GOOD, delay=0.8)

    async def two() -> list[str]:
        gateway = bench.gateway(NOBODY)
        gateway.use(model)
        first = asyncio.create_task(ask(gateway))
        await asyncio.sleep(0.2)
        second = await ask(gateway, replace(CALL, timeout=0.4))
        found = [(await first).code, second.code]
        await gateway.close()
        return found

    assert run(two()) == ["", "MODEL_BUSY"]
    assert (len(model.calls), bench.rows()) == (1, [("success", "")])


def test_only_so_many_may_wait(bench: Bench) -> None:
    """Beyond 256 that wait, one more is refused at once instead of after its time."""
    bench.concurrency = 1
    model = ScriptedModel(lambda _: GOOD, delay=1.0)

    async def crowd() -> tuple[int, float]:
        gateway = bench.gateway(NOBODY)
        gateway.use(model)
        calls = [asyncio.create_task(ask(gateway, replace(CALL, timeout=60.0))) for _ in range(260)]
        refused, _ = await asyncio.wait(calls, timeout=30, return_when=asyncio.FIRST_COMPLETED)
        found = [await one for one in refused]
        for task in calls:
            task.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await gateway.close()
        return len(model.calls), max(one.seconds for one in found if one.code == "MODEL_BUSY")

    running, seconds = run(crowd())
    assert running <= 1
    assert seconds < 10


def test_a_deadline_of_the_request_beats_the_timeout(bench: Bench) -> None:
    """The smaller of the call's time and the request's deadline counts, for any provider."""
    model = ScriptedModel(lambda _: GOOD, delay=5.0)

    async def late() -> tuple[str, float]:
        gateway = bench.gateway(NOBODY)
        gateway.use(model)
        outcome = await ask(gateway, replace(CALL, timeout=4.0, deadline=asyncio.get_running_loop().time() + 0.2))
        await gateway.close()
        return outcome.code, outcome.seconds

    code, seconds = run(late())
    assert (code, bench.rows()) == ("MODEL_TIMEOUT", [("unknown", "MODEL_TIMEOUT")])
    assert seconds < 1.5


def test_settings_reload_live(serve: Serve, bench: Bench) -> None:
    """A new base URL, model and key variable count from the next call on."""
    first, second = serve(good), serve(good)
    current = [ModelSettings(base_url=first.url)]
    environ = {"SYSTEM_DEEPSEEK_API_KEY": KEY, "OTHER": "sk-other-000000"}

    async def both() -> None:
        gateway = ModelGateway(lambda: current[0], bench.ledger, concurrency=1, daily_calls=lambda: 9, environ=environ)
        await ask(gateway)
        current[0] = ModelSettings(base_url=second.url, model="other", api_key_environment="OTHER")
        await ask(gateway)
        await gateway.close()

    run(both())
    assert first.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert second.requests[0].headers["authorization"] == "Bearer sk-other-000000"
    assert bench.last().model == "other"


def test_a_closed_gateway_asks_nobody(serve: Serve, bench: Bench) -> None:
    """After close a call is refused and nothing leaves."""
    server = serve(good)

    async def after() -> str:
        gateway = bench.gateway(server.url)
        await gateway.close()
        return (await ask(gateway)).code

    assert (run(after()), server.accepted) == ("ENGINE_CLOSED", 0)


def test_the_service_learns_nothing_about_the_player(serve: Serve, bench: Bench) -> None:
    """UUID, workflow and anything but the two texts, the shape and the limits stay here."""
    server = serve(good)
    bench.ask(server.url, json_mode="schema")
    sent = repr(server.requests[0])
    assert QUESTION in sent
    for private in (str(PLAYER), PLAYER.hex, "system:question", "workflow"):
        assert private not in sent


def test_two_players_at_once_never_mix(bench: Bench) -> None:
    """Each of 50 concurrent askers gets the answer to their own question, and each has one row."""
    model = ScriptedModel(lambda call: {"answered": True, "n": int(call.user)}, delay=0.01)
    bench.concurrency = 8

    async def many() -> list[int]:
        gateway = bench.gateway(NOBODY)
        gateway.use(model)
        calls = [replace(CALL, user=str(number), player=UUID(int=number), timeout=30.0) for number in range(50)]
        found = await asyncio.gather(*(gateway.ask(call, Answer) for call in calls))
        await gateway.close()
        return [reply.value.n for reply in found]

    assert run(many()) == list(range(50))
    assert [use.successes for use in bench.ledger.days().values()] == [1] * 50


@pytest.mark.parametrize(
    ("handler", "code"),
    [
        (answering(b'{"data": []}'), ""),
        (answering(b"", status="401 X"), "MODEL_KEY_REJECTED"),
        (answering(b"", status="404 X"), "MODEL_INVALID_REQUEST"),
        (answering(b" ", length=50_000_000), ""),
        (silent, "MODEL_TIMEOUT"),
        (dripping, "MODEL_TIMEOUT"),
    ],
    ids=["ok", "401", "404", "long list", "silent", "drip"],
)
def test_the_probe_asks_for_the_models_and_costs_nothing(
    serve: Serve, bench: Bench, handler: Handler, code: str
) -> None:
    """Doctor's question is one GET of `/models` with the key: no row, no quota, a short time."""
    server = serve(handler)

    async def probe() -> str:
        gateway = bench.gateway(server.url)
        try:
            await gateway.probe(seconds=0.5)
        except AssistantError as error:
            return error.code.value
        finally:
            await gateway.close()
        return ""

    assert run(probe()) == code
    assert [request.line for request in server.requests] == ["GET /v1/models HTTP/1.1"]
    assert bench.rows() == []


def test_the_loop_is_never_blocked(serve: Serve, bench: Bench) -> None:
    """While a call with a large answer runs (certificates, files, parsing), the loop's ticks stay close together."""
    padded = chat(GOOD + " " * 500_000)
    server = serve(answering(padded))
    bench.ask(server.url)  # the first call of a process imports parts of the HTTP library

    async def watched() -> float:
        gateway = bench.gateway(server.url)
        task = asyncio.create_task(ask(gateway))
        worst, last = 0.0, time.thread_time()
        while not task.done():
            await asyncio.sleep(0)
            now = time.thread_time()  # CPU of this thread: a noisy machine does not count
            worst, last = max(worst, now - last), now
        assert (await task).value is not None
        await gateway.close()
        return worst

    assert run(watched()) < 0.02
