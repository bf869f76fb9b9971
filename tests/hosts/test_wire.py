"""Cards and reports survive the way to another process unchanged; what is not one is refused."""

import json
from types import MappingProxyType

import msgspec
import pytest

from mcsystem.cards import Button, Calls, Card, Details, Line, Link, Source, Status
from mcsystem.errors import ErrorCode
from mcsystem.hosts.wire import pack, unpack
from mcsystem.ids import AnsweredBy, Origin
from mcsystem.knowledge_import import FileProblem, ImportReport

CARD = Card(
    "T",
    (
        Line("a", "good"),
        Link("b", "https://x"),
        Button("c", "/c", 5),
        Details("d", (Line("e"), Details("f", (Button("g", "/g"),)))),
    ),
    status=Status.MATERIAL,
    code="EXTERNAL_AI_OFF",
    module="system:question",
    origin=Origin.MODEL,
    answered_by=AnsweredBy.WEB,
    sources=(Source(1, "guide", "d", "t", "p", None, 0.25),),
    calls=Calls(1, 2, 3),
    cost="0.1",
    currency="USD",
    trace=9,
)


def test_a_card_comes_back_as_it_was() -> None:
    """Every node, source and field, through JSON."""
    assert unpack(json.loads(json.dumps(pack(CARD))), Card) == CARD


def test_a_report_comes_back_as_it_was() -> None:
    """With its problems and their details, read-only mappings included."""
    problem = FileProblem("a.md", 3, ErrorCode.KNOWLEDGE_FILE_INVALID, MappingProxyType({"n": 1, "t": "x"}), "empty")
    report = ImportReport("/f", "c", "en_us", files=2, added=1, problems=(problem,))
    assert unpack(json.loads(json.dumps(pack(report))), ImportReport) == report


BAD = (
    '[["evil", {}]]',
    '[["line", {"text": 1}]]',
    '[["line"]]',
    '[["details", {"summary": "x", "body": [["x", 1]]}]]',
    "5",
)


@pytest.mark.parametrize("body", BAD)
def test_what_is_no_card_is_refused(body: str) -> None:
    """Unknown nodes and wrong types are an error, never a half card."""
    with pytest.raises(msgspec.ValidationError):
        unpack({**pack(CARD), "body": json.loads(body)}, Card)


def test_details_inside_details_have_an_end() -> None:
    """A card nested beyond any use is refused instead of followed."""
    node: object = ["line", {"text": "x"}]
    for _ in range(500):
        node = ["details", {"summary": "x", "body": [node]}]
    with pytest.raises(msgspec.ValidationError):
        unpack({**pack(CARD), "body": [node]}, Card)
