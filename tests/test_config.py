"""The config folder: defaults are written once, wrong fields are named, the last good settings stay."""

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from mcsystem.config import AGENT_FILE, FILES, Config
from mcsystem.resources import packaged
from mcsystem.settings import AgentSettings, Policy


def loaded(folder: Path) -> Config:
    config = Config(folder)
    config.load()
    return config


def write(folder: Path, data: object, name: str = AGENT_FILE) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")


def test_missing_files_are_written_from_the_packaged_defaults(tmp_path: Path) -> None:
    """CFG-01: a missing file is written from packaged defaults."""
    config = loaded(tmp_path / "config" / "system")
    for name in FILES:
        assert (config.folder / name).read_text(encoding="utf-8") == packaged(f"defaults/{name}")
    assert config.problems == ()


def test_an_existing_file_is_never_overwritten(tmp_path: Path) -> None:
    """CFG-01: an existing file stays byte for byte, even a broken one."""
    write(tmp_path, "{ not json")
    loaded(tmp_path)
    assert (tmp_path / AGENT_FILE).read_text(encoding="utf-8") == "{ not json"


@pytest.mark.parametrize("name", list(FILES))
def test_packaged_defaults_equal_the_structs_own(name: str) -> None:
    """The defaults live once: the packaged file and the struct say the same, and the file names every field."""
    kind = FILES[name]
    assert msgspec.json.decode(packaged(f"defaults/{name}"), type=kind) == kind()
    assert json.loads(packaged(f"defaults/{name}")) == msgspec.to_builtins(kind())


def test_a_wrong_type_in_one_field_names_it_and_the_rest_goes_on(tmp_path: Path) -> None:
    """CFG-01: file, field and what was expected are named; good fields of the same file count at first start."""
    write(tmp_path, {"limits": {"queue": "many", "workers": 2}, "model": {"model": "other"}})
    config = loaded(tmp_path)
    (problem,) = config.problems
    assert (problem.file, problem.field) == (AGENT_FILE, "limits.queue")
    assert problem.expected == "int"
    assert config.settings.agent.limits.workers == 2
    assert config.settings.agent.model.model == "other"
    assert config.settings.agent.limits.queue == AgentSettings().limits.queue


def test_a_wrong_range_inside_a_policy_is_named_with_its_workflow(tmp_path: Path) -> None:
    """CFG-01: also inside `policies`, with the workflow's name in the path."""
    write(tmp_path, {"policies": {"system:question": {"modelCalls": -1, "steps": 9}}})
    config = loaded(tmp_path)
    assert [problem.field for problem in config.problems] == ["policies.system:question.modelCalls"]
    assert config.settings.agent.policies["system:question"] == Policy(steps=9)


@pytest.mark.parametrize("text", ['{"model": {"baseUrl": "http://127.0.0.1:1/v1"}', '{"model": {"baseUrl": 5}}'])
def test_a_mistake_about_the_model_sends_nothing_elsewhere(tmp_path: Path, text: str) -> None:
    """CFG-01, CFG-03: where the file no longer says which service is meant, no key goes to the default one."""
    write(tmp_path, text)
    config = loaded(tmp_path)
    assert config.problems
    assert config.settings.agent.model.base_url == ""
    write(tmp_path, {"model": {"baseUrl": "http://127.0.0.1:1/v1"}})
    config.load()
    assert config.settings.agent.model.base_url == "http://127.0.0.1:1/v1"


def test_unknown_and_missing_fields_are_tolerated(tmp_path: Path) -> None:
    """CFG-01: unknown or missing fields are no problem."""
    write(tmp_path, {"future": {"x": 1}, "limits": {"workers": 3, "unknown": True}})
    config = loaded(tmp_path)
    assert config.problems == ()
    assert config.settings.agent.limits.workers == 3


def test_a_bad_reload_keeps_the_last_good_settings(tmp_path: Path) -> None:
    """CFG-01: after a reload that fails, what was in force stays in force, whole."""
    write(tmp_path, {"limits": {"workers": 3}})
    config = loaded(tmp_path)
    write(tmp_path, {"limits": {"workers": "x", "queue": 7}})
    assert config.load()
    assert (config.settings.agent.limits.workers, config.settings.agent.limits.queue) == (3, 512)
    write(tmp_path, {"limits": {"workers": 5}})
    assert config.load() == ()
    assert config.settings.agent.limits.workers == 5


def test_changing_one_workflow_leaves_the_others_alone(tmp_path: Path) -> None:
    """USE-01: a policy that names one field keeps the defaults of the others, and of other workflows."""
    write(tmp_path, {"policies": {"example:other": {"steps": 3}}})
    policies = loaded(tmp_path).settings.agent.policies
    assert policies["example:other"] == Policy(steps=3)


@pytest.mark.parametrize("text", ["", "[]", "null", "{", '"x"', "\ufeff{", "{'a': 1}"])
def test_a_broken_file_is_one_problem_and_defaults_stay(tmp_path: Path, text: str) -> None:
    """CFG-01: whatever stands in a file, there is one sentence about it and the server starts."""
    write(tmp_path, text)
    config = loaded(tmp_path)
    assert len(config.problems) == 1
    assert config.settings.agent.limits == AgentSettings().limits
    assert config.settings.agent.model.base_url == ""


def test_binary_and_bom_files(tmp_path: Path) -> None:
    """A byte-order mark (Notepad) is fine; bytes that are no text are a problem."""
    tmp_path.joinpath(AGENT_FILE).write_bytes(b'\xef\xbb\xbf{"limits": {"workers": 6}}')
    assert loaded(tmp_path).settings.agent.limits.workers == 6
    tmp_path.joinpath(AGENT_FILE).write_bytes(b"\xff\xfe\x00\x80")
    assert len(loaded(tmp_path).problems) == 1


def test_text_that_is_no_text_is_a_problem_of_its_field(tmp_path: Path) -> None:
    """A lone surrogate in a value names the field; nothing foreign is raised."""
    write(tmp_path, '{"limits": {"queue": "\\ud800"}, "model": {"model": "\\ud800", "jsonMode": "\\ud800"}}')
    config = loaded(tmp_path)
    assert {problem.field for problem in config.problems} >= {"limits.queue", "model.jsonMode"}


FULL = """
import resource, signal, sys
from pathlib import Path
from mcsystem.config import write_default
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
path = Path(sys.argv[1])
print(write_default(path), path.exists())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are POSIX")
def test_a_full_disk_leaves_no_half_file(tmp_path: Path) -> None:
    """CFG-01: a default that could not be written whole is not there, so it is no mistake from then on."""
    path = tmp_path / AGENT_FILE
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path)], check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.split() == ["False", "False"]


def test_own_texts_override_and_bad_ones_are_named(tmp_path: Path) -> None:
    """CFG-02: the server's own texts reload live; a bad file keeps the packaged ones and is named."""
    write(tmp_path / "lang", {"question.nothing": "Ask Bob."}, "en_us.json")
    config = loaded(tmp_path)
    assert config.texts.tr("en_us", "question.nothing") == "Ask Bob."
    write(tmp_path / "lang", {"question.nothing": 3}, "en_us.json")
    (problem,) = config.load()
    assert (problem.file, problem.field) == ("lang/en_us.json", "question.nothing")
    assert config.texts.tr("en_us", "question.nothing") == "Ask Bob."


@pytest.mark.skipif(os.name != "posix", reason="folder rights work differently on Windows")
def test_a_folder_that_cannot_be_made_is_no_reason_to_stop(tmp_path: Path) -> None:
    """CFG-01: where nothing can be written the defaults are simply used."""
    (tmp_path / "file").write_text("x", encoding="utf-8")
    config = loaded(tmp_path / "file" / "system")
    assert config.settings.agent == AgentSettings()
