"""With a model: one call, checked marks, and the passages whatever goes wrong."""

import re
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from loopback import PASSAGE, Loopback, Reply, claims, completion, not_in_these, refusal
from stranger import KEY, KEY_NAME, Machine, finish, wait_until

QUESTION = "how do I claim land"
CHINESE = re.compile("[一-鿿]")
TROUBLE: dict[str, tuple[Reply, str]] = {
    "wrong-key": (refusal(401, f"bad key {KEY}"), "MODEL_KEY_REJECTED"),
    "no-credit": (refusal(402, "Insufficient Balance"), "MODEL_NO_CREDIT"),
    "rate-limit": (refusal(429, "slow down"), "MODEL_RATE_LIMITED"),
    "out-of-order": (refusal(503), "MODEL_UNAVAILABLE"),
    "redirect": (Reply(b"", 302, {"Location": "http://127.0.0.1:9/"}), "MODEL_HTTP_ERROR"),
    "broken-json": (completion('{"answered": true, "claims": [{"text": "Use'), "MODEL_INVALID_RESPONSE"),
    "prose": (completion("You should use a golden shovel."), "MODEL_INVALID_RESPONSE"),
    "no-completion": (Reply(b"<html>hello</html>"), "MODEL_INVALID_RESPONSE"),
    "wrong-number": (claims(("Use a golden shovel.", [7])), "MODEL_CITATION_INVALID"),
    "echoed-key": (claims((f"The key is {KEY}.", [1])), "MODEL_INVALID_RESPONSE"),
}


def files_with(machine: Machine, secret: str) -> list[Path]:
    """Every file of the machine that holds these bytes."""
    return [p for p in machine.folder.rglob("*") if p.is_file() and secret.encode() in p.read_bytes()]


def kept(card: dict[str, Any], code: str) -> bool:
    """Whether the passages are still there beside a stable code."""
    return (card["status"], card["code"], card["answered_by"]) == ("material", code, "local") and (
        PASSAGE in card["text"] and card["sources"][0]["document"] == "claims.md"
    )


def test_one_call_from_the_passages(connected: Machine, service: Loopback) -> None:
    """QA-05: one model call answers, marked with the source it used; sources are in the card."""
    card = connected.ask(QUESTION)
    assert (card["status"], card["code"], card["answered_by"]) == ("answered", None, "model")
    assert "Use a golden shovel." in card["text"]
    assert "[1]" in card["text"]
    assert card["sources"][0]["document"] == "claims.md"
    assert card["calls"] == {"model": 1, "search": 0, "fetch": 0}
    assert len(service.asked) == 1
    assert service.keys == [f"Bearer {KEY}"]


def test_what_is_sent(connected: Machine, service: Loopback) -> None:
    """WEB-22 and QA-03: the question, language and passages go out; no player, other scope or language does."""
    connected.ask(QUESTION, "--player", "Steve", "--permission", "4")
    sent = str(service.asked[0]["messages"])
    assert QUESTION in sent
    assert PASSAGE in sent
    assert "en_us" in sent
    for private in ("Steve", "windmill", "金锹", "https://example.org", str(connected.folder)):
        assert private not in sent


def test_nothing_found_costs_nothing(connected: Machine, service: Loopback) -> None:
    """QA-04 and QA-09: without local passages the model is not asked."""
    assert connected.ask("which operas did Verdi compose", code=3)["calls"]["model"] == 0
    assert service.connections == 0


def test_not_in_these_passages(connected: Machine, service: Loopback) -> None:
    """QA-16: the model may say that the passages do not answer; the card says so and keeps them, in both languages."""
    service.reply = not_in_these()
    card = connected.ask(QUESTION)
    assert card["code"] is None
    assert card["sources"][0]["document"] == "claims.md"
    assert card["calls"]["model"] == 1
    assert "not" in card["text"].lower()
    chinese = connected.ask("怎么圈领地", lang="zh_cn")
    assert CHINESE.search(chinese["text"])
    assert chinese["sources"][0]["document"] == "zh/lingdi.md"


@pytest.mark.parametrize(("reply", "code"), TROUBLE.values(), ids=TROUBLE)
def test_the_passages_stay(connected: Machine, service: Loopback, reply: Reply, code: str) -> None:
    """QA-06, CFG-03: whatever the service does, the passages stay, with a stable code, after exactly one call."""
    service.reply = reply
    card = connected.ask(QUESTION)
    assert kept(card, code), card
    assert len(service.asked) == 1
    assert card["calls"]["model"] == 1
    assert KEY not in str(card)


@pytest.mark.parametrize(
    ("name", "words"), [("wrong-key", "密钥"), ("no-credit", "余额"), ("rate-limit", "请求太多"), ("prose", "无法使用")]
)
def test_trouble_is_said_in_chinese(connected: Machine, service: Loopback, name: str, words: str) -> None:
    """Issue 2, step 4: one clear line in Chinese says what happened and what to do; the passages stay."""
    service.reply = TROUBLE[name][0]
    result = connected.ok("ask", "怎么圈领地", lang="zh_cn")
    assert "金锹" in result.out
    assert sum(words in line for line in result.out.splitlines()) == 1
    assert KEY not in result.said


def test_trouble_is_one_line(connected: Machine, service: Loopback) -> None:
    """Issue 2, step 4: in plain text the trouble is one line below the passages, exit code 0."""
    service.reply = TROUBLE["wrong-key"][0]
    result = connected.ok("ask", QUESTION)
    assert PASSAGE in result.out
    lines = [line for line in result.out.splitlines() if "key" in line]
    assert len(lines) == 1
    assert "environment variable" in lines[0]


def test_a_slow_service(connected: Machine, service: Loopback) -> None:
    """QA-06, USE-01: a call ends at modelTimeoutMillis; the passages stay; nothing is retried."""
    short = {"system:question": {"modelTimeoutMillis": 700}}
    model = {"baseUrl": service.url, "model": "scripted"}
    connected.settings(model=model, externalAi={"default": True}, policies=short)
    service.reply = Reply(b"", wait=threading.Event())
    assert kept(connected.ask(QUESTION), "MODEL_TIMEOUT")
    assert len(service.asked) == 1


def test_a_service_that_is_not_there(connected: Machine, service: Loopback) -> None:
    """QA-06: a closed port keeps the passages and names the trouble."""
    service.stop()
    assert kept(connected.ask(QUESTION), "MODEL_UNAVAILABLE")


def test_the_key_is_nowhere(connected: Machine, service: Loopback) -> None:
    """CFG-03: the key is in no file and no output, not even with --debug and a service that sends it back."""
    service.reply = TROUBLE["wrong-key"][0]
    for words in (("ask", QUESTION, "--debug"), ("doctor", "--debug"), ("config", "show")):
        assert KEY not in connected.run(*words).said, words
    connected.ok("backup", "all.zip")
    assert files_with(connected, KEY) == []


def test_without_a_key_nothing_is_sent(connected: Machine, service: Loopback) -> None:
    """QA-06 and WEB-19: without the variable no connection is opened; the passages are shown, exit code 0."""
    del connected.environ[KEY_NAME]
    card = connected.ask(QUESTION)
    assert (card["status"], card["calls"]["model"]) == ("material", 0)
    assert PASSAGE in card["text"]
    assert service.connections == 0


def test_external_ai_off_opens_no_connection(connected: Machine, service: Loopback) -> None:
    """Decisions, consent: a player who turned external AI off is answered without any connection; others may ask."""
    connected.ok("say", "/system ai off", "--player", "Alex")
    card = connected.ask(QUESTION, "--player", "Alex")
    assert (card["status"], card["answered_by"], card["calls"]["model"]) == ("material", "local", 0)
    assert PASSAGE in card["text"]
    assert service.connections == 0
    assert connected.ask(QUESTION, "--player", "Steve")["answered_by"] == "model"
    connected.ok("say", "/system ai on", "--player", "Alex")
    assert connected.ask(QUESTION, "--player", "Alex")["answered_by"] == "model"
    assert service.connections == 2


def test_the_quota_counts_across_processes(connected: Machine, service: Loopback) -> None:
    """USE-02: a player's daily calls are counted over processes, failed ones too; others keep theirs."""
    model = {"baseUrl": service.url, "model": "scripted"}
    connected.settings(model=model, externalAi={"default": True}, limits={"dailyModelCalls": 2})
    service.reply = refusal(503)
    connected.ask(QUESTION, "--player", "Steve")
    service.reply = claims(("Use a golden shovel.", [1]))
    assert connected.ask(QUESTION, "--player", "Steve")["answered_by"] == "model"
    third = connected.ask(QUESTION, "--player", "Steve")
    assert kept(third, "QUOTA_DAILY_CALLS")
    assert third["calls"]["model"] == 0
    chinese = connected.ask("怎么圈领地", "--player", "Steve", lang="zh_cn")
    assert "AI" in chinese["text"]
    assert "用完" in chinese["text"]
    assert len(service.asked) == 2
    assert connected.ask(QUESTION, "--player", "Alex")["answered_by"] == "model"


def test_processes_at_once_do_not_pass_the_quota(connected: Machine, service: Loopback) -> None:
    """USE-02 and DB-24: three processes at once, one call left: one is sent, every one gets its passages."""
    model = {"baseUrl": service.url, "model": "scripted"}
    connected.settings(model=model, externalAi={"default": True}, limits={"dailyModelCalls": 1})
    started = [connected.start("ask", QUESTION, "--json") for _ in range(3)]
    cards = [finish(process).object() for process in started]
    assert len(service.asked) == 1
    assert all(card["sources"] for card in cards)
    assert sorted(card["answered_by"] for card in cards) == ["local", "local", "model"]


def test_a_call_cut_off_by_a_crash_is_counted(connected: Machine, service: Loopback) -> None:
    """Decisions, ledger: a process killed while the model thinks has used up its call."""
    model = {"baseUrl": service.url, "model": "scripted"}
    connected.settings(model=model, externalAi={"default": True}, limits={"dailyModelCalls": 1})
    service.reply = Reply(b"", wait=threading.Event())
    process = connected.start("ask", QUESTION)
    wait_until(lambda: service.asked, "the request")
    process.kill()
    finish(process)
    assert kept(connected.ask(QUESTION), "QUOTA_DAILY_CALLS")
    assert len(service.asked) == 1


def test_stopping_a_question(connected: Machine, service: Loopback) -> None:
    """QA-18 and decisions: Ctrl-C ends a running question with exit code 130 and closes the connection."""
    service.reply = Reply(b"", wait=threading.Event())
    process = connected.start("ask", QUESTION)
    wait_until(lambda: service.asked, "the request")
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert finish(process).code == 130
    assert time.monotonic() - began < 10
    assert service.broken.wait(5)


def test_a_damaged_ledger_stops_calls(connected: Machine, service: Loopback) -> None:
    """DB-17 and USE-02: when calls cannot be counted none is made; the ledger stays byte for byte."""
    connected.ask(QUESTION)
    ledger = connected.world / "data" / "system" / "token_usage.dat"
    ledger.write_bytes(b"garbage")
    assert kept(connected.ask(QUESTION), "LEDGER_UNAVAILABLE")
    assert ledger.read_bytes() == b"garbage"
    assert len(service.asked) == 1


def test_the_ledger_can_be_looked_at(connected: Machine) -> None:
    """DB-26: every table that `db list` names can be shown with `db show`, the usage ledger's too."""
    connected.ask(QUESTION)
    names = [row["table"] for row in connected.ok("db", "list", "--json").array() if row["scope"] != "shared"]
    ledger = [name for name in names if "usage" in name]
    assert ledger
    assert connected.run("db", "show", ledger[0]).code == 0
