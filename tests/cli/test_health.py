"""`mcsystem doctor`: one line a check with its fix, exit code 1 on errors, JSON for scripts, both languages."""

import json

from machine import Commands


def test_a_sound_world_is_exit_code_0(lighthouse: Commands) -> None:
    """Every line ok, in both languages."""
    lighthouse("ask", "x")
    done = lighthouse("doctor")
    assert done.code == 0
    assert done.out.count("✔ ok") == done.out.count("\n") - 1
    assert "✔ 正常" in lighthouse("doctor", "--lang", "zh_cn").out


def test_an_error_is_exit_code_1_with_its_fix(mcsystem: Commands) -> None:
    """The line says what is wrong and the arrow what to do; nothing is made by looking."""
    done = mcsystem("doctor", "--world", "nowhere")
    assert done.code == 1
    assert "✘ error" in done.out
    assert "→ Check --world" in done.out
    assert not (mcsystem.folder / "nowhere").exists()
    assert not (mcsystem.folder / "config").exists()


def test_json_has_every_check(lighthouse: Commands) -> None:
    """Name, level, text, fix and code, so that a script can watch a server."""
    config = lighthouse.folder / "config" / "system"
    config.mkdir(parents=True)
    (config / "system-agent.json").write_text('{"limits": 5, "policies": {"system:qestion": {}}}')
    (config / "extensions").mkdir()
    (config / "extensions" / "broken.py").write_text("def setup(registry):\n    raise ValueError('no')\n")
    done = lighthouse("doctor", "--json")
    rows = {row["name"]: row for row in json.loads(done.out)}
    assert done.code == 1
    assert set(rows["settings"]) == {"name", "level", "text", "fix", "code"}
    assert rows["settings"]["level"] == "error"
    assert "limits" in rows["settings"]["text"]
    assert (rows["policies"]["level"], "system:question" in rows["policies"]["fix"]) == ("warning", True)
    assert (rows["extensions"]["level"], rows["extensions"]["code"]) == ("error", "EXTENSION_INVALID")
    assert "broken.py" in rows["extensions"]["text"]


def test_a_bare_machine_is_well_enough(mcsystem: Commands) -> None:
    """Without any world the demo world is only announced: a warning, exit code 0."""
    done = mcsystem("doctor")
    assert (done.code, "mcsystem play" in done.out) == (0, True)
    assert not (mcsystem.folder / ".local").exists()
