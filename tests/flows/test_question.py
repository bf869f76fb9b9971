"""Whole questions through the public door: local first, one call at most, never a guess (QA-01..08, QA-10, QA-16)."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mcsystem.cards import Card, Status
from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.ids import AnsweredBy, Origin, Proof, offline_uuid
from mcsystem.knowledge import KNOWLEDGE, Audience, Document
from mcsystem.storage import Databases, Table
from mcsystem.testing import Play, ScriptedModel

CLAIM = (
    "# Land claims\n\n## Claiming\n\nHold a golden shovel and right-click two opposite corners of the area to claim "
    "land. "
    "You start with 400 claim blocks.\n\n## Trust\n\nType /trust NAME to let a friend build there.\n"
)
RULES = "# Rules\n\nNo griefing. No stealing. Keep the chat friendly. Three warnings lead to a ban of one week.\n"
ZH_CLAIM = "# 领地\n\n## 圈地\n\n手持金锹,右键点击区域的两个对角就能圈出领地。新玩家有 400 个领地方块。\n"


def said(text: str, *sources: int) -> str:
    return json.dumps({"answered": True, "claims": [{"text": text, "sources": list(sources)}]})


NOT_HERE = json.dumps({"answered": False, "claims": []})


@pytest.fixture
def play(tmp_path: Path) -> Play:
    made = Play(tmp_path)
    made.learn("claims.md", CLAIM, title="Land claims")
    made.learn("rules.md", RULES, title="Rules")
    return made


def with_model(play: Play, *answers: str) -> ScriptedModel:
    play.model = ScriptedModel(list(answers))
    return play.model


def racing(play: Play, act: Callable[[Databases], str]) -> Card:
    """Ask with a model that, while it thinks, lets `act` change the world on another thread."""

    def answer(_: object) -> str:
        assert play.live is not None
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(act, play.live).result(10)

    play.model = ScriptedModel(answer)
    return play.say("/question how do I claim land")


def documents(card: Card) -> list[str]:
    return [source.document for source in card.sources]


def test_passages_answer_without_a_model(play: Play) -> None:
    """QA-06: with local passages and no model the passages themselves are shown, with their sources."""
    card = play.say("/question how do I claim land")
    assert (card.status, card.answered_by, card.code) == (Status.MATERIAL, AnsweredBy.LOCAL, None)
    assert (card.module, card.origin, card.calls.model) == ("system:question", Origin.EXPLICIT, 0)
    assert documents(card)[0] == "claims.md"
    assert "golden shovel" in card.text
    assert card.sources[0].title.startswith("Land claims")


def test_one_call_answers_from_the_passages_only(play: Play) -> None:
    """QA-05: exactly one call, whose prompt holds the passages and nothing about the player."""
    model = with_model(play, said("Use a golden shovel.", 1))
    card = play.say("/question how do I claim land")
    assert (card.status, card.answered_by, card.calls.model) == (Status.ANSWERED, AnsweredBy.MODEL, 1)
    assert card.text == "Use a golden shovel. [1]"
    assert card.calls.tokens == model.usage.total
    assert documents(card) == ["claims.md"]
    (call,) = model.calls
    assert "golden shovel" in call.user
    assert "how do I claim land" in call.user
    for private in (play.player, str(play.who.uuid)):
        assert private not in call.user + call.system


@pytest.mark.parametrize("line", ["/question how do I claim land", "/system question how do I claim land"])
def test_every_form_of_the_command_is_local(play: Play, line: str) -> None:
    """QA-10: all forms of the command ask the local knowledge."""
    assert documents(play.say(line))[0] == "claims.md"


def test_chinese_questions_find_chinese_documents(tmp_path: Path) -> None:
    """QA-10 and QA-02 in Chinese: `提问` finds the document of that language."""
    play = Play(tmp_path, language="zh_cn")
    play.learn("领地.md", ZH_CLAIM, title="领地")
    card = play.say("提问 怎么领地")
    assert documents(card) == ["领地.md"]
    assert "金锹" in card.text


def test_no_language_falls_back_to_another(play: Play) -> None:
    """QA-02: knowledge of another language is never an answer."""
    play.language = "zh_cn"
    card = play.say("/question how do I claim land")
    assert (card.status, card.sources) == (Status.NOTHING, ())
    assert "en_us" in card.text


def test_nothing_found_is_said_and_no_model_is_asked(play: Play) -> None:
    """QA-04, QA-16: a question that nothing here answers costs no call, even where single words occur."""
    model = with_model(play, said("never", 1))
    for question in ("what is the weather in Paris today", "who won the football cup in 1998"):
        card = play.say(f"/question {question}")
        assert (card.status, card.sources, card.calls.model) == (Status.NOTHING, (), 0)
    assert model.calls == []


def test_a_storage_error_is_an_error_and_never_nothing(play: Play) -> None:
    """QA-07: a database that does not decode is an error, no call is made, and the file stays."""
    shared = play.world / "system" / "database" / "shared.dat"
    shared.write_bytes(b"\x1f\x8bgarbage")
    model = with_model(play, said("never", 1))
    card = play.say("/question how do I claim land")
    assert (card.status, card.code) == (Status.ERROR, "STORAGE_CORRUPT")
    assert model.calls == []
    assert shared.read_bytes() == b"\x1f\x8bgarbage"


def test_a_damaged_player_file_stops_that_player_alone(play: Play) -> None:
    """QA-07, DB-05: another player is not touched by one player's damaged file, and reset repairs it."""
    players = play.world / "system" / "database" / "players"
    players.mkdir(parents=True, exist_ok=True)
    (players / f"{play.who.uuid}.dat").write_bytes(b"broken")
    assert play.say("/question how do I claim land").code == "STORAGE_CORRUPT"
    play.player = "Ben"
    assert play.say("/question how do I claim land").status is Status.MATERIAL
    play.player = "Alex"
    assert play.talk("/system reset", "1")[-1].status is Status.ANSWERED
    assert play.say("/question how do I claim land").status is Status.MATERIAL


def test_own_documents_answer_their_owner_alone(play: Play) -> None:
    """QA-01, QA-03: private knowledge answers its owner and never another player."""
    play.learn("diary.md", "# Diary\n\nMy secret vault lies under the lighthouse at 120 64 -300.\n", private=True)
    mine = play.say("/question where is my secret vault")
    assert [(source.document, source.scope) for source in mine.sources] == [("diary.md", "player")]
    play.player = "Ben"
    assert play.say("/question where is my secret vault").status is Status.NOTHING


def test_other_tables_never_answer(play: Play) -> None:
    """QA-03: only the knowledge table is searched, no other table of the same file."""
    databases = Databases.open(play.world, write=True)
    databases.shared().put(Table("example:notes", str), "x", "The xylophone warehouse opens at noon.")
    document = Document("g.md", "en_us", "Guide", "The xylophone warehouse opens at noon.", Audience.everyone(), "t")
    from_guides = type(KNOWLEDGE)("system:ftb_guides")
    from_guides.put(databases.shared(), document)
    databases.close()
    assert play.say("/question when does the xylophone warehouse open").status is Status.NOTHING


def test_at_most_five_passages_from_each_scope(play: Play) -> None:
    """QA-01: at most five shared and five own passages are joined."""
    for number in range(9):
        text = f"# Kiln {number}\n\nThe copper kiln number {number} smelts copper ore with {number} coal.\n"
        play.learn(f"kiln{number}.md", text, title=f"Copper kiln {number}")
        play.learn(f"own{number}.md", text, title=f"My copper kiln {number}", private=True)
    scopes = [source.scope for source in play.say("/question copper kiln").sources]
    assert (scopes.count("player"), scopes.count("shared")) == (5, 5)


def test_not_in_these_passages_is_an_answer(play: Play) -> None:
    """QA-16: the model may say that the passages do not answer; the card says so and keeps them."""
    with_model(play, NOT_HERE)
    card = play.say("/question how do I claim land")
    assert (card.status, card.calls.model) == (Status.MATERIAL, 1)
    assert "do not answer" in card.text
    assert documents(card)[0] == "claims.md"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (said("Use a shovel.", 9), "MODEL_CITATION_INVALID"),
        (said("Use a shovel.", 0), "MODEL_CITATION_INVALID"),
        (said("Use a shovel.", -1), "MODEL_CITATION_INVALID"),
        (said("Use a shovel. [7]", 1), "MODEL_CITATION_INVALID"),
        (said("Use a shovel.【8】", 1), "MODEL_CITATION_INVALID"),
        (said("Use a shovel."), "MODEL_CITATION_INVALID"),
        (said("", 1), "MODEL_INVALID_RESPONSE"),
        ("not json", "MODEL_INVALID_RESPONSE"),
        ('{"answered": "yes", "claims": []}', "MODEL_INVALID_RESPONSE"),
        ("", "MODEL_INVALID_RESPONSE"),
    ],
)
def test_a_bad_answer_is_rejected_and_the_passages_stay(play: Play, answer: str, code: str) -> None:
    """QA-05, QA-06: unknown or missing numbers and broken JSON never reach a player; one line says what happened."""
    model = with_model(play, answer)
    card = play.say("/question how do I claim land")
    assert (card.status, card.code, len(model.calls)) == (Status.MATERIAL, code, 1)
    assert "golden shovel" in card.text
    assert documents(card)[0] == "claims.md"


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.MODEL_KEY_REJECTED,
        ErrorCode.MODEL_NO_CREDIT,
        ErrorCode.MODEL_RATE_LIMITED,
        ErrorCode.MODEL_TIMEOUT,
        ErrorCode.MODEL_UNAVAILABLE,
        ErrorCode.MODEL_HTTP_ERROR,
    ],
)
@pytest.mark.parametrize("language", ["en_us", "zh_cn"])
def test_a_failing_service_keeps_the_passages_and_says_what_to_do(
    tmp_path: Path, code: ErrorCode, language: str
) -> None:
    """QA-06: wrong key, no credit, rate limit, time-out: the passages stay and one clear line stands beside them."""
    play = Play(tmp_path, language=language, model=ScriptedModel([AssistantError(code)]))
    play.learn(
        "c.md", CLAIM if language == "en_us" else ZH_CLAIM, title="Land claims" if language == "en_us" else "领地"
    )
    card = play.say("/question how do I claim land" if language == "en_us" else "提问 怎么领地")
    assert (card.status, card.code) == (Status.MATERIAL, code.value)
    assert len(card.body) == 2
    assert "${" not in card.text


@pytest.mark.parametrize("model", [{"baseUrl": "http://example.org"}, {"baseUrl": "nowhere"}])
def test_a_wrong_address_with_a_key_is_told(play: Play, model: dict[str, str]) -> None:
    """QA-06: who set a key and mistyped the address reads what to correct; without a key nothing is said."""
    play.config.mkdir(parents=True, exist_ok=True)
    (play.config / "system-agent.json").write_text(json.dumps({"model": model}), encoding="utf-8")
    play.environ = {"SYSTEM_DEEPSEEK_API_KEY": "sk-x"}
    card = play.say("/question how do I claim land")
    assert (card.status, card.code) == (Status.MATERIAL, "MODEL_NOT_CONFIGURED")
    assert "model.baseUrl" in card.text


def test_links_in_an_answer_are_taken_out(play: Play) -> None:
    """WEB-17 for local answers: a model never adds an address."""
    with_model(play, said("See [here](http://evil.example/x) or https://evil.example/y now", 1))
    assert play.say("/question how do I claim land").text == "See here or now [1]"


def test_a_changed_source_cancels_the_answer(play: Play) -> None:
    """QA-08: when a source changes while the model thinks, the old answer is not shown, and that is said."""

    def change(databases: Databases) -> str:
        KNOWLEDGE.put(databases.shared(), document(CLAIM.replace("golden", "iron")))
        return said("Use a golden shovel.", 1)

    card = racing(play, change)
    assert card.code == "KNOWLEDGE_CHANGED"
    assert "golden" not in card.text
    assert card.sources == ()


def test_a_source_that_is_no_longer_allowed_cancels_the_answer(play: Play) -> None:
    """QA-08, KN-05: the same when the audience no longer holds the player, or the document is gone."""

    def hide(databases: Databases) -> str:
        KNOWLEDGE.put(databases.shared(), document(CLAIM, "2"))
        return said("Use a golden shovel.", 1)

    assert racing(play, hide).code == "KNOWLEDGE_CHANGED"


def test_an_unrelated_change_does_not_cancel(play: Play) -> None:
    """QA-08's twin: another document may change meanwhile."""

    def other(databases: Databases) -> str:
        KNOWLEDGE.put(databases.shared(), Document("z.md", "en_us", "Z", "Zebras.", Audience.everyone(), "test"))
        return said("Use a golden shovel.", 1)

    assert racing(play, other).status is Status.ANSWERED


def test_audience_is_checked_before_ranking(play: Play) -> None:
    """KN-05: a document for the team answers the team and nobody else."""
    play.learn(
        "staff.md", "# Staff\n\nThe vanish command is /v and the panel password rotates on Monday.\n", audience="2"
    )
    assert play.say("/question when does the panel password rotate").status is Status.NOTHING
    play.permission, play.proof = 2, Proof.CLAIMED
    assert play.say("/question when does the panel password rotate").status is Status.NOTHING
    play.proof = Proof.PROVEN
    assert documents(play.say("/question when does the panel password rotate")) == ["staff.md"]


def test_external_ai_off_asks_no_model(play: Play) -> None:
    """QA-06: with external AI off for the player the passages are shown and nothing is sent."""
    model = with_model(play, said("never", 1), said("never", 1))
    card = play.talk("/system ai off", "/question how do I claim land")[-1]
    assert (card.status, card.code, model.calls) == (Status.MATERIAL, "EXTERNAL_AI_OFF", [])
    card = play.talk("/system ai on", "/question how do I claim land")[-1]
    assert card.status is Status.ANSWERED


def test_revoking_removes_own_documents_and_choices(play: Play) -> None:
    """DB-07, MOD-07: after a confirmed revoke the player's file is gone, shared knowledge stays."""
    play.learn("diary.md", "# Diary\n\nMy secret vault lies under the lighthouse.\n", private=True)
    path = play.world / "system" / "database" / "players" / f"{offline_uuid('Alex')}.dat"
    assert path.exists()
    asked, done = play.talk("/system revoke", "1")
    assert asked.status is Status.OPTIONS
    assert done.status is Status.ANSWERED
    assert not path.exists()
    assert play.say("/question how do I claim land").status is Status.MATERIAL


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("/question", "REQUEST_EMPTY"),
        ("/question   \u202e", "REQUEST_EMPTY"),
        ("", "REQUEST_EMPTY"),
        ("/question " + "x" * 100_000, "REQUEST_TOO_LONG"),
        ("/claim everything", "REQUEST_UNKNOWN_COMMAND"),
        ("/system reload", "PERMISSION_DENIED"),
        ("/system ai maybe", "REQUEST_ARGUMENTS_INVALID"),
        ("/system language klingon", "LANGUAGE_UNKNOWN"),
    ],
)
@pytest.mark.parametrize("language", ["en_us", "zh_cn"])
def test_bad_input_gets_one_clear_sentence(tmp_path: Path, line: str, code: str, language: str) -> None:
    """Bad input: one sentence in the player's language that says what to do."""
    card = Play(tmp_path, language=language).say(line)
    assert card.code == code
    assert len(card.body) == 1
    assert "${" not in card.text
    assert any("\u4e00" <= letter <= "\u9fff" for letter in card.text) == (language == "zh_cn")


def test_plain_words_are_never_dispatched_on_a_guess(play: Play) -> None:
    """RT-05: words that name no command get options to press; pressing runs it as an explicit request."""
    card, answer = play.talk("how do I claim land", "1")
    assert card.status is Status.OPTIONS
    assert card.buttons[0].command == "/question how do I claim land"
    assert (answer.status, answer.origin) == (Status.MATERIAL, Origin.EXPLICIT)


def test_deleted_text_never_answers_again(play: Play) -> None:
    """DB-21: a removed document is gone from the very next answer."""
    databases = Databases.open(play.world, write=True)
    KNOWLEDGE.remove(databases.shared(), "en_us", "claims.md")
    databases.close()
    assert "claims.md" not in documents(play.say("/question how do I claim land"))


def document(text: str, audience: str = "all") -> Document:
    return Document("claims.md", "en_us", "Land claims", text, Audience.parse(audience), "test")
