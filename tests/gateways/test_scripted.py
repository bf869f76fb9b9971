"""The scripted model that extension authors test with behaves as a real one through the real gateway."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from bench import CALL, Answer, Bench, ask, run

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.gateways import ModelCall, ScriptedModel

NOBODY = "http://127.0.0.1:9/v1"


def play(bench: Bench, model: ScriptedModel, *, times: int = 1, call: ModelCall = CALL) -> list[str]:
    async def all_of_them() -> list[str]:
        gateway = bench.gateway(NOBODY)
        gateway.use(model)
        found = [await ask(gateway, call) for _ in range(times)]
        await gateway.close()
        return [outcome.code or repr(outcome.value) for outcome in found]

    return run(all_of_them())


def test_answers_come_in_order(bench: Bench) -> None:
    """Text, dicts and values of the result type are answers; codes and errors fail; after the last nobody is there."""
    script = [
        '{"answered": true, "n": 1}',
        {"answered": True, "n": 2},
        Answer(answered=False, n=3),
        ErrorCode.MODEL_RATE_LIMITED,
        AssistantError(ErrorCode.MODEL_KEY_REJECTED, status=401),
        "not json",
    ]
    model = ScriptedModel(script)
    assert play(bench, model, times=7) == [
        "Answer(answered=True, n=1)",
        "Answer(answered=True, n=2)",
        "Answer(answered=False, n=3)",
        "MODEL_RATE_LIMITED",
        "MODEL_KEY_REJECTED",
        "MODEL_INVALID_RESPONSE",
        "MODEL_UNAVAILABLE",
    ]
    assert len(model.calls) == 7
    assert [state for state, _ in bench.rows()] == ["success"] * 3 + ["failed_free"] * 2 + ["unknown", "failed_free"]


def test_a_function_sees_the_call(bench: Bench) -> None:
    """A script may answer from what was asked."""
    reply: Callable[[ModelCall], object] = lambda call: {"answered": True, "n": len(call.user)}  # noqa: E731 - a script
    assert play(bench, ScriptedModel(reply), call=replace(CALL, user="four")) == ["Answer(answered=True, n=4)"]


def test_a_delay_longer_than_the_time_is_a_timeout(bench: Bench) -> None:
    """The gateway's limits hold for it too, and the row is unknown as for a real one."""
    assert play(bench, ScriptedModel([], delay=5.0), call=replace(CALL, timeout=0.1)) == ["MODEL_TIMEOUT"]
    assert bench.rows() == [("unknown", "MODEL_TIMEOUT")]


def test_an_unset_model_is_not_configured(bench: Bench) -> None:
    """`unset` behaves as a server without a key: no call arrives, no row is written."""
    model = ScriptedModel(["{}"], unset=True)
    assert play(bench, model) == ["MODEL_NOT_CONFIGURED"]
    assert (model.calls, bench.rows()) == ([], [])


@pytest.mark.parametrize("code", [ErrorCode.MODEL_TIMEOUT, ErrorCode.MODEL_INVALID_RESPONSE])
def test_scripted_failures_that_may_cost_are_unknown(bench: Bench, code: ErrorCode) -> None:
    """What a real service might have billed is unknown here too."""
    play(bench, ScriptedModel([code]))
    assert bench.rows() == [("unknown", code.value)]
