"""Lines of equal cells: nothing is lost, nothing is wider than the screen, Chinese breaks where it may."""

from hypothesis import given
from hypothesis import strategies as st

from mcsystem.render.width import break_lines, first_lines, text_width

TEXT = st.text(st.sampled_from("ab ,.(中文，。（）🙂é\u0301"), max_size=120)


@given(TEXT, st.integers(4, 40))
def test_every_line_fits_and_nothing_but_spaces_is_lost(text: str, width: int) -> None:
    """Lines follow one another, fit, and leave out only spaces at their ends."""
    lines = break_lines(text, width)
    assert lines
    at = 0
    for start, end in lines:
        assert at <= start <= end
        assert not text[at:start].strip(" ")
        at = end
        assert text_width(text[start:end]) <= width or not any(mark == " " for mark in text[start:end].strip())
    assert not text[at:].strip(" ")


def test_chinese_takes_two_cells_and_never_begins_a_line_with_a_comma() -> None:
    """Wide characters break anywhere but before closing punctuation and after opening one."""
    text = "领地从基岩到天空，都受保护。"
    lines = [text[start:end] for start, end in break_lines(text, 16)]
    assert lines == ["领地从基岩到天", "空，都受保护。"]
    assert all(text_width(line) <= 16 for line in lines)


def test_words_stay_whole_where_they_fit() -> None:
    """English breaks at spaces; a word longer than a line is cut."""
    assert [("a bb ccc dddddddddddd")[s:e] for s, e in break_lines("a bb ccc dddddddddddd", 6)] == [
        "a bb",
        "ccc",
        "dddddd",
        "dddddd",
    ]


def test_a_preview_ends_in_an_ellipsis_when_there_is_more() -> None:
    """At most the asked lines, the last one within the width together with its ellipsis."""
    lines = first_lines("word " * 100, 20, 3)
    assert len(lines) == 3
    assert lines[2].endswith("…")
    assert all(text_width(line) <= 20 for line in lines)
    assert first_lines("short", 20, 3) == ["short"]
