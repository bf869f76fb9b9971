"""Front matter, CSV and JSON: what is read, and which line is named when it is wrong."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcsystem.knowledge_import.answers import Pair, read_csv, read_json
from mcsystem.knowledge_import.front_matter import read_front_matter
from mcsystem.knowledge_import.report import Trouble


def values(text: str) -> dict[str, object]:
    return {name: field.value for name, field in read_front_matter(text).fields.items()}


def test_front_matter_is_read_with_the_lines_of_its_keys() -> None:
    """Title, language, audience and address are read; other keys, comments and quotes are no trouble."""
    text = (
        '---\ntitle: "A: b" # shown\n# comment\nlanguage: zh_cn\ntags:\n  - x\n  - y\nnested:\n  deep: 1\n'
        "audience: [Alex, 'Steve']\nurl: https://example.org/a#b\n---\n# Body\n"
    )
    front = read_front_matter(text)
    assert {name: (field.value, field.line) for name, field in front.fields.items()} == {
        "title": ("A: b", 2),
        "language": ("zh_cn", 4),
        "audience": (["Alex", "Steve"], 10),
        "url": ("https://example.org/a#b", 11),
    }
    assert (front.body, front.line) == ("# Body\n", 13)


def test_a_list_may_stand_below_its_key() -> None:
    """A list of players may be written one a line, with Chinese keys and colons too."""
    assert values("---\n受众:\n- Alex\n- Steve\n标题: 规则\n---\nx") == {"audience": ["Alex", "Steve"], "title": "规则"}


@pytest.mark.parametrize(
    "text", ["", "text", "--- \n\ntext\n---\n", "---\n# Title\n\nbody text\n", "----\na: b\n----\n"]
)
def test_a_text_without_front_matter_is_all_body(text: str) -> None:
    """A line across the page at the top is not front matter."""
    front = read_front_matter(text)
    assert (front.fields, front.body, front.line) == ({}, text, 1)


@pytest.mark.parametrize("text", ["---\n---", "---\n---\n", "---\ntitle: x\n...", "---\ntitle: x\n---\n"])
def test_front_matter_may_be_all_there_is(text: str) -> None:
    """A file may consist of front matter alone; its body is empty."""
    assert read_front_matter(text).body == ""


@pytest.mark.parametrize(
    ("text", "reason", "line"),
    [
        ("---\ntitle: x\nbody without an end\n", "front_matter_open", 1),
        ("---\naudience: 2\n\n" + "line\n" * 300, "front_matter_open", 1),
        ("---\ntitle: x\njust words\n---\nbody", "front_matter_line", 3),
        ("---\ntitle x\n---\nbody", "front_matter_line", 2),
        ("---\ntitle: x\n  indented: y\n---\nbody", "front_matter_line", 3),
        ("---\ntitle: x\n- item\n---\nbody", "front_matter_line", 3),
        ("---\naudience: [Alex\n---\nbody", "front_matter_line", 2),
        ("---\naudience: {a: b}\n---\nbody", "front_matter_line", 2),
        ("---\ntitle: |\n---\nbody", "front_matter_line", 2),
        ("---\naudience: all\nTitle: x\naudience: 2\n---\nbody", "front_matter_twice", 4),
        ("+++\naudience = 2\n+++\nbody", "front_matter_toml", 1),
    ],
)
def test_broken_front_matter_names_its_line(text: str, reason: str, line: int) -> None:
    """What is broken is refused with its line, for an audience may stand in it."""
    with pytest.raises(Trouble) as raised:
        read_front_matter(text)
    assert (raised.value.reason, raised.value.line) == (reason, line)


@given(st.text(st.sampled_from("-: \n#[],'\"|akey标>+.\t"), max_size=60).map(lambda text: "---\n" + text))
def test_any_text_is_front_matter_or_trouble(text: str) -> None:
    """No text raises anything but Trouble, and the body is the end of the text from the line that is named."""
    try:
        front = read_front_matter(text)
    except Trouble as trouble:
        assert trouble.line is not None
    else:
        assert text.endswith(front.body)
        assert front.body == "\n".join(text.split("\n")[front.line - 1 :])


def pairs(found: list[Pair]) -> list[tuple[int, object, object]]:
    return [(one.line, one.fields.get("question"), one.fields.get("answer")) for one in found if one.trouble is None]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("header", [True, False])
def test_csv_delimiters_and_headers_are_found(delimiter: str, *, header: bool) -> None:
    """Four delimiters are told apart, with or without a row of names; quoted cells may hold all of them."""
    rows = [["question", "answer"]] if header else []
    rows += [["Where, now?", '"a, b; c\nd"'.strip('"')], ["Who?", "me"], ["Why?", "because"]]
    text = "".join(delimiter.join(f'"{cell}"' for cell in row) + "\n" for row in rows)
    first = 2 if header else 1
    assert pairs([*read_csv(text)]) == [
        (first, "Where, now?", "a, b; c\nd"),
        (first + 2, "Who?", "me"),
        (first + 3, "Why?", "because"),
    ]


def test_csv_columns_go_by_their_names() -> None:
    """With a row of names the columns may stand in any order, others beside them."""
    text = "id,回答,audience,问题,url\n1,是的,2,可以吗,\n2,不,,真的吗,https://example.org\n"
    found = [*read_csv(text)]
    assert pairs(found) == [(2, "可以吗", "是的"), (3, "真的吗", "不")]
    assert found[0].fields.get("audience") == "2"
    assert "audience" not in found[1].fields


def test_a_wrong_csv_row_does_not_stop_the_others() -> None:
    """A row without an answer, or with quotation marks that do not add up, is named by its line; the rest is read."""
    found = [*read_csv('question,answer\nq1,a1\nq2\n\n"q"3,a3\nq4,a4\n"q5,a5\n')]
    assert pairs(found) == [(2, "q1", "a1"), (6, "q4", "a4")]
    wrong = [(one.line, one.trouble.reason) for one in found if one.trouble]
    assert wrong == [(3, "pair_incomplete"), (5, "csv_quote"), (7, "csv_quote")]


@pytest.mark.parametrize(
    "text",
    [
        '[\n {"question": "q1", "answer": "a1"},\n {"Q": "q2",\n  "a": "a2", "id": 7}\n]',
        '{\n "q1": "a1",\n "q2": "a2",\n}',
    ],
)
def test_json_lists_and_objects_are_read(text: str) -> None:
    """Both forms are read, each pair with the line on which it begins."""
    assert pairs([*read_json(text)]) == [(2, "q1", "a1"), (3, "q2", "a2")]


def test_one_json_pair_is_read() -> None:
    """An object with the keys question and answer is one pair, not two."""
    assert pairs([*read_json('{"question": "q", "answer": "a", "audience": 2}')]) == [(1, "q", "a")]


@pytest.mark.parametrize(
    ("text", "reason", "line"),
    [
        ('[\n{"question": "q", "answer": "a"}\n{"question": "q"}]', "json_syntax", 3),
        ('{"q": "a",\n"r" "b"}', "json_syntax", 2),
        ('[{"question": "q", "answer": "a"}', "json_syntax", 1),
        ("[]\nx", "json_syntax", 1),
        ("not json", "json_syntax", 1),
        ('"text"', "json_shape", 1),
        ("[" * 100_000, "json_syntax", 1),
        ('[{"question": "q", "answer": ' + "1" * 5_000 + "}]", "json_syntax", 1),
    ],
)
def test_broken_json_names_its_line(text: str, reason: str, line: int) -> None:
    """JSON that is broken is refused as a whole, with the line."""
    with pytest.raises(Trouble) as raised:
        list(read_json(text))
    assert (raised.value.reason, raised.value.line) == (reason, line)


def test_a_wrong_json_pair_does_not_stop_the_others() -> None:
    """A pair without texts is named by its line; the rest is read."""
    found = [
        *read_json('[\n{"question": "q1", "answer": "a1"},\n7,\n{"question": "q", "answer": {}},\n{"question": "q"}]')
    ]
    assert pairs(found) == [(2, "q1", "a1")]
    wrong = [(one.line, one.trouble.reason) for one in found if one.trouble]
    assert wrong == [(3, "json_pair"), (4, "json_pair"), (5, "pair_incomplete")]


@given(st.lists(st.tuples(st.text(min_size=1), st.text(min_size=1)), max_size=6))
def test_any_json_pairs_come_back(wanted: list[tuple[str, str]]) -> None:
    """Any texts written as JSON are read as the same pairs, white space around them apart."""
    text = json.dumps([{"question": q, "answer": a} for q, a in wanted])
    kept = [(q.strip(), a.strip()) for q, a in wanted if q.strip() and a.strip()]
    assert [(q, a) for _, q, a in pairs([*read_json(text)])] == kept


@given(st.text(st.sampled_from('[]{}",: \nqa1question\\'), max_size=40))
def test_any_text_is_pairs_or_trouble(text: str) -> None:
    """No text raises anything but Trouble in either format."""
    for reads in (read_csv, read_json):
        try:
            found = [*reads(text)]
        except Trouble:
            continue
        assert all(one.trouble or ("question" in one.fields and "answer" in one.fields) for one in found)
