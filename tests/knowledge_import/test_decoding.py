"""Bytes become text: the encodings that admins' files have, and what is no text."""

import codecs

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcsystem.knowledge_import.decoding import SLICE, clean, decode
from mcsystem.knowledge_import.report import Trouble

CHINESE = "# 服务器规则\n\n不要偷东西,也不要破坏别人的建筑。每天签到可以领取一百金币,领地最大五十格。\n"
ENGLISH = "# Rules\n\nDo not steal. The café is at x 10.\n"


@pytest.mark.parametrize("text", [CHINESE, ENGLISH])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_files_are_read(text: str, encoding: str) -> None:
    """UTF-8 with and without a mark, UTF-16 and UTF-32 with one are read as they were written."""
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize(("encoding", "mark"), [("utf-16-be", codecs.BOM_UTF16_BE), ("utf-32-be", codecs.BOM_UTF32_BE)])
def test_the_mark_says_the_byte_order(encoding: str, mark: bytes) -> None:
    """Big-endian files with a mark are read."""
    assert decode(mark + CHINESE.encode(encoding)) == CHINESE


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_latin_utf_16_needs_no_mark(encoding: str) -> None:
    """UTF-16 without a mark is recognised by the zeros of its letters."""
    assert decode(ENGLISH.encode(encoding)) == ENGLISH


@pytest.mark.parametrize("encoding", ["gb18030", "gbk", "gb2312"])
def test_chinese_windows_files_are_read(encoding: str) -> None:
    """A Chinese text in the encoding of a Chinese Windows is read as it was written."""
    text = CHINESE.replace(",", ",")
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("La cité est fermée à minuit, naïve garçon, déjà vu à la forêt près du château.\n" * 3, "latin-1"),
        ("Größe überprüfen: Österreich, Straße, schön, Mädchen.\n" * 3, "cp1252"),
        ("Правила сервера: не воровать чужие вещи из сундуков.\n" * 3, "cp1251"),
        ("Правила сервера: не воровать чужие вещи из сундуков.\n" * 3, "koi8-r"),
        ("サーバーのルール。盗みは禁止です。毎日ログインしてください。\n" * 3, "shift-jis"),
        ("서버 규칙입니다 다른 사람의 물건을 훔치지 마세요\n" * 3, "euc-kr"),
        ("伺服器規則:不要偷東西,也不要破壞別人的建築,違者封鎖帳號。\n" * 3, "big5"),
    ],
)
def test_what_is_not_certain_is_refused(text: str, encoding: str) -> None:
    """Another old encoding is never read as Chinese by mistake: the file is refused with the line."""
    with pytest.raises(Trouble) as raised:
        decode(b"# Title\n" + text.encode(encoding))
    assert (raised.value.reason, raised.value.line) == ("encoding", 2)


@pytest.mark.parametrize(
    "data", [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)), b"PK\x03\x04" + bytes(99), b"\x01\x02\x03" * 50]
)
def test_binary_files_are_refused(data: bytes) -> None:
    """Pictures, archives and the like are no text, whatever their name says."""
    with pytest.raises(Trouble) as raised:
        decode(data)
    assert raised.value.reason == "binary"


@pytest.mark.parametrize("data", [b"", b" \r\n\t\n", codecs.BOM_UTF8, codecs.BOM_UTF16_LE, "\u202e\n".encode()])
def test_files_without_text_are_empty(data: bytes) -> None:
    """White space, a mark and invisible characters are no text."""
    with pytest.raises(Trouble) as raised:
        decode(data)
    assert raised.value.reason == "empty"


def test_line_ends_and_invisible_characters_are_put_right() -> None:
    """Windows and old Mac line ends become one kind; controls and overrides of the direction are taken out."""
    assert decode("a\r\nb\rc\x85d\x0ce\u202ef\u2066g\ufeffh".encode() + b" x" * 200) == "a\nb\nc\nd\nefgh" + " x" * 200


@given(st.binary(max_size=200) | st.text(max_size=80).map(lambda text: text.encode("gb18030", "replace")))
def test_any_bytes_are_text_or_trouble(data: bytes) -> None:
    """No bytes raise anything but Trouble, and what comes out is clean."""
    try:
        text = decode(data)
    except Trouble as trouble:
        assert trouble.reason in {"empty", "binary", "encoding"}
    else:
        assert text.strip()
        assert clean(text) == text


@given(st.text(st.sampled_from("\r\nab\u202e\x85"), max_size=12), st.integers(-6, 6))
@example("\r\n", 2)
@example("\r\r\na", 2)
@example("\r", 2)
def test_slices_do_not_show(text: str, shift: int) -> None:
    """A long text is cleaned in slices with the same result as in one piece."""
    long = "x" * (SLICE + shift - 3) + text
    assert clean(long) == "x" * (SLICE + shift - 3) + clean(text)
