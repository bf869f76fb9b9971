"""Every failure of the model has a sentence in each language that says what happened and what to do."""

import pytest

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.gateways.openai import failure_error, status_error
from mcsystem.gateways.secret import read_secret
from mcsystem.gateways.transport import Broken, HttpFailure, HttpReply
from mcsystem.resources import Texts

AREAS = ("MODEL_", "QUOTA_", "LEDGER_")
CODES = [code for code in ErrorCode if code.value.startswith(AREAS)]


def not_configured() -> AssistantError:
    with pytest.raises(AssistantError) as caught:
        read_secret("SYSTEM_DEEPSEEK_API_KEY", None)
    return caught.value


RAISED = [
    *(status_error(HttpReply(status, b"")) for status in (400, 401, 402, 429, 418, 503)),
    *(failure_error(HttpFailure(kind, sent=True)) for kind in Broken),
    AssistantError(ErrorCode.MODEL_BUSY, limit=4),
    AssistantError(ErrorCode.QUOTA_DAILY_CALLS, limit=50, opens="2026-12-02 00:00"),
    AssistantError(ErrorCode.LEDGER_UNAVAILABLE, reason="STORAGE_CORRUPT"),
    AssistantError(ErrorCode.MODEL_CITATION_INVALID),
    not_configured(),
]


@pytest.mark.parametrize("language", ["en_us", "zh_cn"])
def test_every_code_has_a_sentence(language: str) -> None:
    """No code of ours is shown bare."""
    for code in CODES:
        text = Texts.packaged().find(language, f"error.{code.value}")
        assert text, code
        assert text.isascii() == (language == "en_us"), code


@pytest.mark.parametrize("language", ["en_us", "zh_cn"])
@pytest.mark.parametrize("error", RAISED, ids=str)
def test_every_sentence_is_filled(error: AssistantError, language: str) -> None:
    """What is raised carries every detail that its sentence shows."""
    assert "$" not in Texts.packaged().error(language, error)


def test_every_code_is_raised_by_something() -> None:
    """The list above covers the area, so that no sentence rots."""
    assert {error.code for error in RAISED} == set(CODES)
