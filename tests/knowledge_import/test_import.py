"""Importing a folder: what goes in, what is said about the rest, and that a second run touches only what changed."""

import os
import unicodedata
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.knowledge import KNOWLEDGE, Audience, Document, Knowledge, Viewer
from mcsystem.knowledge_import import (
    ImportReport,
    Progress,
    collection_of,
    forget_import,
    import_folder,
    imported_folders,
    reload_imports,
)
from mcsystem.knowledge_import import reading as reading_module
from mcsystem.resources import Texts
from mcsystem.storage import Database, Databases


def write(folder: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)


def documents(database: Database, language: str = "en_us") -> dict[str, str]:
    return {one.path: one.text for one in KNOWLEDGE.list(database, language)}


def troubles(report: ImportReport) -> list[tuple[str, int | None, str]]:
    return [(problem.file, problem.line, problem.reason) for problem in report.problems]


def test_every_format_goes_in(shared: Database, folder: Path) -> None:
    """Markdown, text, CSV and JSON become documents and pairs, with title, language, audience and address."""
    write(
        folder,
        {
            "rules.md": "---\ntitle: The rules\naudience: 2\nurl: https://example.org\n---\n# Ignored\n\nNo griefing.",
            "sub/land-claims.markdown": "# Claims\n\nUse the shovel.",
            "how_to_join.txt": "# not a heading\nJust join.",
            "faq.csv": "question,answer\nWhere is spawn?,At x 0.\n",
            "faq.json": '[{"question": "在哪?", "answer": "这里", "language": "zh_cn"}]',
            "picture.png": b"\x89PNG",
        },
    )
    report = import_folder(shared, folder, language="en_us", collection="c")
    assert (report.added, report.files, report.ignored, report.problems) == (5, 5, 1, ())
    found = {one.path: one for one in KNOWLEDGE.list(shared, "en_us")}
    assert found["rules.md"] == Document(
        "rules.md",
        "en_us",
        "The rules",
        "# Ignored\n\nNo griefing.",
        Audience.at_least(2),
        "c",
        "https://example.org",
    )
    assert found["sub/land-claims.markdown"].title == "Claims"
    assert found["how_to_join.txt"].title == "how to join"
    pair = found["faq.csv"]
    assert (pair.title, pair.text, pair.kind) == ("Where is spawn?", "At x 0.", "answer")
    assert [(one.path, one.title) for one in KNOWLEDGE.list(shared, "zh_cn")] == [("faq.json", "在哪?")]


def test_a_question_is_found_by_its_words(databases: Databases, folder: Path) -> None:
    """A pair is found by the words of its question though its answer has none of them."""
    write(folder, {"faq.csv": "question,answer\nWhere do we spawn?,At the old pier.\n"})
    import_folder(databases.shared(), folder, language="en_us")
    found = Knowledge(databases).search(databases.shared(), KNOWLEDGE, "en_us", "spawn")[0]
    assert (found.document, found.title, found.text, found.hit) == (
        "faq.csv",
        "Where do we spawn?",
        "At the old pier.",
        True,
    )


def test_each_wrong_file_is_named_and_the_rest_goes_in(shared: Database, folder: Path) -> None:
    """Every kind of broken file has its problem with file and line, and does not keep the good ones out."""
    write(
        folder,
        {
            "a-good.md": "good",
            "binary.md": b"\x89PNG\r\n\x1a\n\0\0",
            "broken.md": "---\ntitle x\n---\nbody",
            "empty.txt": " \n",
            "faq.csv": "question,answer\nq,a\nonly\n",
            "hollow.md": "---\ntitle: x\n---\n\n",
            "klingon.md": "---\nlanguage: klingon!\n---\nbody",
            "latin.txt": "caf\xe9 \xe0 la carte".encode("latin-1"),
            "open.md": "---\naudience: 2\nbody",
            "pairs.json": '[{"question": "q", "answer": "a"},\n"q": 1]',
            "z-good.txt": "good too",
        },
    )
    report = import_folder(shared, folder, language="en_us")
    assert troubles(report) == [
        ("binary.md", None, "binary"),
        ("broken.md", 2, "front_matter_line"),
        ("empty.txt", None, "empty"),
        ("faq.csv", 3, "pair_incomplete"),
        ("hollow.md", 4, "empty"),
        ("klingon.md", 2, "language"),
        ("latin.txt", 1, "encoding"),
        ("open.md", 1, "front_matter_open"),
        ("pairs.json", 2, "json_syntax"),
    ]
    assert all(problem.skipped for problem in report.problems)
    assert set(documents(shared)) == {"a-good.md", "faq.csv", "z-good.txt"}


def test_warnings_leave_the_file_in(databases: Databases, folder: Path) -> None:
    """An unknown audience is nobody, a guessed name and a rare language are said; the documents go in."""
    shared = databases.shared()
    write(
        folder,
        {
            "a.md": "---\naudience: staff only\n---\nthe zebra",
            "b.md": "---\naudience: Alex\n---\nthe zebra",
            "c.md": "---\nlanguage: en_uk\n---\nthe zebra",
            "d.md": "---\nurl: javascript:alert(1)\n---\nthe zebra",
        },
    )
    report = import_folder(shared, folder, language="en_us")
    assert troubles(report) == [
        ("a.md", 2, "audience"),
        ("b.md", 2, "audience_name"),
        ("c.md", 2, "language_rare"),
        ("d.md", 2, "url"),
    ]
    assert not any(problem.skipped for problem in report.problems)
    knowledge = Knowledge(databases)

    def seen(name: str) -> list[str]:
        viewer = Viewer(UUID(int=1), name, 4)
        return sorted(one.document for one in knowledge.search(shared, KNOWLEDGE, "en_us", "zebra", viewer=viewer))

    assert (seen("Steve"), seen("Alex")) == (["d.md"], ["b.md", "d.md"])
    assert KNOWLEDGE.find(shared, "en_us", "d.md")[0].url is None


def test_every_problem_has_a_sentence_in_both_languages(shared: Database, folder: Path) -> None:
    """A problem's key leads to a text in English and Chinese whose slots are all filled."""
    write(folder, {"a.md": "---\ntitle: a\ntitle: b\n---\nx", "b.md": "", "c.md": "---\naudience: hm?\n---\nx"})
    texts = Texts.packaged()
    problems = import_folder(shared, folder, language="en_us").problems
    for problem in problems:
        english, chinese = (texts.tr(language, problem.key, **problem.details) for language in ("en_us", "zh_cn"))
        assert english != chinese
        assert not any(text.startswith("knowledge.") or "${" in text for text in (english, chinese))
    assert [problem.place for problem in problems] == ["a.md:3", "b.md", "c.md:2"]


def test_a_second_run_touches_only_what_changed(shared: Database, folder: Path) -> None:
    """Unchanged files are not written again; changed ones are replaced, missing ones go, and one write does it all."""
    write(folder, {"a.md": "a", "b.md": "b", "c.md": "c", "faq.csv": "q1,a1\nq2,a2\n"})
    first = import_folder(shared, folder, language="en_us")
    assert (first.added, first.changed, first.removed, first.unchanged) == (5, 0, 0, 0)
    revision = shared.revision
    again = import_folder(shared, folder, language="en_us")
    assert (again.added, again.changed, again.removed, again.unchanged, again.passages) == (0, 0, 0, 5, 0)
    assert shared.revision == revision
    write(folder, {"b.md": "new", "d.md": "d", "faq.csv": "q0,a0\nq1,a1\nq2,other\n"})
    (folder / "a.md").unlink()
    third = import_folder(shared, folder, language="en_us")
    assert (third.added, third.changed, third.removed, third.unchanged) == (2, 2, 1, 2)
    assert shared.revision > revision
    assert documents(shared)["b.md"] == "new"
    assert "a.md" not in documents(shared)


def test_two_folders_do_not_disturb_one_another(shared: Database, tmp_path: Path) -> None:
    """Folders with files of the same name keep their own documents; so does what was written in the game."""
    one, two = tmp_path / "one" / "docs", tmp_path / "two" / "docs"
    write(one, {"a.md": "from one"})
    write(two, {"a.md": "from two"})
    KNOWLEDGE.put(shared, Document("a.md", "en_us", "a", "in game", collection="in-game"))
    for folder in (one, two):
        import_folder(shared, folder, language="en_us")
    (two / "a.md").unlink()
    assert import_folder(shared, two, language="en_us").removed == 1
    assert {found.text for found in KNOWLEDGE.find(shared, "en_us", "a.md")} == {"from one", "in game"}
    assert collection_of(one) != collection_of(two)


def test_another_default_language_moves_the_documents(shared: Database, folder: Path) -> None:
    """Importing again with the right language moves the documents instead of doubling them."""
    write(folder, {"a.md": "规则"})
    import_folder(shared, folder, language="en_us")
    report = import_folder(shared, folder, language="zh_cn")
    assert (report.added, report.removed) == (1, 1)
    assert KNOWLEDGE.languages(shared) == ("zh_cn",)


@pytest.mark.skipif(os.name == "nt", reason="making links needs rights on Windows")
def test_links_do_not_lead_out(shared: Database, folder: Path, tmp_path: Path) -> None:
    """A link out of the folder is a problem; one to a file inside is followed; loops of folders do not matter."""
    write(tmp_path, {"secret/passwords.md": "secret"})
    write(folder, {"a.md": "a", "sub/b.md": "b"})
    (folder / "out.md").symlink_to(tmp_path / "secret" / "passwords.md")
    (folder / "outside").symlink_to(tmp_path / "secret")
    (folder / "in.md").symlink_to(folder / "a.md")
    (folder / "sub" / "loop").symlink_to(folder)
    (folder / "dead.md").symlink_to(folder / "missing.md")
    report = import_folder(shared, folder, language="en_us")
    assert troubles(report) == [
        ("dead.md", None, "unreadable"),
        ("out.md", None, "link"),
        ("outside", None, "link"),
    ]
    assert documents(shared) == {"a.md": "a", "in.md": "a", "sub/b.md": "b"}


@pytest.mark.skipif(os.name == "nt", reason="needs a FIFO and names that are not Unicode")
def test_odd_names_and_kinds_are_said(shared: Database, folder: Path) -> None:
    """Pipes, names that no text can hold, and one name in two forms of Unicode are problems; hidden files are not."""
    composed, apart = "caf\u00e9.md", unicodedata.normalize("NFD", "caf\u00e9.md")
    write(folder, {composed: "a", apart: "b", ".hidden.md": "x", ".git/x.md": "x", "a\nb.md": "x"})
    (Path(os.fsdecode(os.fsencode(folder) + b"/\xff.md"))).write_text("x")
    os.mkfifo(folder / "pipe.md")
    report = import_folder(shared, folder, language="en_us")
    assert [reason for _, _, reason in troubles(report)] == ["path", "path", "duplicate", "kind"]
    assert set(documents(shared)) == {composed}
    assert all(problem.file.isprintable() or "\n" in problem.file for problem in report.problems)


def test_large_files_are_left_out(shared: Database, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file over the limit is a problem that says the limit."""
    monkeypatch.setattr(reading_module, "FILE_BYTES", 1_000)
    write(folder, {"a.md": "x" * 1_001, "b.md": "x" * 1_000})
    report = import_folder(shared, folder, language="en_us")
    assert troubles(report) == [("a.md", None, "large")]
    assert set(documents(shared)) == {"b.md"}


def test_an_unreadable_folder_keeps_what_is_known(
    shared: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be looked at in this moment is not taken for deleted; what is deleted beside it is."""
    write(folder, {"a.md": "a", "sub/b.md": "b", "sub/sub/c.md": "c", "sub.md": "d"})
    import_folder(shared, folder, language="en_us")
    (folder / "sub.md").unlink()
    real = os.scandir

    def failing(place: Path) -> object:
        if Path(place).name == "sub":
            raise PermissionError(13, "permission denied")
        return real(place)

    monkeypatch.setattr("mcsystem.knowledge_import.folder.os.scandir", failing)
    report = import_folder(shared, folder, language="en_us")
    assert (report.removed, troubles(report)) == (1, [("sub/", None, "unreadable")])
    assert set(documents(shared)) == {"a.md", "sub/b.md", "sub/sub/c.md"}


def test_a_file_that_fails_while_read_keeps_what_is_known(
    shared: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk error on one file is a problem of that file; its document stays."""
    write(folder, {"a.md": "a", "b.md": "b"})
    import_folder(shared, folder, language="en_us")
    real = reading_module._bytes  # pyright: ignore[reportPrivateUsage]

    def failing(file: reading_module.SourceFile) -> bytes:
        if file.path == "a.md":
            raise OSError(5, "input/output error")
        return real(file)

    monkeypatch.setattr(reading_module, "_bytes", failing)
    report = import_folder(shared, folder, language="en_us")
    assert troubles(report) == [("a.md", None, "unreadable")]
    assert (report.removed, set(documents(shared))) == (0, {"a.md", "b.md"})


@pytest.mark.parametrize("place", ["missing", "file.md"])
def test_a_folder_that_is_none_changes_nothing(shared: Database, folder: Path, place: str) -> None:
    """A folder that is missing or a file is KNOWLEDGE_FOLDER_INVALID, and no document goes."""
    write(folder, {"file.md": "x"})
    import_folder(shared, folder, language="en_us", collection="c")
    with pytest.raises(AssistantError) as raised:
        import_folder(shared, folder / place, language="en_us", collection="c")
    assert raised.value.code is ErrorCode.KNOWLEDGE_FOLDER_INVALID
    assert set(documents(shared)) == {"file.md"}


def test_an_unknown_default_language_is_refused(shared: Database, folder: Path) -> None:
    """The import's own language must be one."""
    with pytest.raises(AssistantError) as raised:
        import_folder(shared, folder, language="English")
    assert raised.value.code is ErrorCode.LANGUAGE_UNKNOWN


def test_progress_is_told_and_stop_writes_nothing(shared: Database, folder: Path) -> None:
    """Progress counts files and bytes up to the totals; an import that is stopped leaves everything as it was."""
    write(folder, {f"{number}.md": "x" * number for number in range(1, 5)})
    steps: list[Progress] = []
    report = import_folder(shared, folder, language="en_us", progress=steps.append, stop=lambda: len(steps) == 2)
    assert (report.stopped, report.added, documents(shared), imported_folders(shared)) == (True, 0, {}, {})
    steps.clear()
    import_folder(shared, folder, language="en_us", progress=steps.append)
    assert [(step.files, step.total_files, step.read_bytes, step.total_bytes) for step in steps] == [
        (1, 4, 1, 10),
        (2, 4, 3, 10),
        (3, 4, 6, 10),
        (4, 4, 10, 10),
    ]


def test_reload_imports_every_folder_again(shared: Database, tmp_path: Path) -> None:
    """Folders are remembered with their language; one that is gone is reported and keeps its documents."""
    for name, language in (("one", "en_us"), ("two", "zh_cn")):
        write(tmp_path / name, {"a.md": f"{name} first"})
        import_folder(shared, tmp_path / name, language=language, collection=name)
    write(tmp_path / "one", {"a.md": "one second"})
    (tmp_path / "two").rename(tmp_path / "moved")
    first, second = reload_imports(shared)
    assert (first.collection, first.changed, first.problems) == ("one", 1, ())
    assert second.problems[0].code is ErrorCode.KNOWLEDGE_FOLDER_INVALID
    assert documents(shared) == {"a.md": "one second"}
    assert documents(shared, "zh_cn") == {"a.md": "two first"}


def test_a_forgotten_folder_is_gone(shared: Database, folder: Path) -> None:
    """`forget_import` removes a folder's documents and the memory of it; a second time there is nothing."""
    write(folder, {"a.md": "a", "faq.csv": "Who?,me\n"})
    import_folder(shared, folder, language="en_us", collection="c")
    assert forget_import(shared, "c") == 2
    assert (documents(shared), imported_folders(shared)) == ({}, {})
    with pytest.raises(AssistantError) as raised:
        forget_import(shared, "c")
    assert raised.value.code is ErrorCode.KNOWLEDGE_NOT_FOUND


def test_one_question_twice_is_two_answers(shared: Database, folder: Path) -> None:
    """The same question with another answer is kept beside the first one."""
    write(folder, {"faq.csv": "q,a1\nQ,a2\n"})
    assert import_folder(shared, folder, language="en_us").added == 2
    assert sorted(one.text for one in KNOWLEDGE.list(shared, "en_us")) == ["a1", "a2"]


NAMES = st.sampled_from(["a.md", "b.txt", "sub/c.md", "faq.csv", "faq.json", "x.png", "sub/d.markdown"])
SNIPPETS = st.sampled_from(
    ["---\n", "title: t\n", "language: zh_cn\n", "audience: 2\n", "audience: odd one\n", "# H\n", "q,a\n", '"', "[",
     "]", "\n", '{"question": "q", "answer": "a"}', ",", "words here\n", "问题,答案\n", "\0", "\ud800"]
)  # fmt: skip
CONTENTS = st.lists(SNIPPETS, max_size=8).map(
    lambda parts: "".join(parts).encode("utf-8", "surrogatepass")
) | st.binary(max_size=40)
FOLDERS = st.dictionaries(NAMES, CONTENTS, max_size=6)


@given(first=FOLDERS, second=FOLDERS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_importing_twice_equals_importing_the_second_alone(
    databases: Databases, tmp_path: Path, first: dict[str, bytes], second: dict[str, bytes]
) -> None:
    """No files raise, and after import(A), import(B) everything is as after import(B) alone, problems included."""
    one, two = databases.player(UUID(int=1)), databases.player(UUID(int=2))
    folder = tmp_path / "folder"
    folder.mkdir(exist_ok=True)

    def run(database: Database, files: dict[str, bytes]) -> ImportReport:
        for place in [*folder.rglob("*.*")]:
            place.unlink()
        write(folder, dict(files))
        return import_folder(database, folder, language="en_us", collection="c")

    for database in (one, two):
        database.replace(KNOWLEDGE.table, {})
    run(one, first)
    twice, alone = run(one, second), run(two, second)
    assert one.entries(KNOWLEDGE.table) == two.entries(KNOWLEDGE.table)
    assert twice.problems == alone.problems
    assert twice.documents == alone.documents == len(two.keys(KNOWLEDGE.table)) == run(two, second).unchanged
