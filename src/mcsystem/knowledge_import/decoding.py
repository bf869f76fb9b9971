"""Turns the bytes of a file into text: UTF-8 and UTF-16, and Chinese Windows files when that is certain."""

import codecs
import re
from collections.abc import Iterator
from typing import Final

from mcsystem.knowledge_import.report import Trouble

SLICE: Final = 65_536  # characters cleaned at once, so that other threads get their turn

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1f\x7f]")
# Controls, overrides of the writing direction, and half characters: shown nowhere, only good for tricks.
_REMOVED: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_CONTROL_SHARE: Final = 0.02
_SAMPLE: Final = 20_000
# Signs that text read as GB18030 really is Chinese.
_LEAST_CHARACTERS: Final = 4
_CHINESE_SHARE: Final = 0.95
_FREQUENT_PLANE: Final = 0.85  # level 1 of GB 2312: its 3,755 most used characters
_COMMON_SHARE: Final = 0.15
_COMMON: Final = frozenset(
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多"
    "经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性"
    "知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度"
    "门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做"
    "接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品"
    "服器玩家领箱禁止请怎设置传送规则群主城买卖币每天输命令聊刷怪农红石钻铁矿下载版本加端模整包封号"
)
_HAN: Final = ("\u4e00", "\u9fff")


def decode(data: bytes) -> str:
    """The text of a file: no byte order mark, line ends of one character, no control characters.

    Raises:
        Trouble: `binary` when it is no text, `encoding` when that is not certain, `empty` when nothing is in it.
    """
    if not data.strip():
        raise Trouble("empty")
    text = _decode(data)
    sample = text[:_SAMPLE]
    if "\0" in text or len(_CONTROL.findall(sample)) > _CONTROL_SHARE * len(sample):
        raise Trouble("binary")
    cleaned = clean(text)
    if not cleaned.strip():
        raise Trouble("empty")
    return cleaned


def clean(text: str) -> str:
    """`text` with line ends of one character, and without characters that are shown nowhere."""
    return "".join(_cleaned(text)) if len(text) > SLICE else _clean(text)


def _cleaned(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = min(start + SLICE, len(text))
        while text[end - 1] == "\r" and end < len(text):  # the line end may go on behind the slice
            end += 1
        yield _clean(text[start:end])
        start = end


def _clean(text: str) -> str:
    if "\r" in text or "\x85" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x85", "\n")
    if text.isascii() and text.isprintable():
        return text
    return _REMOVED.sub("", text.replace("\x0b", "\n").replace("\x0c", "\n"))


def _decode(data: bytes) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _strict(data[len(mark) :], encoding)
    if b"\0" in data:
        return _strict(data, _wide(data[:_SAMPLE]))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        chinese = _chinese(data)
        if chinese is not None:
            return chinese
        controls = sum(byte < 0x09 or 0x0E <= byte < 0x20 for byte in data[:_SAMPLE])  # noqa: PLR2004  # ASCII controls
        if controls > _CONTROL_SHARE * len(data[:_SAMPLE]):
            raise Trouble("binary") from error
        raise Trouble("encoding", line=data.count(b"\n", 0, error.start) + 1) from error


def _strict(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise Trouble("encoding", line=data[: error.start].decode(encoding, "ignore").count("\n") + 1) from error


def _wide(sample: bytes) -> str:
    """The UTF-16 of a text without a mark, which is seen by the zeros of its Latin letters and line ends."""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    if odd > half * 0.6 and even * 20 < half:
        return "utf-16-le"
    if even > half * 0.6 and odd * 20 < half:
        return "utf-16-be"
    raise Trouble("binary")


def _chinese(data: bytes) -> str | None:
    """The text read as GB18030 when it is certainly Chinese, else None; half a character at the end spoils it."""
    try:
        text = data.decode("gb18030")
    except UnicodeDecodeError:
        return None
    foreign = [letter for letter in text[:_SAMPLE] if not letter.isascii()]
    han = [letter for letter in foreign if _HAN[0] <= letter <= _HAN[1]]
    if len(han) < _LEAST_CHARACTERS:
        return None
    marks = sum(
        "\u3000" <= letter <= "\u303f" or "\uff00" <= letter <= "\uffef" or letter in "—…“”‘’·×→" for letter in foreign
    )
    frequent = sum(b"\xb0" <= letter.encode("gb18030")[:1] <= b"\xd7" for letter in han)
    common = sum(letter in _COMMON for letter in han)
    sure = (
        len(han) + marks >= _CHINESE_SHARE * len(foreign)
        and frequent >= _FREQUENT_PLANE * len(han)
        and common >= _COMMON_SHARE * len(han)
    )
    return text if sure else None
