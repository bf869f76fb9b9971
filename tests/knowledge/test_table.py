"""The document table: one row a document, long bodies in parts, languages and collections apart."""

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.knowledge import FTB_GUIDES, KNOWLEDGE, QUEST_BACKGROUNDS, Audience, Document, split_key
from mcsystem.storage import Database, Databases

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=40)


def note(path: str, text: str = "text", language: str = "en_us", collection: str = "") -> Document:
    return Document(path, language, path, text, collection=collection)


def test_the_table_ids_are_fixed() -> None:
    """Worlds are opened by later versions: the IDs never change."""
    assert (KNOWLEDGE.id, FTB_GUIDES.id, QUEST_BACKGROUNDS) == (
        "system:knowledge",
        "system:ftb_guides",
        "system:quest_backgrounds",
    )


def test_documents_are_listed_by_language_and_key(shared: Database) -> None:
    """`list` gives the documents of one language alone, in the order of their keys; `languages` those there are."""
    for document in (note("b.md"), note("a.md"), note("a.md", language="zh_cn"), note("a.md", collection="x-1")):
        KNOWLEDGE.put(shared, document)
    assert [one.key for one in KNOWLEDGE.list(shared, "en_us")] == ["en_us//a.md", "en_us//b.md", "en_us/x-1/a.md"]
    assert KNOWLEDGE.languages(shared) == ("en_us", "zh_cn")
    assert KNOWLEDGE.list(shared, "fr_fr") == []
    assert [one.collection for one in KNOWLEDGE.find(shared, "en_us", "a.md")] == ["", "x-1"]


def test_an_empty_world_has_no_languages_and_no_file(databases: Databases) -> None:
    """Looking at an empty table writes nothing."""
    assert KNOWLEDGE.languages(databases.shared()) == ()
    assert not [*databases.world.rglob("*.dat")]


def test_replace_keeps_other_languages(shared: Database) -> None:
    """`replace` makes the given documents the only ones of their language."""
    for document in (note("a.md"), note("b.md"), note("a.md", language="zh_cn")):
        KNOWLEDGE.put(shared, document)
    KNOWLEDGE.replace(shared, "en_us", [note("b.md", "new"), note("c.md")])
    assert [(one.path, one.text) for one in KNOWLEDGE.list(shared, "en_us")] == [("b.md", "new"), ("c.md", "text")]
    assert len(KNOWLEDGE.list(shared, "zh_cn")) == 1
    with pytest.raises(AssistantError) as raised:
        KNOWLEDGE.replace(shared, "en_us", [note("d.md", language="zh_cn")])
    assert raised.value.code is ErrorCode.LANGUAGE_UNKNOWN
    assert len(KNOWLEDGE.list(shared, "en_us")) == 2


def test_remove_takes_one_collection_or_all(shared: Database) -> None:
    """`remove` says how many documents it took; with nothing there it is KNOWLEDGE_NOT_FOUND."""
    for collection in ("", "x", "y"):
        KNOWLEDGE.put(shared, note("a.md", collection=collection))
    assert KNOWLEDGE.remove(shared, "en_us", "a.md", collection="x") == 1
    assert KNOWLEDGE.remove(shared, "en_us", "a.md") == 2
    for act in (KNOWLEDGE.remove, KNOWLEDGE.find):
        with pytest.raises(AssistantError) as raised:
            act(shared, "en_us", "a.md")
        assert raised.value.code is ErrorCode.KNOWLEDGE_NOT_FOUND


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (note("a.md", language="EN-us"), ErrorCode.LANGUAGE_UNKNOWN),
        (note("a.md", language="english"), ErrorCode.LANGUAGE_UNKNOWN),
        (note(""), ErrorCode.KNOWLEDGE_FILE_INVALID),
        (note("a\n.md"), ErrorCode.KNOWLEDGE_FILE_INVALID),
        (note("a\ud800.md"), ErrorCode.KNOWLEDGE_FILE_INVALID),
        (note("a.md#0123456789"), ErrorCode.KNOWLEDGE_FILE_INVALID),
        (note("a.md", collection="x/y"), ErrorCode.KNOWLEDGE_FILE_INVALID),
        (Document("a.csv", "en_us", "t", "x", entry="not hex"), ErrorCode.KNOWLEDGE_FILE_INVALID),
    ],
)
def test_what_no_key_can_hold_is_refused(shared: Database, document: Document, code: ErrorCode) -> None:
    """A document whose key would not lead back to it is refused, and nothing is stored."""
    with pytest.raises(AssistantError) as raised:
        KNOWLEDGE.put(shared, document)
    assert raised.value.code is code
    assert KNOWLEDGE.languages(shared) == ()


@given(
    text=st.lists(WORDS, max_size=5),
    times=st.integers(1, 9_000),
    level=st.integers(-1, 4),
    url=st.none() | st.just("https://x"),
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_long_bodies_come_back_unchanged(
    shared: Database, text: list[str], times: int, level: int, url: str | None
) -> None:
    """Any body of any length comes back letter for letter, NUL and characters beyond U+FFFF included."""
    body = "\0😀长".join(text) * times
    document = Document("a.md", "en_us", "T", body[:400_000], Audience(level), "c", url)
    KNOWLEDGE.put(shared, document)
    assert KNOWLEDGE.list(shared, "en_us") == [document]


def test_half_characters_become_replacement_characters(shared: Database) -> None:
    """A surrogate that no file can hold is replaced instead of making the write fail; a pair is joined."""
    KNOWLEDGE.put(shared, note("a.md", "x\ud83dy \ud83d\ude00"))
    assert KNOWLEDGE.list(shared, "en_us")[0].text == "x\ufffdy 😀"


def test_a_changed_document_is_one_row(shared: Database) -> None:
    """Putting one of many documents changes the revision once; putting the same again does not."""
    KNOWLEDGE.replace(shared, "en_us", [note(f"{number}.md") for number in range(50)])
    before = shared.table_revision(KNOWLEDGE.id)
    KNOWLEDGE.put(shared, note("7.md", "new"))
    after = shared.table_revision(KNOWLEDGE.id)
    KNOWLEDGE.put(shared, note("7.md", "new"))
    assert before < after == shared.table_revision(KNOWLEDGE.id)


def test_the_parts_of_a_key_are_found_again() -> None:
    """A key is taken apart into what it was made of."""
    document = Document("a/b #1.csv", "en_us", "t", "x", collection="c-1", kind="answer", entry="0123456789ab-2")
    place = split_key(document.key)
    assert (place.language, place.collection, place.path, place.entry) == ("en_us", "c-1", "a/b #1.csv", document.entry)


def test_nothing_is_read_on_the_event_loop(shared: Database) -> None:
    """On a thread that runs an event loop every use of the table is refused."""

    async def use() -> None:
        KNOWLEDGE.list(shared, "en_us")

    with pytest.raises(AssistantError) as raised:
        asyncio.run(use())
    assert raised.value.code is ErrorCode.STORAGE_ON_LOOP
