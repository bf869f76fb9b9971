"""Search over documents: scopes and languages apart, audiences before ranking, never from what is gone."""

import asyncio
import threading
from collections.abc import Callable
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.knowledge import FTB_GUIDES, KNOWLEDGE, Audience, Document, Found, Knowledge, Viewer
from mcsystem.knowledge import search as search_module
from mcsystem.storage import Database, Databases

ALEX = Viewer(UUID(int=7), "Alex", 0)
OPERATOR = Viewer(UUID(int=8), "Boss", 2)


@pytest.fixture
def knowledge(databases: Databases) -> Knowledge:
    """Search in a fresh world."""
    return Knowledge(databases)


def put(database: Database, path: str, text: str, *, audience: str = "all", language: str = "en_us") -> None:
    KNOWLEDGE.put(database, Document(path, language, path, text, Audience.parse(audience)))


def paths(found: list[Found]) -> list[str]:
    return [one.document for one in found]


def test_a_passage_carries_its_source(knowledge: Knowledge, shared: Database) -> None:
    """A found passage says which document it is from, its title path, all of its text, and the revision searched."""
    text = "intro\n\n## Gates\n\nThe copper gate opens at dawn."
    KNOWLEDGE.put(shared, Document("a/b.md", "en_us", "City", text, collection="c-1", url="https://example.org/b"))
    best = knowledge.search(shared, KNOWLEDGE, "en_us", "copper gate")[0]
    assert (best.document, best.collection, best.title) == ("a/b.md", "c-1", "City > Gates")
    assert best.text == "The copper gate opens at dawn."
    assert best.url == "https://example.org/b"
    assert best.hit
    assert 0 < best.score <= 1
    assert best.revision == shared.table_revision(KNOWLEDGE.id)


def test_scopes_are_never_merged(knowledge: Knowledge, databases: Databases) -> None:
    """A search of one scope finds nothing of the shared one, another player's, or another table."""
    own, other = databases.player(UUID(int=1)), databases.player(UUID(int=2))
    put(own, "own.md", "a zebra of mine")
    put(other, "other.md", "a zebra of theirs")
    put(databases.shared(), "shared.md", "a zebra of all")
    FTB_GUIDES.put(databases.shared(), Document("quest", "en_us", "Quest", "a zebra quest"))
    assert paths(knowledge.search(own, KNOWLEDGE, "en_us", "zebra")) == ["own.md"]
    assert paths(knowledge.search(other, KNOWLEDGE, "en_us", "zebra")) == ["other.md"]
    assert paths(knowledge.search(databases.shared(), KNOWLEDGE, "en_us", "zebra")) == ["shared.md"]
    assert paths(knowledge.search(databases.shared(), FTB_GUIDES, "en_us", "zebra")) == ["quest"]
    assert knowledge.search(own, FTB_GUIDES, "en_us", "zebra") == []


def test_languages_do_not_stand_in_for_one_another(knowledge: Knowledge, shared: Database) -> None:
    """A language without documents has no answers, though a neighbour has; a code that is none is refused."""
    put(shared, "a.md", "the zebra", language="en_us")
    assert knowledge.search(shared, KNOWLEDGE, "en_gb", "zebra") == []
    assert knowledge.search(shared, KNOWLEDGE, "zh_cn", "zebra") == []
    assert paths(knowledge.search(shared, KNOWLEDGE, "EN-us", "zebra")) == ["a.md"]
    with pytest.raises(AssistantError) as raised:
        knowledge.search(shared, KNOWLEDGE, "klingon!", "zebra")
    assert raised.value.code is ErrorCode.LANGUAGE_UNKNOWN


def test_at_most_five_passages_unless_asked(knowledge: Knowledge, shared: Database) -> None:
    """Five passages are the most one scope gives; a smaller limit is kept."""
    for number in range(9):
        put(shared, f"{number}.md", "a zebra")
    assert len(knowledge.search(shared, KNOWLEDGE, "en_us", "zebra")) == 5
    assert len(knowledge.search(shared, KNOWLEDGE, "en_us", "zebra", limit=2)) == 2


def test_what_is_removed_or_replaced_never_answers(knowledge: Knowledge, shared: Database) -> None:
    """After a change the old text is not found, and the new one is, in the very next search."""
    put(shared, "a.md", "the old zebra")
    put(shared, "b.md", "a quagga")
    assert paths(knowledge.search(shared, KNOWLEDGE, "en_us", "zebra")) == ["a.md"]
    put(shared, "a.md", "a new giraffe")
    assert knowledge.search(shared, KNOWLEDGE, "en_us", "zebra") == []
    assert paths(knowledge.search(shared, KNOWLEDGE, "en_us", "giraffe")) == ["a.md"]
    KNOWLEDGE.remove(shared, "en_us", "a.md")
    assert knowledge.search(shared, KNOWLEDGE, "en_us", "giraffe") == []


def test_other_tables_do_not_cost_a_rebuild(
    knowledge: Knowledge, shared: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index is built once and kept while its table does not change; a change analyses the changed document alone."""
    analysed = _counted(monkeypatch)
    put(shared, "a.md", "one zebra")
    put(shared, "b.md", "two zebras")
    knowledge.prepare_index(shared, KNOWLEDGE, "en_us")
    FTB_GUIDES.put(shared, Document("quest", "en_us", "Quest", "a quest"))
    knowledge.search(shared, KNOWLEDGE, "en_us", "zebra")
    assert analysed == ["one zebra", "two zebras"]
    put(shared, "b.md", "three zebras")
    assert len(knowledge.search(shared, KNOWLEDGE, "en_us", "zebra")) == 2
    assert analysed == ["one zebra", "two zebras", "three zebras"]


def _counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    analysed: list[str] = []
    real = search_module.Builder.__init__.__globals__["analyse"]

    def counting(title: str, text: str) -> object:
        analysed.append(text)
        return real(title, text)

    monkeypatch.setitem(search_module.Builder.__init__.__globals__, "analyse", counting)
    return analysed


ANIMALS = st.sampled_from(["zebra", "quagga", "giraffe", "okapi", "the", "gate", "copper"])
TEXTS = st.lists(ANIMALS, min_size=1, max_size=6).map(" ".join)
AUDIENCES = st.sampled_from(["all", "2", "[Alex]", "players: Alex", "players: Steve", "nobody", "4"])


@given(
    documents=st.lists(st.tuples(TEXTS, AUDIENCES), max_size=12),
    query=TEXTS,
    admin=st.booleans(),
    operator=st.booleans(),
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_hidden_documents_leave_no_trace(
    databases: Databases, documents: list[tuple[str, str]], query: str, *, admin: bool, operator: bool
) -> None:
    """What a viewer finds, scores and evidence included, equals a search of a table of the admitted ones."""
    viewer = None if admin else OPERATOR if operator else ALEX
    made = [
        Document(f"{number}.md", "en_us", f"T{number}", text, Audience.parse(audience))
        for number, (text, audience) in enumerate(documents)
    ]
    whole, part = databases.player(UUID(int=1)), databases.player(UUID(int=2))
    KNOWLEDGE.replace(whole, "en_us", made)
    KNOWLEDGE.replace(part, "en_us", [one for one in made if one.audience.admits(viewer)])
    knowledge = Knowledge(databases)
    found = knowledge.search(whole, KNOWLEDGE, "en_us", query, viewer=viewer)
    wanted = knowledge.search(part, KNOWLEDGE, "en_us", query)
    assert [_seen(one) for one in found] == [_seen(one) for one in wanted]


def _seen(one: Found) -> tuple[object, ...]:
    return (one.document, one.title, one.text, one.score, one.hit, one.evidence, one.fingerprint)


def test_only_the_allowed_documents_count(knowledge: Knowledge, shared: Database) -> None:
    """With allowed paths, only those documents are searched; an empty set allows nothing."""
    for name in ("a", "b", "c"):
        put(shared, name, "a zebra")
    found = knowledge.search(shared, KNOWLEDGE, "en_us", "zebra", allowed_ids={"a", "c", "unknown"})
    assert sorted(paths(found)) == ["a", "c"]
    assert knowledge.search(shared, KNOWLEDGE, "en_us", "zebra", allowed_ids=()) == []
    assert knowledge.search(shared, KNOWLEDGE, "en_us", "zebra", allowed_ids={"a"}, viewer=ALEX)[0].document == "a"


def test_a_fingerprint_changes_with_text_and_audience_of_its_passage(knowledge: Knowledge, shared: Database) -> None:
    """The fingerprint of a passage is another one after its text or audience changed, and stays when others changed."""
    put(shared, "a.md", "# One\n\na zebra\n\n# Two\n\na quagga")
    before = knowledge.search(shared, KNOWLEDGE, "en_us", "zebra")[0].fingerprint
    put(shared, "b.md", "something else")
    put(shared, "a.md", "# One\n\na zebra\n\n# Two\n\na changed quagga")
    assert knowledge.search(shared, KNOWLEDGE, "en_us", "zebra")[0].fingerprint == before
    put(shared, "a.md", "# One\n\na zebra\n\n# Two\n\na changed quagga", audience="2")
    closed = knowledge.search(shared, KNOWLEDGE, "en_us", "zebra")[0].fingerprint
    put(shared, "a.md", "# One\n\na zebra!", audience="2")
    assert len({before, closed, knowledge.search(shared, KNOWLEDGE, "en_us", "zebra")[0].fingerprint}) == 3


def test_a_deleted_player_leaves_nothing(knowledge: Knowledge, databases: Databases) -> None:
    """After a player's database is deleted the old handle is refused and a new one finds nothing of before."""
    own = databases.player(UUID(int=1))
    put(own, "a.md", "my zebra")
    assert knowledge.search(own, KNOWLEDGE, "en_us", "zebra")
    databases.delete_player(UUID(int=1))
    with pytest.raises(AssistantError) as raised:
        knowledge.search(own, KNOWLEDGE, "en_us", "zebra")
    assert raised.value.code is ErrorCode.STORAGE_REVOKED
    assert knowledge.search(databases.player(UUID(int=1)), KNOWLEDGE, "en_us", "zebra") == []
    knowledge.forget(databases.player(UUID(int=1)))


def test_a_storage_error_is_an_error(knowledge: Knowledge, databases: Databases) -> None:
    """A database that cannot be read is never taken for one without material."""
    place = databases.world / "system" / "database" / "shared.dat"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(b"not a database")
    with pytest.raises(AssistantError) as raised:
        knowledge.search(databases.shared(), KNOWLEDGE, "en_us", "zebra")
    assert raised.value.code is ErrorCode.STORAGE_CORRUPT


def test_searching_is_refused_on_the_event_loop(knowledge: Knowledge, shared: Database) -> None:
    """Index and file work belong on workers: a thread that runs an event loop is refused, a worker is not."""
    put(shared, "a.md", "a zebra")

    async def refused() -> None:
        knowledge.search(shared, KNOWLEDGE, "en_us", "zebra")

    async def allowed() -> list[Found]:
        return await asyncio.to_thread(knowledge.search, shared, KNOWLEDGE, "en_us", "zebra")

    for _ in range(2):  # with and without an index at hand
        with pytest.raises(AssistantError) as raised:
            asyncio.run(refused())
        assert raised.value.code is ErrorCode.STORAGE_ON_LOOP
        assert paths(asyncio.run(allowed())) == ["a.md"]


def test_one_thread_builds_and_the_others_wait(
    knowledge: Knowledge, shared: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many first searches at once build one index, and all of them find."""
    analysed = _counted(monkeypatch)
    for number in range(20):
        put(shared, f"{number}.md", f"zebra {number}")
    found: list[list[Found]] = []
    _together(8, lambda: found.append(knowledge.search(shared, KNOWLEDGE, "en_us", "zebra")))
    assert [len(one) for one in found] == [5] * 8
    assert len(analysed) == 20


def test_a_long_rebuild_does_not_hold_up_searches(
    knowledge: Knowledge, shared: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While another thread rebuilds for long, a search answers from the old index, without what was removed since."""
    put(shared, "a.md", "a zebra")
    put(shared, "b.md", "another zebra")
    assert len(knowledge.search(shared, KNOWLEDGE, "en_us", "zebra")) == 2
    monkeypatch.setattr(search_module, "PATIENCE", 0.05)
    began, go = threading.Event(), threading.Event()
    real = search_module.Builder.finish

    def slow(self: search_module.Builder, revision: int) -> object:
        began.set()
        assert go.wait(20)
        return real(self, revision)

    monkeypatch.setattr(search_module.Builder, "finish", slow)
    KNOWLEDGE.remove(shared, "en_us", "a.md")
    put(shared, "c.md", "a third zebra")
    builder = threading.Thread(target=lambda: knowledge.prepare_index(shared, KNOWLEDGE, "en_us"))
    builder.start()
    assert began.wait(20)
    assert paths(knowledge.search(shared, KNOWLEDGE, "en_us", "zebra")) == ["b.md"]
    go.set()
    builder.join()
    assert sorted(paths(knowledge.search(shared, KNOWLEDGE, "en_us", "zebra"))) == ["b.md", "c.md"]


def test_searches_while_documents_change_give_only_what_was_stored(knowledge: Knowledge, shared: Database) -> None:
    """Under constant writes every passage found is the whole text of one version of its document."""
    versions = [f"zebra number {number} " + "word " * number for number in range(40)]
    put(shared, "a.md", versions[0])
    texts: set[str] = set()
    done = threading.Event()

    def reads() -> None:
        while not done.is_set():
            texts.update(one.text for one in knowledge.search(shared, KNOWLEDGE, "en_us", "zebra"))

    reader = threading.Thread(target=reads)
    reader.start()
    for text in versions:
        put(shared, "a.md", text)
    done.set()
    reader.join()
    assert texts <= {text.strip() for text in versions}


def test_memory_of_many_players_is_bounded(
    knowledge: Knowledge, databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Indexes that were not used for longest are dropped, and built again when they are asked."""
    monkeypatch.setattr(search_module, "INDEXES", 3)
    for number in range(8):
        put(databases.player(UUID(int=number)), "a.md", f"zebra {number}")
        knowledge.prepare_index(databases.player(UUID(int=number)), KNOWLEDGE, "en_us")
    analysed = _counted(monkeypatch)
    for number in (7, 6, 5, 0):
        found = knowledge.search(databases.player(UUID(int=number)), KNOWLEDGE, "en_us", "zebra")
        assert found[0].text == f"zebra {number}"
    assert analysed == ["zebra 0"]


def _together(count: int, job: Callable[[], object]) -> None:
    threads = [threading.Thread(target=job) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
