"""A real model server, where there is one: form, limits and counting are checked, never wording.

Set `MCSYSTEM_MODEL_URL` to the base URL of a local OpenAI-compatible server, `MCSYSTEM_MODEL_KEY` if it wants a key.
"""

import os
from dataclasses import replace

import pytest
from bench import CALL, Bench, ask, run

URL = os.environ.get("MCSYSTEM_MODEL_URL", "")
KEY = os.environ.get("MCSYSTEM_MODEL_KEY", "")
PROMPT = 'Reply with one JSON object such as {"answered": true, "n": 3} and nothing else.'
QUESTION = "Set answered to true and n to the number of days in a week."

pytestmark = [pytest.mark.model, pytest.mark.skipif(not URL, reason="MCSYSTEM_MODEL_URL names no model server")]


def calling(bench: Bench, *, json_mode: str, tokens: int, key: str = KEY) -> tuple[str, object, object]:
    bench.environ = {"KEY": key}

    async def one() -> tuple[str, object, object]:
        gateway = bench.gateway(
            URL, model="local", json_mode=json_mode, thinking="", api_key_environment="KEY" if key else ""
        )
        outcome = await ask(gateway, replace(CALL, system=PROMPT, user=QUESTION, output_tokens=tokens, timeout=100.0))
        await gateway.close()
        return outcome.code, outcome.value, outcome.reason

    return run(one())


@pytest.mark.parametrize("json_mode", ["schema", "object", "none"])
def test_a_real_model_is_decoded_or_refused(bench: Bench, json_mode: str) -> None:
    """With a schema the form is always right; without one the answer is right or refused. Tokens are counted."""
    code, value, _ = calling(bench, json_mode=json_mode, tokens=64)
    assert code in ({""} if json_mode == "schema" else {"", "MODEL_INVALID_RESPONSE"})
    assert (value is None) == bool(code)
    row = bench.last()
    assert (row.prompt or 0) > 10
    assert 0 < (row.completion or 0) <= 64


def test_the_token_limit_really_is_in_the_request(bench: Bench) -> None:
    """Three tokens cannot hold the answer, so it is cut off, refused by name, and its tokens are counted."""
    assert calling(bench, json_mode="schema", tokens=3) == ("MODEL_INVALID_RESPONSE", None, "finish_length")
    assert bench.last().completion == 3


@pytest.mark.skipif(not KEY, reason="MCSYSTEM_MODEL_KEY is not set")
def test_a_wrong_key_is_told(bench: Bench) -> None:
    """The service's 401 comes back as MODEL_KEY_REJECTED and costs nothing."""
    assert calling(bench, json_mode="schema", tokens=8, key="sk-wrong-0000")[0] == "MODEL_KEY_REJECTED"
    assert bench.rows() == [("failed_free", "MODEL_KEY_REJECTED")]
