"""The control socket: only who reads the world's token gives orders; nobody else can harm the holder."""

import asyncio
import json
import os
import socket
import stat
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest

from mcsystem.app import open_assistant
from mcsystem.cards import Card, Status
from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.hosts import control as control_module
from mcsystem.hosts import control_client
from mcsystem.hosts.control import control
from mcsystem.hosts.control_client import Connection, connect, fulfil, share
from mcsystem.hosts.control_protocol import FILE, Claim, Door, Greeting, proof, read_door, write_door
from mcsystem.hosts.orders import Ask, Count, ForgetFolder, ImportDatabase, ImportKnowledge, Order, RemoveKnowledge
from mcsystem.ids import offline_uuid
from mcsystem.knowledge import KNOWLEDGE
from mcsystem.knowledge_import import ImportReport, Progress
from mcsystem.storage import Databases
from mcsystem.testing import Play, RecordingHost

Job = Callable[[Play, Door], Awaitable[None]]
ALEX = offline_uuid("Alex")


def hold(folder: Path, job: Job) -> None:
    """Run `job` while this process holds the world and takes orders."""

    async def run() -> None:
        play = Play(folder)
        play.world.mkdir(parents=True, exist_ok=True)
        async with open_assistant(play.plan(), RecordingHost()) as assistant, control(play.world, assistant) as door:
            assert door is not None
            await job(play, door)
            await still_serves(play)

    asyncio.run(run())


async def still_serves(play: Play) -> None:
    """Whatever was tried before, an honest caller is served."""
    order = Ask("/help", ALEX, "Alex", "en_us", 0)
    card = await asyncio.to_thread(ordered, play.world, order)
    assert card.status is Status.ANSWERED


def ordered(world: Path, order: Order) -> Card:
    with connect(world) as connection:
        assert connection is not None
        return connection.order(order, Card)


def documents(folder: Path) -> Path:
    docs = folder / "docs"
    docs.mkdir()
    for number in range(5):
        (docs / f"{number}.md").write_text(
            f"# Topic {number}\n\nThe lighthouse number {number} stands at the harbour.\n"
        )
    (docs / "bad.md").write_bytes(b"\x00\x01\x02")
    return docs


def test_orders_are_done_by_the_holder(tmp_path: Path) -> None:
    """Import with progress and problems, a question, removal and forgetting reach a world that somebody plays in."""
    docs = documents(tmp_path)

    async def job(play: Play, door: Door) -> None:
        assert door.pid == os.getpid()
        told: list[Progress] = []
        order = ImportKnowledge(str(docs), "en_us")
        report = await asyncio.to_thread(fulfil, play.world, order, ImportReport, tell=told.append)
        assert (report.added, len(report.problems)) == (5, 1)
        assert told[-1].files == told[-1].total_files == 6
        ask = Ask("/question where does lighthouse 3 stand", ALEX, "Alex", "en_us", 0)
        card = await asyncio.to_thread(share, play.world, ask, Card, here=locked)
        assert card.status is Status.MATERIAL
        removed = await asyncio.to_thread(fulfil, play.world, RemoveKnowledge("0.md", "en_us"), Count)
        assert removed.counts == {"0.md": 1}
        gone = await asyncio.to_thread(fulfil, play.world, ForgetFolder(report.collection), Count)
        assert gone.counts == {report.collection: 4}

    hold(tmp_path, job)


def locked() -> Card:
    raise AssistantError(ErrorCode.STORAGE_WORLD_LOCKED, path="x", pid=os.getpid(), host="x")


def test_an_order_that_fails_says_so_in_the_callers_words(tmp_path: Path) -> None:
    """The holder's error comes back with its code and details, and an export can be brought in."""
    export = tmp_path / "export.json"

    async def job(play: Play, door: Door) -> None:
        del door
        for order, code in (
            (RemoveKnowledge("none.md", "en_us"), ErrorCode.KNOWLEDGE_NOT_FOUND),
            (ImportKnowledge(str(tmp_path / "missing"), "en_us"), ErrorCode.KNOWLEDGE_FOLDER_INVALID),
            (ImportKnowledge(str(tmp_path), "english"), ErrorCode.LANGUAGE_UNKNOWN),
            (ImportDatabase(str(tmp_path / "missing")), ErrorCode.STORAGE_READ_FAILED),
        ):
            with pytest.raises(AssistantError) as caught:
                await asyncio.to_thread(fulfil, play.world, order, Count)
            assert caught.value.code is code
        export.write_text(
            json.dumps({"format": "mcsystem-database", "version": 1, "tables": {"x:y": {"k": ["int", 1]}}})
        )
        done = await asyncio.to_thread(fulfil, play.world, ImportDatabase(str(export)), Count)
        assert done.counts == {"x:y": 1}

    hold(tmp_path, job)


@pytest.mark.skipif(sys.platform == "win32", reason="rights of files are other ones there")
def test_the_door_is_for_this_account_alone_and_goes_with_its_holder(tmp_path: Path) -> None:
    """0600 from its first byte, no half file, gone at the end; an older one is no way in."""

    async def job(play: Play, door: Door) -> None:
        mode = stat.S_IMODE((play.world / FILE).stat().st_mode)
        assert mode == 0o600
        assert len(door.token) == 64

        def reach(holder: int) -> bool:
            with connect(play.world, holder) as connection:
                return connection is not None

        assert await asyncio.to_thread(reach, door.pid)
        assert not await asyncio.to_thread(reach, door.pid + 1)

    hold(tmp_path, job)
    assert not (tmp_path / "world" / FILE).exists()
    write_door(tmp_path / "world", Door(1, "old", 1))
    with connect(tmp_path / "world") as connection:
        assert connection is None


def raw(door: Door) -> socket.socket:
    line = socket.create_connection(("127.0.0.1", door.port), timeout=5)
    line.settimeout(5)
    return line


def rest(line: socket.socket) -> bytes:
    """What still comes until the holder hangs up."""
    parts: list[bytes] = []
    try:
        while part := line.recv(65_536):
            parts.append(part)
    except ConnectionError:
        pass
    return b"".join(parts)


GARBAGE = (
    b"\n",
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"\xff\xfe\x00\n",
    b"{}\n",
    b'{"nonce": 1, "proof": 2}\n',
    b'{"nonce": "x", "proof": "\\ud800"}\n',
    b'{"nonce": "x", "proof": ""}\n',
    b'{"nonce":"' + b"x" * 4_000 + b'","proof":""}\n',
    b"x" * 3_000_000,
    b"[" * 100_000 + b"\n",
)


@pytest.mark.parametrize("line", GARBAGE, ids=range(len(GARBAGE)))
def test_who_does_not_know_the_token_gets_nothing(tmp_path: Path, line: bytes) -> None:
    """Garbage, forged proofs, half and huge lines are cut off without a word about the world."""

    async def job(play: Play, door: Door) -> None:
        del play
        assert await asyncio.to_thread(attack, door, line) == b""

    hold(tmp_path, job)


def attack(door: Door, line: bytes) -> bytes:
    with raw(door) as caller:
        greeting = caller.recv(4_096)
        assert door.token.encode() not in greeting
        try:
            caller.sendall(line)
            caller.shutdown(socket.SHUT_WR)
        except OSError:  # cut off already
            return b""
        return rest(caller)


def admitted(door: Door) -> socket.socket:
    """A caller who proved to know the token."""
    line = raw(door)
    greeting = msgspec.json.decode(line.recv(4_096), type=Greeting)
    line.sendall(
        msgspec.json.encode(Claim("n", proof(door.token, "caller", greeting=greeting.nonce, claim="n"))) + b"\n"
    )
    line.recv(4_096)
    return line


@pytest.mark.parametrize(
    "order",
    [
        b"{}\n",
        b'{"type":"shutdown"}\n',
        b'{"type":"ask"}\n',
        b"nonsense\n",
        b'{"type":"knowledge.import","folder":5}\n',
    ],
)
def test_what_is_no_order_is_refused_also_from_those_who_may(tmp_path: Path, order: bytes) -> None:
    """There is no shutdown, and a malformed order changes nothing."""

    async def job(play: Play, door: Door) -> None:
        del play

        def try_it() -> bytes:
            with admitted(door) as line:
                line.sendall(order)
                return rest(line)

        assert b"TOOL_ARGUMENTS_INVALID" in await asyncio.to_thread(try_it)

    hold(tmp_path, job)


def test_a_replayed_or_reflected_proof_opens_nothing(tmp_path: Path) -> None:
    """A proof is good for its own pair of nonces and its own side alone."""

    async def job(play: Play, door: Door) -> None:
        del play

        def replay() -> None:
            with raw(door) as first:
                greeting = msgspec.json.decode(first.recv(4_096), type=Greeting)
                claim = Claim("n", proof(door.token, "caller", greeting=greeting.nonce, claim="n"))
                wrong = Claim("n", proof(door.token, "holder", greeting=greeting.nonce, claim="n"))
                first.sendall(msgspec.json.encode(wrong) + b"\n")
                assert rest(first) == b""
            with raw(door) as second:
                second.recv(4_096)
                second.sendall(msgspec.json.encode(claim) + b"\n")
                assert rest(second) == b""

        await asyncio.to_thread(replay)

    hold(tmp_path, job)


def test_silent_callers_are_cut_off_and_do_not_crowd_out_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever says nothing is cut off in time; a crowd of them is bounded."""
    monkeypatch.setattr(control_module, "HANDSHAKE_SECONDS", 1.0)

    async def job(play: Play, door: Door) -> None:
        del play

        def crowd() -> None:
            callers = [raw(door) for _ in range(control_module.CONNECTIONS)]
            greeted = [caller.recv(4_096) for caller in callers]
            assert all(greeted)
            with raw(door) as one_more:
                assert rest(one_more) == b""
            for caller in callers:
                with caller:
                    rest(caller)

        await asyncio.to_thread(crowd)

    hold(tmp_path, job)


def test_a_caller_that_leaves_stops_its_import(tmp_path: Path) -> None:
    """A broken connection is a stop: nothing half is written and the next order is served."""
    docs = documents(tmp_path)

    async def job(play: Play, door: Door) -> None:
        def leave() -> None:
            line = admitted(door)
            line.sendall(msgspec.json.encode(ImportKnowledge(str(docs), "en_us")) + b"\n")
            line.close()

        await asyncio.to_thread(leave)
        report = await asyncio.to_thread(fulfil, play.world, ImportKnowledge(str(docs), "en_us"), ImportReport)
        assert report.documents == 5

    hold(tmp_path, job)


def test_a_false_holder_learns_nothing_and_is_not_believed(tmp_path: Path) -> None:
    """A process on the door's port that does not know the token gets no token and its answers are dropped."""
    world = tmp_path / "world"
    (world / "system").mkdir(parents=True)
    with socket.create_server(("127.0.0.1", 0)) as false:
        write_door(world, Door(false.getsockname()[1], "secret-token", os.getpid()))
        line = socket.create_connection(false.getsockname()[:2], timeout=5)
        answered, _ = false.accept()
        with line, answered:
            answered.sendall(b'{"mcsystem":1,"nonce":"n"}\n{"proof":"forged"}\n')
            assert Connection(line).prove("secret-token") is False
            assert b"secret-token" not in answered.recv(4_096)


def test_a_holder_without_orders_is_waited_for_then_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two short commands at once: the second waits, and in the end says whose world it is."""
    monkeypatch.setattr(control_client, "WAIT_SECONDS", 0.3)
    docs = documents(tmp_path)
    world = tmp_path / "world"
    held = Databases.open(world, write=True)
    with pytest.raises(AssistantError) as caught:
        fulfil(world, ImportKnowledge(str(docs), "en_us"), ImportReport)
    assert caught.value.code is ErrorCode.STORAGE_WORLD_LOCKED
    assert caught.value.details["pid"] == os.getpid()
    held.close()
    assert fulfil(world, ImportKnowledge(str(docs), "en_us"), ImportReport).added == 5
    databases = Databases.open(world, write=False)
    assert len(KNOWLEDGE.keys(databases.shared(), "en_us")) == 5
    databases.close()


@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"port":0,"token":"","pid":1}', b"\xff" * 10_000, b'{"port":70000,"token":"x","pid":1}']
)
def test_a_damaged_door_is_no_door(tmp_path: Path, content: bytes) -> None:
    """What is not a door's file leads nowhere."""
    (tmp_path / "system").mkdir()
    (tmp_path / FILE).write_bytes(content)
    assert read_door(tmp_path) is None


def test_a_pipe_in_the_doors_place_is_never_waited_for(tmp_path: Path) -> None:
    """Whatever lies where the door's file should be, reading it ends at once."""
    (tmp_path / "system").mkdir()
    os.mkfifo(tmp_path / "system" / "control.json")
    assert read_door(tmp_path) is None
