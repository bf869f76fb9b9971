"""A key shows itself nowhere: not in text, not in logs, not in tracebacks, not in pickles."""

import copy
import json
import logging
import pickle
from collections.abc import Callable
from io import StringIO
from typing import NoReturn

import msgspec
import pytest
from bench import Bench, ask, run
from hostile import KEY, Handler, HostileServer, answering
from hypothesis import given
from hypothesis import strategies as st

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.gateways import MaskingFilter, Secret
from mcsystem.gateways.secret import read_secret


def test_a_secret_never_prints_itself() -> None:
    """Every way to text gives stars; every way to bytes is refused."""
    secret = Secret(KEY)
    shown = [str(secret), repr(secret), f"{secret}", f"{secret!r:>5}", repr([secret])]
    assert not any("sk-" in text for text in shown)
    assert not hasattr(secret, "__dict__")
    for dump in (pickle.dumps, copy.copy, copy.deepcopy, json.dumps, msgspec.json.encode):
        with pytest.raises(TypeError):
            dump(secret)
    assert secret.reveal() == KEY


@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=200))
def test_plain_keys_are_taken(value: str) -> None:
    """Every printable ASCII key without spaces comes through unchanged."""
    assert read_secret("NAME", value).reveal() == value


@given(
    st.one_of(st.none(), st.sampled_from(["", " ", "\n", "a b", "key\r\nX: y", "\x00", "ключ", "密钥", "k\u200b"]))
    | st.text(min_size=1).filter(lambda text: not all("!" <= it <= "~" for it in text))
)
def test_keys_that_no_header_may_carry_are_refused(value: str | None) -> None:
    """Missing, blank, control and non-ASCII keys are MODEL_NOT_CONFIGURED, without the key in the error."""
    with pytest.raises(AssistantError) as caught:
        read_secret("NAME", value)
    assert caught.value.code is ErrorCode.MODEL_NOT_CONFIGURED
    assert set(caught.value.details) == {"field", "expected", "reason"}
    assert caught.value.details["field"] == "NAME"


def fail(message: str) -> NoReturn:
    raise ValueError(message)


@pytest.fixture
def logger() -> tuple[logging.Logger, StringIO]:
    """A logger whose handler masks."""
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    handler.addFilter(MaskingFilter(lambda: (Secret(KEY),)))
    found = logging.Logger("masked")  # noqa: LOG001 - of its own, so that nothing global changes
    found.addHandler(handler)
    return found, stream


def test_the_log_filter_masks_messages_arguments_and_tracebacks(logger: tuple[logging.Logger, StringIO]) -> None:
    """Wherever the key is in a record, stars stand in the log; records without it stay as they are."""
    log, stream = logger
    log.warning("key %s of %d", KEY, 5)
    log.warning("%s", {"authorization": f"Bearer {KEY}"})
    try:
        fail(f"bad key {KEY}")
    except ValueError:
        log.exception("failed")
    log.warning("plain %s", "text")
    told = stream.getvalue()
    assert KEY not in told
    assert told.count("***") == 3
    assert "key *** of 5" in told
    assert "plain text" in told


def test_short_keys_do_not_spoil_logs() -> None:
    """A local server's key of a few letters is not looked for in every text."""
    assert not Secret("x").shown_in("an example")
    assert Secret("12345678").shown_in("<12345678>")


def test_the_http_library_s_own_logs_are_masked(
    serve: Callable[[Handler], HostileServer], bench: Bench, all_logs: pytest.LogCaptureFixture
) -> None:
    """A service that sends the key back in a header does not get it into anybody's debug log."""
    server = serve(answering(b"{}", headers=f"X-Echo: {KEY}\r\nSet-Cookie: k={KEY}\r\n"))

    async def one() -> None:
        gateway = bench.gateway(server.url)
        await ask(gateway)
        await gateway.close()
        assert gateway.log_filter not in logging.getLogger("httpcore2.http11").filters

    run(one())
    assert "X-Echo" in all_logs.text
    assert KEY not in all_logs.text
