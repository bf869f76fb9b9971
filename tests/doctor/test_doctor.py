"""The doctor: each thing that can be wrong is named, with its level and its fix, in both languages."""

import asyncio
import json
import os
import threading
from collections.abc import Generator, Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from mcsystem.doctor import Check, Level, Subject, examine, world, worst
from mcsystem.doctor.policies import check_policies
from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.resources import packaged_texts
from mcsystem.settings import Policy
from mcsystem.storage import Databases
from mcsystem.testing import Play

KEY = "SYSTEM_DEEPSEEK_API_KEY"


def subject(folder: Path, *, environ: Mapping[str, str] | None = None, **more: bool) -> Subject:
    return Subject(
        world=folder / "world",
        config=folder / "config" / "system",
        ledger=folder / "world" / "data" / "system" / "token_usage.dat",
        environ=environ or {},
        workflows={"system:question": Policy()},
        **{"demo": False, **more},  # pyright: ignore[reportArgumentType]  # flags alone
    )


def look(folder: Path, *, environ: Mapping[str, str] | None = None, **more: bool) -> list[Check]:
    return asyncio.run(examine(subject(folder, environ=environ, **more)))


def found(checks: list[Check], name: str) -> list[tuple[Level, str]]:
    return [(check.level, check.key) for check in checks if check.name == name]


def settings(folder: Path, text: str) -> None:
    config = folder / "config" / "system"
    config.mkdir(parents=True, exist_ok=True)
    (config / "system-agent.json").write_text(text)


@pytest.fixture
def well(tmp_path: Path) -> Path:
    """A world with one document and nothing wrong."""
    Play(tmp_path).learn("a.md", "# A\n\nText.")
    return tmp_path


def test_a_sound_world_has_nothing_but_ok(well: Path) -> None:
    """Every area is looked at, and looking writes nothing."""
    before = sorted(well.rglob("*"))
    checks = look(well)
    assert worst(checks) is Level.OK
    names = [
        "python",
        "world",
        "config",
        "disk",
        "lock",
        "files",
        "knowledge",
        "settings",
        "policies",
        "external",
        "model",
    ]
    assert [check.name for check in checks] == names
    assert sorted(well.rglob("*")) == before


def test_a_missing_world_is_an_error_and_the_rest_goes_on(tmp_path: Path) -> None:
    """The demo world is only a warning, since it is made at its first use; a file in its place is an error."""
    checks = look(tmp_path)
    assert found(checks, "world") == [(Level.ERROR, "world.missing")]
    assert found(checks, "model")
    assert found(look(tmp_path, demo=True), "world") == [(Level.WARNING, "world.demo")]
    (tmp_path / "world").write_text("x")
    assert found(look(tmp_path), "world") == [(Level.ERROR, "world.file")]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_folders_without_rights_are_named(well: Path) -> None:  # pragma: no cover - not as root
    """The folder that cannot be written is the one that is told."""
    (well / "world" / "system").chmod(0o500)
    try:
        assert found(look(well), "world") == [(Level.ERROR, "world.rights")]
    finally:
        (well / "world" / "system").chmod(0o700)


def no_access(path: Path, mode: int) -> bool:
    del path, mode
    return False


def test_folders_that_may_not_be_written_are_named(well: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a disk that is mounted for reading."""
    monkeypatch.setattr(world.os, "access", no_access)
    checks = look(well)
    assert found(checks, "world") == [(Level.ERROR, "world.rights")]
    assert found(checks, "config") == [(Level.WARNING, "config.rights")]


@pytest.mark.parametrize(("free", "level"), [(10**10, Level.OK), (5 * 10**8, Level.WARNING), (10**6, Level.ERROR)])
def test_a_disk_that_fills_up_is_told_in_time(
    well: Path, monkeypatch: pytest.MonkeyPatch, free: int, level: Level
) -> None:
    """Warning below a gigabyte, error where the next write may fail."""

    def usage(path: Path) -> SimpleNamespace:
        return SimpleNamespace(free=free, path=path)

    monkeypatch.setattr(world.shutil, "disk_usage", usage)
    assert [check.level for check in look(well) if check.name == "disk"] == [level]


def test_who_holds_the_world_is_told(well: Path) -> None:
    """A holder that takes orders is as it should be; another one is a warning that names the process."""
    databases = Databases.open(well / "world", write=True)
    try:
        (check,) = [one for one in look(well) if one.name == "lock"]
        assert (check.level, check.key, check.details["pid"]) == (Level.WARNING, "lock.held", os.getpid())
        assert found(look(well, takes_orders=True), "lock") == [(Level.OK, "lock.orders")]
    finally:
        databases.close()
    assert found(look(well), "lock") == [(Level.OK, "lock")]


def test_files_that_do_not_decode_are_errors(well: Path) -> None:
    """Each file by name, the ledger too; nothing else is kept from being looked at."""
    (well / "world" / "system" / "database" / "shared.dat").write_bytes(b"broken")
    ledger = well / "world" / "data" / "system" / "token_usage.dat"
    ledger.parent.mkdir(parents=True)
    ledger.write_bytes(b"broken")
    checks = look(well)
    assert found(checks, "files") == [(Level.ERROR, "files.bad")]
    assert found(checks, "ledger") == [(Level.ERROR, "failed")]
    assert found(checks, "settings") == [(Level.OK, "settings")]


def test_a_database_that_is_a_folder_is_an_error(well: Path) -> None:
    """It is said and left alone."""
    path = well / "world" / "system" / "database" / "shared.dat"
    path.unlink()
    path.mkdir()
    assert worst(look(well)) is Level.ERROR
    assert path.is_dir()


def test_a_world_without_knowledge_is_a_warning(tmp_path: Path) -> None:
    """No question would ever find anything."""
    (tmp_path / "world").mkdir()
    assert found(look(tmp_path), "knowledge") == [(Level.WARNING, "knowledge.none")]


@pytest.mark.parametrize(
    ("text", "key", "field"),
    [
        ('{"limits": {"queue": "many"}}', "settings.field", "limits.queue"),
        ('{"model": {"jsonMode": "xml"}}', "settings.field", "model.jsonMode"),
        ("{", "settings.file", ""),
        ("[]", "settings.file", ""),
        ("\xff", "settings.file", ""),
    ],
)
def test_config_mistakes_are_told_by_field(well: Path, text: str, key: str, field: str) -> None:
    """File, field and what was expected; the default stands in."""
    settings(well, text)
    (check,) = [one for one in look(well) if one.name == "settings"]
    assert (check.level, check.key, check.details["field"]) == (Level.ERROR, key, field)


@pytest.mark.parametrize(
    ("name", "policy", "keys"),
    [
        ("system:question", Policy(), ["policies"]),
        ("system:qestion", Policy(), ["policies.unknown"]),
        ("system:question", Policy(steps=3), ["policies.conflict", "policies.conflict"]),
        ("system:question", Policy(ttl_millis=1_000), ["policies.conflict"]),
        ("system:question", Policy(tool_calls=1), ["policies.tools"]),
        ("system:question", Policy(total_tokens=100), ["policies.conflict"]),
        ("system:question", Policy(model_calls=0, react_iterations=6), ["policies"]),
        ("system:question", Policy(model_calls=2, react_iterations=6), ["policies.conflict"]),
    ],
)
def test_policies_that_do_not_add_up_are_warned_about(name: str, policy: Policy, keys: list[str]) -> None:
    """A limit that another one makes unreachable, and a workflow that nothing installed has."""
    checks = list(check_policies({name: policy}, {"system:question": Policy()}))
    assert [check.key for check in checks] == keys
    if keys == ["policies.unknown"]:
        assert checks[0].details["nearest"] == "system:question"


def test_an_extension_that_failed_is_an_error(well: Path) -> None:
    """By its name, with the reason."""
    one = subject(well)
    broken = AssistantError(ErrorCode.EXTENSION_INVALID, id="x.py", reason="SyntaxError")
    checks = asyncio.run(
        examine(Subject(one.world, one.config, one.demo, one.ledger, one.environ, one.workflows, (broken,)))
    )
    assert found(checks, "extensions") == [(Level.ERROR, "failed")]


class Service(BaseHTTPRequestHandler):
    """A model service that knows one key."""

    def do_GET(self) -> None:
        """Answer for the list of models."""
        right = self.headers.get("Authorization") == "Bearer sk-right"
        body = b'{"data": []}'
        self.send_response(200 if right else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's name
        """Be silent."""


@pytest.fixture
def service() -> Generator[str]:
    """The base URL of a model service on loopback."""
    server = HTTPServer(("127.0.0.1", 0), Service)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_models_service_is_asked_whether_it_takes_the_key(well: Path, service: str) -> None:
    """Reachable with the right key is ok; a wrong key, nobody there, a bad address are errors; no key is no fault."""
    settings(well, json.dumps({"model": {"baseUrl": service}}))
    assert found(look(well), "model") == [(Level.OK, "model.none")]
    assert found(look(well, environ={KEY: "sk-right"}), "model") == [(Level.OK, "model")]
    (wrong,) = [one for one in look(well, environ={KEY: "sk-wrong"}) if one.name == "model"]
    assert wrong.error is not None
    assert wrong.error.code is ErrorCode.MODEL_KEY_REJECTED
    assert found(look(well, environ={KEY: "sk-wrong"}, network=False), "model") == [(Level.OK, "model.unasked")]
    for url, code in (
        ("http://127.0.0.1:9/v1", ErrorCode.MODEL_UNAVAILABLE),
        ("http://example.org", ErrorCode.MODEL_NOT_CONFIGURED),
    ):
        settings(well, json.dumps({"model": {"baseUrl": url}}))
        (check,) = [one for one in look(well, environ={KEY: "sk-right"}) if one.name == "model"]
        assert check.error is not None
        assert (check.level, check.error.code) == (Level.ERROR, code)


def test_every_line_has_its_fix_in_both_languages() -> None:
    """What is not ok has a text for what to do: each `doctor.X` that is a fault has `doctor.X.fix`."""
    sound = {"python", "world", "config", "config.new", "disk", "lock", "lock.orders", "files", "ledger", "settings"}
    sound |= {"policies", "knowledge", "external.on", "external.off", "model", "model.unasked", "model.none"}
    for texts in packaged_texts().values():
        keys = {key.removeprefix("doctor.") for key in texts if key.startswith("doctor.")}
        faults = {key for key in keys if not key.endswith(".fix") and key not in sound}
        faults -= {"summary", "level.ok", "level.warning", "level.error"}
        assert faults == {key.removesuffix(".fix") for key in keys if key.endswith(".fix")}
