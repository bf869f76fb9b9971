"""The NBT codec: lossless for every tree, strict with everything else."""

import gzip
import io
import os
import random
import struct
import time
import tracemalloc
import zlib
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.storage.container import read_tree, unpack, write_tree
from mcsystem.storage.nbt import Reader, read_value
from mcsystem.storage.nbt_write import write_value
from mcsystem.storage.tags import MAX_VALUES, Byte, Float, IntArray, Long, LongArray, Short, Tree

MANY = 4000 if os.environ.get("MCSYSTEM_SOAK") else 150


def bits(value: float) -> bytes:
    """What tells two floats apart, NaN payloads and the sign of zero included."""
    return struct.pack(">d", value)


def same(left: Tree, right: Tree) -> bool:
    """Equal in value and in kind, in every part."""
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        if isinstance(left, Float) and isinstance(right, Float) and left.bits != right.bits:
            return False
        return left != left if right != right else bits(left) == bits(cast("float", right))  # noqa: PLR0124 - NaN
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


def range_of(size: int) -> st.SearchStrategy[int]:
    """Whole numbers of `size` bits."""
    return st.integers(-(1 << (size - 1)), (1 << (size - 1)) - 1)


# Surrogates are included, except a high one before a low one, which is another spelling of one character.
texts = st.text(st.characters(codec=None, exclude_categories=()), max_size=30).filter(
    lambda text: text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass") == text
)
floats32 = st.floats(width=32, allow_nan=False).map(Float)
nans32 = st.integers(0x7F800001, 0x7FFFFFFF).map(lambda found: Float(float("nan"), found))
scalars: st.SearchStrategy[Tree] = st.one_of(
    st.booleans(),
    range_of(8).filter(lambda number: number not in {0, 1}).map(Byte),
    range_of(16).map(Short),
    range_of(32),
    range_of(64).map(Long),
    floats32,
    nans32,
    st.floats(),
    texts,
    st.binary(max_size=30),
    st.lists(range_of(32), max_size=5).map(IntArray),
    st.lists(range_of(64), max_size=5).map(LongArray),
)
trees: st.SearchStrategy[Tree] = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        scalars.flatmap(lambda one: st.lists(st.just(one), max_size=4)),
        st.dictionaries(st.one_of(texts, st.just("")), inner, max_size=5),
    ),
    max_leaves=25,
)
roots = st.dictionaries(texts, trees, max_size=5)


def refused(raw: bytes) -> tuple[str, int]:
    """Reason and offset of the error that reading `raw` gives; any other outcome fails the test."""
    with pytest.raises(AssistantError) as caught:
        read_tree(raw)
    assert caught.value.code is ErrorCode.STORAGE_CORRUPT
    return str(caught.value.details["reason"]), int(str(caught.value.details["offset"]))


@settings(max_examples=MANY, deadline=None)
@given(roots)
def test_round_trip(root: dict[str, Tree]) -> None:
    """Every tree comes back equal in value and kind, and is written to the same bytes again."""
    raw = write_tree(root)
    back = read_tree(raw)
    assert same(back, root)
    assert write_tree(back) == raw


@settings(max_examples=MANY, deadline=None)
@given(roots, texts)
def test_root_forms(root: dict[str, Tree], name: str) -> None:
    """With gzip or without, with no name, an empty one or any name: a root reads the same."""
    body = write_value(dict(root)).data
    named = write_value({name: 0}).data[2:-5]
    for raw in (body, body[:1] + b"\0\0" + body[1:], body[:1] + named + body[1:]):
        assert same(read_tree(raw), root)
        assert same(read_tree(gzip.compress(raw)), root)


@settings(max_examples=MANY, deadline=None)
@given(trees)
def test_counts_values(tree: Tree) -> None:
    """The writer counts as many values as the reader takes from its budget."""
    row = write_value({"v": tree})
    reader = Reader(row.data)
    reader.value(row.data[0], 1, 0)
    assert row.values == MAX_VALUES - reader.left + 1


@settings(max_examples=MANY, deadline=None)
@given(roots)
def test_plain(root: dict[str, Tree]) -> None:
    """For typed decoding numbers come as Python's own int and float, arrays as lists."""

    def plain(tree: Tree) -> bool:
        if isinstance(tree, dict):
            return all(map(plain, tree.values()))
        if isinstance(tree, list):
            return all(map(plain, tree))
        return type(tree) in {bool, int, float, str, bytes}

    assert plain(read_value(write_value(dict(root)).data, plain=True))


@settings(max_examples=MANY * 4, deadline=None)
@given(st.binary(max_size=200), st.booleans())
def test_random_bytes(noise: bytes, compound: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
    """Random bytes, in gzip or not, give a tree or our error, nothing else."""
    for raw in (noise, b"\x0a" + noise, gzip.compress(b"\x0a\0\0" + noise if compound else noise)):
        try:
            assert isinstance(read_tree(raw), dict)
        except AssistantError as error:
            assert error.code is ErrorCode.STORAGE_CORRUPT


@settings(max_examples=MANY, deadline=None)
@given(roots, st.randoms(use_true_random=False))
def test_mutated_files(root: dict[str, Tree], chance: random.Random) -> None:
    """A file with flipped, lost or doubled bytes gives a tree or our error, in bounded time."""
    good = write_tree(root)
    body = bytearray(b"\x0a\0\0" + write_value(dict(root)).data[1:])
    for source in (bytearray(good), body):
        for _ in range(20):
            bad = bytearray(source)
            place = chance.randrange(len(bad))
            match chance.randrange(4):
                case 0:
                    bad[place] ^= 1 << chance.randrange(8)
                case 1:
                    del bad[place:]
                case 2:
                    bad[place:place] = bad[: chance.randrange(len(bad))]
                case _:
                    bad[place : place + 4] = struct.pack(">i", chance.choice((-1, 1 << 30, (1 << 31) - 1, 65_535)))
            try:
                read_tree(bytes(bad))
            except AssistantError as error:
                assert error.code is ErrorCode.STORAGE_CORRUPT
                assert isinstance(error.details["offset"], int)


def test_every_cut_is_noticed() -> None:
    """A file cut at any byte is an error, raw or in gzip; none becomes a shorter compound."""
    root: dict[str, Tree] = {"version": 1, "tables": {"example:notes": {"home": "A private note", "n": [1, 2, 3]}}}
    raw = b"\x0a\0\0" + write_value(root).data[1:]
    for whole in (raw, write_tree(root)):
        for end in range(len(whole)):
            if whole[:end] == b"\x0a\0":
                continue  # these two bytes are an empty root without a name
            assert refused(whole[:end])[0] in {"empty", "truncated", "format"}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"\x01\0\x01a\0" + b"\0\0", "trailing"),
        (b"\x0d\0\x01a\0", "format"),
        (b"\x01\0\x01a\0\x01\0\x01a\0\0", "duplicate"),
        (b"\x01\0\x02\xc0\x80\0\x01\0\x01\0\x05\0", "duplicate"),
        (b"\x08\0\x01a\xff\xffabc\0", "length"),
        (b"\x07\0\x01a\xff\xff\xff\xff\0", "length"),
        (b"\x07\0\x01a\x7f\xff\xff\xff\0", "length"),
        (b"\x0b\0\x01a\x40\0\0\0\0", "length"),
        (b"\x0c\0\x01a\x20\0\0\0\0", "length"),
        (b"\x09\0\x01a\x00\x7f\xff\xff\xff\0", "format"),
        (b"\x09\0\x01a\x0d\0\0\0\0\0", "format"),
        (b"\x09\0\x01a\x03\xff\xff\xff\xff\0", "length"),
        (b"\x09\0\x01a\x0a\x17\xd7\x84\0\0", "length"),
        (b"\x08\0\x01a\0\x04\xf0\x9f\x8e\xae\0", "string"),
        (b"\x08\0\x01a\0\x02\xc1\x81\0", "string"),
        (b"\x08\0\x01a\0\x01\xff\0", "string"),
        (b"\x08\0\x01a\0\x03\xe0\x80\x80\0", "string"),
    ],
)
def test_damage(body: bytes, reason: str) -> None:
    """Each kind of damage is told by its own word."""
    assert refused(gzip.compress(b"\x0a\0\0" + body))[0] == reason


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"a\0b", "a\0b"),
        (b"a\xc0\x80b", "a\0b"),
        (b"\xed\xa0\xbc\xed\xbe\xae", "\U0001f3ae"),
        (b"\xed\xa0\xbd", "\ud83d"),
        (b"\xed\xb8\xaex", "\ude2ex"),
        (b"\xef\xbf\xbf\xef\xbb\xbf", "\uffff\ufeff"),
    ],
)
def test_text(raw: bytes, text: str) -> None:
    """Strings read as Java reads them."""
    found = read_value(b"\x08" + struct.pack(">H", len(raw)) + raw)
    assert found == text


def test_depth() -> None:
    """512 levels read and write, 513 do neither; a million levels cost nothing."""
    for depth, fits in ((512, True), (513, False)):
        raw = b"\x0a\0\0" + b"\x0a\0\x01a" * (depth - 1) + b"\0" * depth
        tree: Tree = {}
        for _ in range(depth - 1):
            tree = {"a": tree}
        if fits:
            assert read_tree(raw) == tree
            assert read_tree(write_tree(cast("dict[str, Tree]", tree))) == tree
        else:
            assert refused(raw)[0] == "depth"
            with pytest.raises(AssistantError, match="depth"):
                write_value(tree)
    begin = time.process_time()
    assert refused(b"\x0a\0\0" + b"\x0a\0\x01a" * 1_000_000)[0] == "depth"
    assert time.process_time() - begin < 1


def test_longest_text() -> None:
    """65,535 bytes of text are the most; one more is refused with its path, and 21,845 Chinese characters fit."""
    for text in ("x" * 65_535, "领" * 21_845):
        assert read_value(write_value(text).data) == text
    with pytest.raises(AssistantError) as caught:
        write_value({"a": ["", "x" * 65_536]})
    assert caught.value.code is ErrorCode.STORAGE_VALUE_INVALID
    assert (caught.value.details["reason"], caught.value.details["path"]) == ("string_too_long", "$.a[1]")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (1 << 63, "integer_too_large"),
        ({"a": {1: 2}}, "key_type"),
        ([None], "none"),
        ({"a": object()}, "type"),
        (Short(70_000), "number_too_large"),
        (Float(1e300), "number_too_large"),
        (IntArray((1 << 31,)), "number_too_large"),
        ("\ud83d\ude00", "surrogate"),
    ],
)
def test_refused_values(value: Tree, reason: str) -> None:
    """What NBT cannot hold, or would give back as something else, is refused when written."""
    with pytest.raises(AssistantError) as caught:
        write_value(value)
    assert caught.value.details["reason"] == reason


def test_real_text() -> None:
    """Lone surrogates of a file survive, yet no new ones are stored."""
    row = write_value("\ud83d")
    assert read_value(row.data) == "\ud83d"
    with pytest.raises(AssistantError, match="surrogate"):
        write_value({"\ud83d": 1}, real_text=True)


def test_mixed_lists_as_minecraft_writes_them() -> None:
    """Elements of different kinds are wrapped as {"": value}; a compound that looks like that is wrapped once more."""
    wrapped = write_value([1, {"": 5}]).data
    assert wrapped == b"\x09\x0a\0\0\0\x02" + b"\x03\0\0\0\0\0\x01\0" + b"\x0a\0\0" + b"\x03\0\0\0\0\0\x05\0" + b"\0"
    assert read_value(wrapped) == [1, {"": 5}]


def members(count: int) -> bytes:
    """A file of `count` gzip members, the last of which holds an empty root."""
    return gzip.compress(b"") * (count - 1) + gzip.compress(b"\x0a\0\0\0")


def test_gzip_members() -> None:
    """Up to 16 gzip members are one file, more are refused at once, and so is anything behind them."""
    assert read_tree(members(16)) == {}
    assert refused(members(17))[0] == "too_large"
    assert refused(members(1) + b"\0" * 512)[0] == "trailing"
    assert refused(zlib.compress(b"\x0a\0\0\0"))[0] == "format"
    assert refused(gzip.compress(gzip.compress(b"\x0a\0\0\0")))[0] == "format"
    begin = time.process_time()
    assert refused(members(100_000))[0] == "too_large"
    assert time.process_time() - begin < 1


def test_bombs() -> None:
    """A gigabyte in a megabyte, and sixty million list elements, are refused in bounded time and memory."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9) as file:
        for _ in range(256):
            file.write(bytes(1 << 20))
    tracemalloc.start()
    begin = time.process_time()
    try:
        assert refused(packed.getvalue())[0] == "too_large"
        many = b"\x0a\0\0\x09\0\x01a%c" + struct.pack(">i", 30_000_000) + bytes(30_000_000) + b"\0"
        for tag in (1, 10):
            assert refused(gzip.compress(many % tag, compresslevel=1))[0] == "too_large"
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 300 << 20
    assert time.process_time() - begin < 5


def test_checksum() -> None:
    """A wrong CRC or length of the gzip trailer, or reserved flags, is an error."""
    good = write_tree({"a": 1})
    assert refused(good[:-8] + bytes(4) + good[-4:])[0] == "checksum"
    assert refused(good[:-4] + bytes(4))[0] == "checksum"
    assert refused(good[:3] + b"\xe0" + good[4:])[0] == "format"
    assert unpack(good).zipped


def test_compression_levels() -> None:
    """Compressing at any level makes no difference to what is read."""
    raw = b"\x0a\0\0" + write_value({"a": "b" * 1000}).data[1:]
    for level in range(10):
        assert read_tree(gzip.compress(raw, level)) == {"a": "b" * 1000}


@pytest.mark.parametrize(("data", "reason"), [(b"", "truncated"), (b"\x01\0\0", "trailing"), (b"\x03\0", "truncated")])
def test_one_value(data: bytes, reason: str) -> None:
    """A row is exactly one value: nothing is missing and nothing is behind it."""
    with pytest.raises(AssistantError, match=reason):
        read_value(data)
