"""A folder of documents goes in: formats, wrong files, changes, and the commands that look at what is there."""

import json
import time
from typing import Any

import pytest
from stranger import Machine, finish, wait_until

WORDS = "# Windmill\n\nThe windmill grinds barley every morning.\n"


def documents(machine: Machine, *options: str) -> dict[tuple[str, str], dict[str, Any]]:
    """What `knowledge list` shows, by language and path."""
    rows = machine.ok("knowledge", "list", "--json", *options, lang="").array()
    return {(row["language"], row["document"]): row for row in rows}


def report(machine: Machine, folder: str, *options: str) -> dict[str, Any]:
    """The JSON report of one import."""
    return machine.ok("knowledge", "import", folder, "--json", *options).object()


def test_markdown_with_front_matter(machine: Machine) -> None:
    """KN-01: title, language, audience and address come from the front matter; the language wins over --lang."""
    head = "---\ntitle: The old mill\nlanguage: zh_cn\naudience: 2\nurl: https://example.org/mill\nodd: x\n---\n"
    machine.write("docs/deep/er/mill.md", head + WORDS)
    assert report(machine, "docs")["problems"] == []
    row = documents(machine)["zh_cn", "deep/er/mill.md"]
    assert (row["title"], row["audience"], row["url"]) == ("The old mill", "2", "https://example.org/mill")


def test_a_document_without_front_matter(machine: Machine) -> None:
    """KN-01: without front matter the heading or the file's name is the title, and everybody may see it."""
    machine.write("docs/mill.md", WORDS)
    machine.write("docs/bees.txt", "# not a heading\n\nBees make honey.\n")
    machine.write("docs/page.html", "<p>passed over</p>")
    machine.write("docs/.hidden.md", WORDS)
    assert report(machine, "docs")["added"] == 2
    rows = documents(machine)
    assert rows["en_us", "mill.md"]["title"] == "Windmill"
    assert rows["en_us", "bees.txt"]["title"] == "bees"
    assert {row["audience"] for row in rows.values()} == {"all"}


PAIRS = {
    "comma.csv": 'question,answer\n"When, roughly, is the wheat harvest?","In autumn, after rain."\n',
    "semicolon.csv": "答案;问题\nIn spring, after rain.;When, roughly, is the beet harvest?\n",
    "tab.csv": "When, roughly, is the grape harvest?\tIn winter, after rain.\nWho owns the vine?\tBob\n",
    "array.json": '[{"question": "When, roughly, is the rye harvest?", "answer": "In May, after rain."}]',
    "object.json": '{"When, roughly, is the plum harvest?": "In June, after rain."}',
}


def test_pairs(machine: Machine) -> None:
    """KN-01: question/answer pairs as CSV and JSON become answers, found by their question."""
    for name, text in PAIRS.items():
        machine.write(f"docs/{name}", text)
    assert report(machine, "docs")["problems"] == []
    rows = machine.ok("knowledge", "list", "--json").array()
    titles = {(row["document"], row["title"]) for row in rows if "harvest" in row["title"]}
    crops = ("wheat", "beet", "grape", "rye", "plum")
    assert titles == {(n, f"When, roughly, is the {crop} harvest?") for n, crop in zip(PAIRS, crops, strict=True)}
    card = machine.ask("when is the grape harvest")
    assert "In winter, after rain." in card["text"]
    assert card["sources"][0]["document"] == "tab.csv"


def test_pairs_have_an_audience_of_their_own(machine: Machine) -> None:
    """KN-05: a pair's audience is kept, so a player without the level gets the other pair only."""
    rows = [
        {"question": "Where is the harvest store?", "answer": "By the well.", "audience": "all"},
        {"question": "Where is the harvest vault?", "answer": "Under the well.", "audience": "4"},
    ]
    machine.write("docs/qa.json", json.dumps(rows))
    report(machine, "docs")
    assert "Under" not in str(machine.ask("where is the harvest store", "--player", "Steve"))
    assert "Under" in str(machine.ask("where is the harvest vault", "--player", "Alex", "--permission", "4"))


def test_encodings(machine: Machine) -> None:
    """KN-01: files saved by Windows editors are read: a mark at the start, UTF-16, Chinese GB18030."""
    text = "# 风车\n\n风车每天早晨磨大麦,磨好的面粉放在谷仓里,村民可以在市场上买到这些面粉。\n"
    for encoding in ("utf-8-sig", "utf-16", "gb18030"):
        machine.write(f"docs/{encoding}.md", text.encode(encoding))
    machine.ok("knowledge", "import", "docs", lang="zh_cn")
    rows = documents(machine)
    assert [row["title"] for row in rows.values()] == ["风车"] * 3


WRONG = {
    "front.md": ("---\ntitle: fine\nno colon here\n---\n" + WORDS, 3),
    "open.md": ("---\ntitle: never closed\n\n" + WORDS, 1),
    "language.md": ("---\nlanguage: not a code\n---\n" + WORDS, 2),
    "pairs.csv": ("question,answer\nWho?,Me\nlonely question,\n", 3),
    "pairs.json": ('[\n{"question": "Who?", "answer": "Me"},\n{"question": 5}\n]', 3),
    "syntax.json": ('{\n"a": "b",\n"c" "d"\n}', 3),
    "binary.md": (bytes(range(256)) * 8, None),
    "empty.md": ("", None),
}


@pytest.fixture
def messy(machine: Machine) -> Machine:
    """A folder with every kind of wrong file and one good one."""
    for name, (content, _) in WRONG.items():
        machine.write(f"docs/{name}", content)
    machine.write("docs/good.md", WORDS)
    return machine


def test_wrong_files_are_named_with_their_line(messy: Machine) -> None:
    """KN-01 and issue 2, bad input: each wrong file is named with its line, the rest goes in, the exit code is 0."""
    result = messy.ok("knowledge", "import", "docs", "--json")
    problems = {problem["file"]: problem for problem in result.object()["problems"]}
    assert {name: problem["line"] for name, problem in problems.items()} == {n: line for n, (_, line) in WRONG.items()}
    for name, (_, line) in WRONG.items():
        mark = f"{name}:{line}: " if line else f"{name}: "
        assert sum(row.startswith(mark) for row in result.err.splitlines()) == 1, name
    names = {document for _, document in documents(messy)}
    assert names == {"good.md", "pairs.csv", "pairs.json"}
    assert messy.ask("what does the windmill grind")["sources"][0]["document"] == "good.md"


def test_wrong_files_are_named_in_chinese(messy: Machine) -> None:
    """Issue 2, bad input: an admin who reads Chinese gets the same lines in Chinese."""
    result = messy.ok("knowledge", "import", "docs", lang="zh_cn")
    lines = [line for line in result.said.splitlines() if line.startswith(tuple(WRONG))]
    assert len(lines) == len(WRONG)
    assert all("已跳过" in line for line in lines)


def test_an_unknown_audience_is_for_nobody(machine: Machine) -> None:
    """KN-05: an audience that is not understood means nobody, and the import says so."""
    machine.write("docs/mill.md", "---\naudience: friends of mine\n---\n" + WORDS)
    problem = report(machine, "docs")["problems"][0]
    assert (problem["file"], problem["line"]) == ("mill.md", 2)
    assert "friends of mine" in problem["text"]
    assert machine.ask("what does the windmill grind", "--permission", "4", code=3)["sources"] == []


def test_broken_front_matter_withdraws_what_was_known(machine: Machine) -> None:
    """KN-01: when front matter breaks, the old text goes too, since its audience is no longer known."""
    machine.write("docs/mill.md", "---\ntitle: Mill\n---\n" + WORDS)
    report(machine, "docs")
    machine.write("docs/mill.md", "---\ntitle Mill\naudience: 4\n---\n" + WORDS)
    assert "mill.md:2: " in machine.run("knowledge", "import", "docs").err
    assert machine.ask("what does the windmill grind", code=3)["sources"] == []


def test_a_second_run_touches_only_what_changed(machine: Machine) -> None:
    """KN-01: the second run counts and writes what changed, and drops what was deleted."""
    for name in ("one", "two", "three", "four"):
        machine.write(f"docs/{name}.md", f"# {name}\n\nThe {name} lantern hangs over gate {name}.\n")
    assert report(machine, "docs")["added"] == 4
    before = machine.shared.read_bytes()
    again = report(machine, "docs")
    assert [again[key] for key in ("added", "changed", "removed", "unchanged")] == [0, 0, 0, 4]
    assert machine.shared.read_bytes() == before
    machine.write("docs/two.md", "# two\n\nThe second lantern fell into the moat.\n")
    (machine.folder / "docs/three.md").unlink()
    machine.write("docs/five.md", "# five\n\nA fifth lantern was bought.\n")
    third = report(machine, "docs")
    assert [third[key] for key in ("added", "changed", "removed", "unchanged")] == [1, 1, 1, 2]
    names = {document for _, document in documents(machine)}
    assert names == {"one.md", "two.md", "four.md", "five.md"}
    assert "moat" in machine.ask("where is the second lantern")["text"]


def test_another_folder_is_left_alone(machine: Machine) -> None:
    """KN-01: an import removes nothing of another folder's, nor of a player's."""
    machine.write("docs/mill.md", WORDS)
    machine.write("more/gate.md", "# Gate\n\nThe gate is closed at night.\n")
    report(machine, "docs")
    report(machine, "docs", "--player", "Alex")
    assert report(machine, "more")["removed"] == 0
    assert set(documents(machine)) == {("en_us", "mill.md"), ("en_us", "gate.md")}
    assert set(documents(machine, "--player", "Alex")) == {("en_us", "mill.md")}


def test_a_missing_folder_changes_nothing(machine: Machine) -> None:
    """KN-01: a folder that is gone, or is a file, is an error and nothing is removed."""
    machine.write("docs/mill.md", WORDS)
    report(machine, "docs")
    (machine.folder / "docs").rename(machine.folder / "elsewhere")
    for folder in ("docs", "elsewhere/mill.md"):
        result = machine.run("knowledge", "import", folder)
        assert (result.code, result.out, len(result.err.splitlines())) == (1, "", 1)
        assert folder in result.err
    assert set(documents(machine)) == {("en_us", "mill.md")}


def test_watching_a_folder(machine: Machine) -> None:
    """KN-01: --watch imports each change by itself until it is stopped."""
    machine.write("docs/mill.md", WORDS)
    process = machine.start("knowledge", "import", "docs", "--watch")
    try:
        wait_until(machine.shared.exists, "the first import")
        before = machine.shared.read_bytes()
        for n in range(200):  # watching may begin a moment after the import
            machine.write("docs/gate.md", f"# Gate\n\nThe gate number {n} is closed at night.\n")
            time.sleep(0.3)
            if machine.shared.read_bytes() != before:
                break
        assert process.poll() is None
        assert ("en_us", "gate.md") in documents(machine)
    finally:
        process.terminate()
        finish(process)


def test_show_one_document(library: Machine) -> None:
    """KN-02: show prints one document as stored; a wrong name is one sentence and exit code 1."""
    row = library.ok("knowledge", "show", "claims.md", "--json").array()[0]
    assert (row["document"], row["title"], row["language"]) == ("claims.md", "Land claims", "en_us")
    assert "Type /abandonclaim" in row["text"]
    assert "Type /abandonclaim" in library.ok("knowledge", "show", "claims.md").out
    missing = library.run("knowledge", "show", "nothing.md")
    assert (missing.code, missing.out, len(missing.err.splitlines())) == (1, "", 1)
    assert "nothing.md" in missing.err


def test_remove_one_document(library: Machine) -> None:
    """KN-02: remove takes one document out, the rest stays; a wrong name, or another scope, removes nothing."""
    for words in (("claims.md", "--player", "Alex"), ("diary.md",)):
        assert library.run("knowledge", "remove", *words).code == 1
    library.ok("knowledge", "remove", "claims.md")
    assert {path for _, path in documents(library)} == {"faq.csv", "zh/lingdi.md"}
    assert library.ask("how do I claim land", code=3)["sources"] == []


def test_list_by_language(library: Machine) -> None:
    """KN-02: list shows all languages, or the one asked for, and a player's own only with --player."""
    assert {language for language, _ in documents(library)} == {"en_us", "zh_cn"}
    only = library.ok("knowledge", "list", "--json", lang="zh_cn").array()
    assert [row["document"] for row in only] == ["zh/lingdi.md"]
    assert set(documents(library, "--player", "Alex")) == {("en_us", "diary.md")}


def test_search_shows_scores_and_hits(library: Machine) -> None:
    """Issue 2, one JSON shape: best first, `hit` says what counts as a match."""
    rows = library.ok("knowledge", "search", "claim land", "--json").array()
    kinds = {"document": str, "title": str, "score": float, "hit": bool, "text": str}
    assert {name: type(rows[0][name]) for name in kinds} == kinds
    assert (rows[0]["document"], rows[0]["hit"]) == ("claims.md", True)
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)
    weak = library.ok("knowledge", "search", "hold your horses at the chess tournament", "--json").array()
    assert weak
    assert not any(row["hit"] for row in weak)


def test_search_obeys_language_scope_and_limit(library: Machine) -> None:
    """QA-02, DB-05: search looks into one language of one scope, at most as many passages as asked for."""
    assert library.ok("knowledge", "search", "secret base", "--json").array() == []
    own = library.ok("knowledge", "search", "secret base", "--player", "Alex", "--json").array()
    assert own[0]["document"] == "diary.md"
    assert len(library.ok("knowledge", "search", "claim land", "--limit", "1", "--json").array()) == 1
