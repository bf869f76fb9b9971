"""Admins and preferences from inside the game, and the hooks of a player's life."""

import json
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest

from mcsystem.api import Card, Module, NoArgs, Registry, Routing, RunContext, Status, Table, ToolContext, no_args, tool
from mcsystem.ids import Proof
from mcsystem.storage import Databases
from mcsystem.testing import Play, ScriptedModel

CLAIM = "# Land claims\n\nHold a golden shovel and right-click two corners to claim land.\n"
QUESTION = "/question how do I claim land"


@pytest.fixture
def play(tmp_path: Path) -> Play:
    made = Play(tmp_path, permission=4)
    made.learn("claims.md", CLAIM, title="Land claims")
    return made


def test_an_admin_lists_searches_and_adds_knowledge(play: Play) -> None:
    """KN-02: from inside the game, with scores, and what is added answers at once."""
    listed, found, added, answer = play.talk(
        "/system knowledge list",
        "/system knowledge search claim land",
        "/system knowledge add Harbour toll | The harbour toll is 12 marks per boat.",
        "/question what is the harbour toll",
    )
    assert "claims.md" in listed.text
    assert "claims.md" in found.text
    assert "✔" in found.text
    assert "harbour-toll.md" in added.text
    assert [source.document for source in answer.sources] == ["harbour-toll.md"]


def test_the_trace_of_a_request_names_steps_and_no_text(play: Play) -> None:
    """UI-08: an admin reads what ran, how long and with which code; no word of the question stands there."""
    trace = play.talk(QUESTION, "/system trace 1")[-1].text
    assert "system:question" in trace
    assert trace.count("database.query") == 2
    assert "land" not in trace
    assert play.talk("/system trace 99")[-1].text.startswith("No such request")


def test_players_may_not_and_unproven_speakers_cannot(play: Play) -> None:
    """Admin commands need the level, and a host that can prove who speaks."""
    play.proof = Proof.CLAIMED
    assert play.say("/system knowledge add a | b").code == "TOOL_WRITE_REFUSED"
    assert play.say("/system trace").code == "PERMISSION_DENIED"
    play.permission, play.proof = 1, Proof.PROVEN
    for line in ("/system knowledge list", "/system reload", "/system trace"):
        assert play.say(line).code == "PERMISSION_DENIED"


def test_reload_names_what_is_wrong_and_takes_the_rest(play: Play) -> None:
    """CFG-01, CFG-02: texts reload live; a wrong field is named and the last good one stays."""

    def texts(databases: Databases) -> None:
        del databases
        (play.config / "lang").mkdir()
        (play.config / "lang" / "en_us.json").write_text('{"question.nothing": "Ask Bob."}', encoding="utf-8")
        agent = play.config / "system-agent.json"
        agent.write_text(json.dumps({"model": {"model": 5}}), encoding="utf-8")

    before, reloaded, after = meanwhile(play, texts, "/question zebra", "/system reload", "/question zebra")
    assert "Ask Bob" not in before.text
    assert "system-agent.json" in reloaded.text
    assert "model.model" in reloaded.text
    assert after.text.startswith("Ask Bob.")


def meanwhile(play: Play, act: Callable[[Databases], None], first: str, *lines: str) -> list[Card]:
    """Say `first`, let `act` happen, say the rest, all in one session."""

    @tool("t.act")
    def run_act(ctx: ToolContext, args: NoArgs) -> str:
        del ctx, args
        assert play.live is not None
        act(play.live)
        return ""

    async def run(context: RunContext, args: NoArgs) -> Card:
        return Card(await context.call(run_act, args))

    routing = Routing(no_args, commands=("act",))
    play.extensions = (lambda registry: registry.add(Module("t:act", run, (run_act,), routing)),)
    answers = play.talk(first, "/act", *lines)
    return [answers[0], *answers[2:]]


def test_language_is_chosen_and_kept(play: Play) -> None:
    """A chosen language survives a restart and changes every text."""
    play.say("/system language zh-CN")
    assert "命令" in play.say("/nonsense").text
    play.say("/system language en_us")
    assert "command" in play.say("/nonsense").text


def test_asking_how_a_preference_stands_writes_nothing(play: Play) -> None:
    """DB-04: a player's file appears at the first write only."""
    path = play.world / "system" / "database" / "players" / f"{play.who.uuid}.dat"
    assert play.say("/system ai").status is Status.ANSWERED
    assert not path.exists()
    play.say("/system ai off")
    assert path.exists()
    assert "off" in play.say("/system ai").text


def test_hooks_run_in_order_and_a_failing_one_stops_nobody(play: Play) -> None:
    """MOD-07: hooks of bind, preferences, forget, revoke run in order; one that fails does not stop the rest."""
    seen: list[str] = []

    def hook(name: str) -> Callable[[UUID], None]:
        def run(uuid: UUID) -> None:
            assert uuid == play.who.uuid
            seen.append(name)

        return run

    def failing(_: UUID) -> None:
        raise RuntimeError

    def setup(registry: Registry) -> None:
        for event in ("bound", "preferences", "forgotten", "revoked", "reset"):
            registry.on(event, hook(f"{event} 1"))
            registry.on(event, failing)
            registry.on(event, hook(f"{event} 2"))

    play.extensions = (setup,)
    play.talk("/system ai on", "/system ai off", "/system forget", "/system revoke confirm", "/system reset confirm")
    events = ["bound", "preferences", "preferences", "forgotten", "revoked", "reset"]
    assert seen == [f"{event} {number}" for event in events for number in (1, 2)]


SAVED = Table("t:saved", str)


def test_background_work_and_notes_reach_the_player(play: Play) -> None:
    """MOD-06: a job queued by a module runs on a worker, where databases may be used."""
    done: list[str] = []

    def setup(registry: Registry) -> None:
        def job() -> None:
            registry.context.databases.shared().put(SAVED, "k", "v")
            done.append(registry.context.databases.shared().get(SAVED, "k") or "")

        async def run(context: RunContext, args: NoArgs) -> Card:
            registry.context.maintenance(job)
            return Card(f"{context.language}{args}")

        registry.add(Module("t:job", run, (), Routing(no_args, commands=("job",))))

    play.extensions = (setup,)
    play.talk("/job", "/help")
    assert done == ["v"]


@tool("t.granted")
def granted(ctx: ToolContext, args: NoArgs) -> str:
    return f"{ctx.language}{args}"


@tool("t.foreign")
def foreign(ctx: ToolContext, args: NoArgs) -> str:
    return f"{ctx.language}{args}"


@pytest.mark.parametrize(
    ("uses", "exports", "allowed"),
    [((), (), False), (("t.foreign",), (), False), (("t.foreign",), ("t.foreign",), True)],
)
def test_a_workflow_uses_what_its_context_grants(
    play: Play, uses: tuple[str, ...], exports: tuple[str, ...], *, allowed: bool
) -> None:
    """MOD-04: another module's tool needs to be exported there and named here."""

    async def run(context: RunContext, args: NoArgs) -> Card:
        await context.call(granted, args)
        return Card(await context.call(foreign, args))

    def setup(registry: Registry) -> None:
        registry.add(Module("t:one", run, (foreign,), Routing(no_args), exports=exports))
        registry.add(Module("t:two", run, (granted,), Routing(no_args, commands=("two",)), uses=uses))

    play.extensions = (setup,)
    card = play.say("/two")
    assert (card.code == "TOOL_NOT_GRANTED") == (not allowed)


def test_the_daily_quota_survives_a_restart(play: Play) -> None:
    """USE-02: calls are counted in the ledger of the world; the passages stay when the day's calls are used up."""
    play.config.mkdir(parents=True)
    (play.config / "system-agent.json").write_text('{"limits": {"dailyModelCalls": 2}}', encoding="utf-8")
    answer = json.dumps({"answered": True, "claims": [{"text": "Golden shovel.", "sources": [1]}]})
    codes: list[str | None] = []
    for _ in range(3):
        play.model = ScriptedModel([answer])
        codes.append(play.say(QUESTION).code)
    assert codes == [None, None, "QUOTA_DAILY_CALLS"]
    play.player = "Ben"
    play.model = ScriptedModel([answer])
    assert play.say(QUESTION).status is Status.ANSWERED
    assert (play.world / "data" / "system" / "token_usage.dat").exists()


def test_a_damaged_ledger_stops_paid_calls_and_is_kept(play: Play) -> None:
    """USE-06: money that cannot be counted is not spent; the passages stay and the file is not overwritten."""
    path = play.world / "data" / "system" / "token_usage.dat"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"damaged")
    play.model = ScriptedModel(["never"])
    card = play.say(QUESTION)
    assert (card.status, card.code) == (Status.MATERIAL, "LEDGER_UNAVAILABLE")
    assert play.model.calls == []
    assert path.read_bytes() == b"damaged"


@pytest.mark.parametrize(
    ("policy", "kind"),
    [({"modelCalls": 0}, "modelCalls"), ({"inputBytes": 10}, "inputBytes"), ({"totalTokens": 1}, "totalTokens")],
)
def test_a_budget_of_the_workflow_ends_in_its_passages(play: Play, policy: dict[str, int], kind: str) -> None:
    """USE-01, QA-06: what a policy does not allow is not sent; the passages stay and the line names the limit."""
    play.config.mkdir(parents=True)
    policies = {"policies": {"system:question": policy}}
    (play.config / "system-agent.json").write_text(json.dumps(policies), encoding="utf-8")
    play.model = ScriptedModel(["never"])
    card = play.say(QUESTION)
    assert (card.status, card.code) == (Status.MATERIAL, "BUDGET_EXHAUSTED")
    assert kind in card.text
    assert play.model.calls == []
