"""Chat components: data in JSON, closed sources, links and buttons by the server's version."""

import json
from typing import Any

from inline_snapshot import snapshot

from mcsystem.cards import Button, Card, Details, Line, Link, Source
from mcsystem.ids import AnsweredBy
from mcsystem.render.minecraft import ChatForm, chat_lines
from mcsystem.render.safe import safe_json
from mcsystem.render.script import script
from mcsystem.resources import Texts

TEXTS = Texts.packaged()


def lines(card: Card, form: ChatForm | None = None) -> list[Any]:
    return [json.loads(line) for line in chat_lines(card, TEXTS, "en_us", form or ChatForm())]


CARD = Card(
    "A > B",
    (
        Line("Text [1]", "warning"),
        Button("Go", "/go", token=77),
        Details("More", (Line("in"), Button("Sub", "/s", token=5))),
    ),
    answered_by=AnsweredBy.LOCAL,
    sources=(Source(1, "shared", "a.md", "A > B", "preview", "https://example.org", 1.0),),
    trace=1,
)


MORE = {"action": "show_text", "value": {"text": "in", "color": "gray"}}


def test_a_card_becomes_one_component_a_line() -> None:
    """The newest form: click_event and hover_event; previews hide in the hover text."""
    title, text, *rest, last = lines(CARD)
    assert last == {"text": "local · 0 calls · 0", "color": "dark_gray"}
    assert (title, text) == ({"text": "A › B", "color": "aqua"}, {"text": "Text [1]", "color": "yellow"})
    assert rest == snapshot(
        [
            {
                "text": "",
                "extra": [
                    {"text": "1. ", "color": "gold"},
                    {
                        "text": "Go",
                        "color": "white",
                        "click_event": {"action": "run_command", "command": "/trigger system set 77"},
                    },
                ],
            },
            {"text": "▸ More", "color": "blue", "hover_event": MORE},
            {
                "text": "",
                "extra": [
                    {"text": "2. ", "color": "gold"},
                    {
                        "text": "Sub",
                        "color": "white",
                        "click_event": {"action": "run_command", "command": "/trigger system set 5"},
                    },
                ],
            },
            {
                "text": "▸ [1] A › B",
                "color": "blue",
                "underlined": True,
                "click_event": {"action": "open_url", "url": "https://example.org"},
                "hover_event": {"action": "show_text", "value": {"text": "preview", "color": "gray"}},
            },
        ]
    )


def test_older_servers_get_the_older_keys() -> None:
    """Before 1.21.5 the events are written in camel case with `value` and `contents`."""
    text = json.dumps(lines(CARD, ChatForm(modern=False)))
    assert "clickEvent" in text
    assert "hoverEvent" in text
    assert "click_event" not in text


def test_who_cannot_click_gets_text_alone() -> None:
    """Bedrock players type the number; nothing to click or hover is sent."""
    text = json.dumps(lines(CARD, ChatForm(clickable=False)))
    assert "vent" not in text


def test_text_cannot_become_a_component_a_command_or_a_colour() -> None:
    """Quotes, braces, selectors, section signs and control characters stay inside the text or go."""
    bad = '"},{"text":"x","click_event":{"action":"run_command","command":"/op me"}}§4\x1b[1m\u202e\n@a'
    source = Source(1, "shared", bad, bad, bad, 'https://x/"},', 1.0)
    card = Card(
        bad,
        (Line(bad), Button(bad, "/op me"), Link(bad, "javascript:x"), Details(bad, (Line(bad),))),
        sources=(source,),
    )
    for raw, component in zip(chat_lines(card, TEXTS, "en_us", ChatForm()), lines(card), strict=True):
        assert not {"§", "\x1b", "\u202e", "\n"} & set(raw)
        assert "click_event" not in component
        assert all("click_event" not in part for part in component.get("extra", ()))


def test_the_script_form_is_what_was_promised() -> None:
    """One JSON shape for scripts: these keys exactly, fields only ever added; options can be said again."""
    made = json.loads(safe_json(script(CARD)))
    assert set(made) == {
        "status", "code", "module", "origin", "answered_by", "title", "text", "sources", "options", "calls", "cost",
        "currency", "tokens",
    }  # fmt: skip
    assert made["sources"] == [
        {
            "n": 1, "scope": "shared", "document": "a.md", "title": "A > B", "preview": "preview",
            "url": "https://example.org", "score": 1.0,
        }
    ]  # fmt: skip
    assert made["calls"] == {"model": 0, "search": 0, "fetch": 0}
    assert made["options"] == [{"n": 1, "label": "Go", "command": "/go"}, {"n": 2, "label": "Sub", "command": "/s"}]
    assert made["code"] is None
    assert made["text"] == "Text [1]"
