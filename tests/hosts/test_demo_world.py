"""The demo world: filled once, never over an admin's edits, renewed by a newer System."""

from pathlib import Path

import pytest

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.hosts import demo_world
from mcsystem.hosts.demo_world import demo_is_current, ensure_demo, fill_demo, is_demo
from mcsystem.knowledge import KNOWLEDGE
from mcsystem.storage import Databases


def test_it_is_filled_in_both_languages_once(tmp_path: Path) -> None:
    """The first use brings the documents; what an admin removes stays removed; a newer demo comes in by itself."""
    ensure_demo(tmp_path / "world")
    databases = Databases.open(tmp_path / "world", write=True)
    shared = databases.shared()
    try:
        assert KNOWLEDGE.languages(shared) == ("en_us", "zh_cn")
        assert is_demo(shared)
        KNOWLEDGE.remove(shared, "en_us", "rules.md")
        assert fill_demo(shared) is False
        with pytest.raises(AssistantError):
            KNOWLEDGE.find(shared, "en_us", "rules.md")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(demo_world, "packaged_digest", lambda: "newer")
            assert not demo_is_current(shared)
            assert fill_demo(shared) is True
        assert KNOWLEDGE.find(shared, "en_us", "rules.md")
    finally:
        databases.close()


def test_a_holder_that_takes_no_orders_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two first uses at once: the second waits, and when nothing changes says who holds the world."""
    monkeypatch.setattr(demo_world, "WAIT_SECONDS", 0.3)
    databases = Databases.open(tmp_path / "world", write=True)
    try:
        with pytest.raises(AssistantError) as caught:
            ensure_demo(tmp_path / "world")
        assert caught.value.code is ErrorCode.STORAGE_WORLD_LOCKED
        fill_demo(databases.shared())
        ensure_demo(tmp_path / "world")
    finally:
        databases.close()
