"""One question from a script: the JSON shape, exit codes, languages, and whose material is used."""

import pytest
from stranger import Machine

ANSWER = {
    "status": str,
    "module": str,
    "origin": str,
    "answered_by": str,
    "text": str,
    "sources": list,
    "options": list,
    "calls": dict,
    "cost": str,
    "currency": str,
}
SOURCE = {"n": int, "scope": str, "document": str, "title": str, "preview": str, "score": float}
QUESTION = "how do I claim land"
HIDDEN = "where is the secret base"


def test_the_shape_of_an_answer(library: Machine) -> None:
    """Issue 2, one JSON shape: every field with its type, material from the shared documents, nothing spent."""
    card = library.ask(QUESTION)
    assert {name: type(card[name]) for name in ANSWER} == ANSWER
    assert (card["status"], card["code"], card["module"]) == ("material", None, "system:question")
    assert (card["origin"], card["answered_by"], card["options"]) == ("explicit", "local", [])
    assert card["calls"] == {"model": 0, "search": 0, "fetch": 0}
    assert (card["cost"], card["currency"]) == ("0", "CNY")
    first = card["sources"][0]
    assert {name: type(first[name]) for name in SOURCE} == SOURCE
    assert (first["n"], first["scope"], first["document"]) == (1, "shared", "claims.md")
    assert first["url"] == "https://example.org/claims"
    assert "golden shovel" in card["text"]
    assert "golden shovel" in first["preview"]


def test_the_shape_of_nothing(library: Machine) -> None:
    """Issue 2, exit code 3: nothing found has the same shape and no source."""
    card = library.ask("which operas did Verdi compose", code=3)
    assert {name: type(card[name]) for name in ANSWER} == ANSWER
    assert (card["status"], card["code"], card["sources"]) == ("nothing", None, [])


def test_one_common_word_is_no_hit(library: Machine) -> None:
    """QA-16: one word in common is no evidence."""
    assert library.ask("how does a surgeon hold a scalpel", code=3)["sources"] == []


@pytest.mark.parametrize("slip", ["how do I cliam land", "golden shovle corners"])
def test_a_typing_slip_still_finds(library: Machine, slip: str) -> None:
    """Issue 2, retrieval: typing slips must still find."""
    assert library.ask(slip)["sources"][0]["document"] == "claims.md"


def test_sources_are_at_most_five_and_numbered(machine: Machine) -> None:
    """QA-01: at most five passages of each scope, numbered from one, the best first, own documents among them."""
    for n in range(8):
        machine.write(f"docs/{n}.md", f"# Airship {n}\n\nAirship number {n} leaves the harbour for the sky islands.\n")
        machine.write(f"own/{n}.md", f"# My airship {n}\n\nMy own airship {n} leaves the harbour for the moon.\n")
    machine.ok("knowledge", "import", "docs")
    machine.ok("knowledge", "import", "own", "--player", "Alex")
    sources = machine.ask("when does the airship leave the harbour", "--player", "Alex")["sources"]
    assert [source["n"] for source in sources] == list(range(1, 11))
    assert sorted(source["scope"] for source in sources) == ["player"] * 5 + ["shared"] * 5
    for scope in ("player", "shared"):
        scores = [source["score"] for source in sources if source["scope"] == scope]
        assert scores == sorted(scores, reverse=True)


def test_a_preview_is_short_and_has_no_line_breaks(machine: Machine) -> None:
    """UI-02: white space is collapsed and a preview is cut with an ellipsis."""
    body = "The  griffin\n\tsleeps   on the  north tower. " + "It eats apples and pears from the orchard. " * 12
    machine.write("docs/griffin.md", f"# Griffin\n\n{body}\n")
    machine.ok("knowledge", "import", "docs")
    preview = machine.ask("where does the griffin sleep")["sources"][0]["preview"]
    assert preview.startswith("The griffin sleeps on the north tower.")
    assert preview.endswith(("…", "..."))
    assert not {"\n", "\t"} & set(preview)
    assert "  " not in preview


def test_sources_are_closed_until_asked_for(library: Machine) -> None:
    """UI-02: the sources of a card are closed at first; --full opens them."""
    passage = "Type /abandonclaim while you stand inside of it."
    words = ("ask", "claim land, or give a claim up")
    closed = library.ok(*words).out
    assert "claims.md" in closed
    assert passage not in closed or closed.count(passage) == 1
    opened = library.ok(*words, "--full").out
    assert opened.count("golden shovel") + opened.count(passage) > closed.count("golden shovel") + closed.count(passage)
    assert "https://example.org/claims" in opened


def test_a_plain_answer_names_its_source_and_cost(library: Machine) -> None:
    """UI-08 and CFG-03: the card says who answered, the calls and the cost, in both languages."""
    english = library.ok("ask", QUESTION).out
    assert "golden shovel" in english
    assert "[1]" in english
    assert "local · 0 calls" in english
    chinese = library.ok("ask", "怎么圈领地", lang="zh_cn").out
    assert "金锹" in chinese
    assert "本地" in chinese
    assert "calls" not in chinese


def test_each_language_finds_its_own(library: Machine) -> None:
    """QA-02: a player of a language gets the documents of that language."""
    assert [s["document"] for s in library.ask("怎么圈领地", lang="zh_cn")["sources"]] == ["zh/lingdi.md"]
    assert {s["document"] for s in library.ask(QUESTION)["sources"]} == {"claims.md"}


@pytest.mark.parametrize(("text", "lang"), [("怎么圈领地", "en_us"), (QUESTION, "en_gb")])
def test_no_other_language_is_tried(library: Machine, text: str, lang: str) -> None:
    """QA-02: no cross-language fallback, not even from en_us to en_gb."""
    assert library.ask(text, lang=lang, code=3)["sources"] == []


def test_private_documents_are_the_players_own(library: Machine) -> None:
    """DB-05 and QA-03: Alex finds what is Alex's; nobody else does, whatever their level."""
    own = library.ask(HIDDEN, "--player", "Alex")
    assert own["sources"][0]["scope"] == "player"
    assert own["sources"][0]["document"] == "diary.md"
    for options in (("--player", "Steve", "--permission", "4"), ()):
        card = library.ask(HIDDEN, *options, code=3)
        assert card["sources"] == []
        assert "windmill" not in str(card)


def test_reading_makes_no_player_file(library: Machine) -> None:
    """DB-04 and DB-16: a question of a player without data creates no file."""
    before = library.players()
    library.ask(QUESTION, "--player", "Steve")
    assert library.players() == before


def test_an_audience_is_kept(machine: Machine) -> None:
    """KN-05: level 3 and a named player see their document; others neither see it nor its shadow."""
    machine.write("docs/staff.md", "---\naudience: 3\n---\n# Vault\n\nThe vault code of the staff is amber falcon.\n")
    machine.write("docs/named.md", "---\naudience: [Alex]\n---\n# Gift\n\nThe birthday gift lies below the fountain.\n")
    machine.ok("knowledge", "import", "docs")
    vault, gift = "what is the vault code of the staff", "where is the birthday gift"
    assert machine.ask(vault, "--player", "Steve", "--permission", "3")["sources"][0]["document"] == "staff.md"
    assert machine.ask(vault, "--player", "Steve", "--permission", "2", code=3)["sources"] == []
    assert machine.ask(gift, "--player", "Alex")["sources"][0]["document"] == "named.md"
    assert machine.ask(gift, "--player", "Steve", "--permission", "4", code=3)["sources"] == []


def test_a_hidden_document_does_not_move_scores(machine: Machine) -> None:
    """Decisions, retrieval: what a player may not see changes neither the score nor the hits of what they may see."""
    machine.write("docs/ferry.md", "# Ferry\n\nThe ferry to the coral island leaves at noon.\n")
    machine.ok("knowledge", "import", "docs")
    alone = machine.ask("when does the ferry leave")["sources"]
    for n in range(6):
        text = f"---\naudience: 4\n---\n# Ferry {n}\n\nThe ferry leaves, the ferry waits, the ferry sinks.\n"
        machine.write(f"docs/hidden{n}.md", text)
    machine.ok("knowledge", "import", "docs")
    assert machine.ask("when does the ferry leave")["sources"] == alone


def test_plain_words_are_given_options(library: Machine) -> None:
    """RT-05 and decisions: plain words leave exit code 4, and the knowledge of the server is the first option."""
    result = library.run("say", "hello", "there", "--json")
    card = result.object()
    assert (result.code, card["status"]) == (4, "options")
    first = card["options"][0]
    assert (first["n"], first["command"]) == (1, "/question hello there")
    assert "hello there" in first["label"]
    chinese = library.run("say", "你好啊", "--json", lang="zh_cn").object()
    assert any("一" <= letter <= "鿿" for letter in chinese["options"][1]["label"])


def test_the_three_forms_of_a_question(library: Machine) -> None:
    """QA-10: `/question`, `提问` and `/system question` ask the local knowledge."""
    typed = "/question how do I claim land\n提问 怎么圈领地\n/system question how do I claim land\n"
    out = library.ok("play", lang="", typed=typed, env={"MCSYSTEM_LANG": "en_us"}).out
    assert (out.count("golden shovel"), out.count("金锹")) == (2, 1)


def test_an_unknown_command_is_a_notice(library: Machine) -> None:
    """Decisions, exit codes: a mistyped command is a notice, exit code 3, and names what helps."""
    result = library.run("say", "/qestion", "--json")
    assert (result.code, result.object()["status"]) == (3, "notice")
    assert "/help" in result.object()["text"]


def test_help_is_in_the_players_language(library: Machine) -> None:
    """MOD-05: help lists the commands in both languages."""
    assert "/question TEXT" in library.ok("say", "/help").out
    chinese = library.ok("say", "/help", lang="zh_cn").out
    assert "提问 问题" in chinese
    assert "TEXT" not in chinese


def test_the_demo_answers_without_a_world_of_ones_own(machine: Machine) -> None:
    """Issue 2, step 1: without any world a demo answers in both languages, no key needed."""
    empty = {"MCSYSTEM_WORLD": ""}
    english = machine.ok("ask", QUESTION, "--json", env=empty).object()
    assert english["status"] == "material"
    chinese = machine.ok("ask", "怎么领地", "--json", env=empty, lang="zh_cn").object()
    assert chinese["status"] == "material"
    assert not machine.world.exists()
