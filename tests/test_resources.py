"""Texts and prompts: both languages say everything, slots are data, overrides are layered."""

import re
from pathlib import Path

import pytest

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.resources import Texts, packaged_texts, prompt

SOURCES = Path(__file__).parent.parent / "src" / "mcsystem"
SLOT = re.compile(r"\$\{(\w+)\}")


def test_both_languages_have_the_same_keys_and_slots() -> None:
    """Everything a player or admin reads exists in English and Chinese, with the same facts in it."""
    texts = packaged_texts()
    assert set(texts) == {"en_us", "zh_cn"}
    assert set(texts["en_us"]) == set(texts["zh_cn"])
    for key, english in texts["en_us"].items():
        assert set(SLOT.findall(english)) == set(SLOT.findall(texts["zh_cn"][key])), key


@pytest.mark.parametrize("code", list(ErrorCode))
def test_each_code_has_a_sentence_in_each_language_and_is_raised_somewhere(code: ErrorCode) -> None:
    """House: each code is raised somewhere and has a text that says what to do, in every language."""
    for language, texts in packaged_texts().items():
        assert texts.get(f"error.{code.value}"), (language, code)
    users = [path for path in SOURCES.rglob("*.py") if path.name != "errors.py"]
    assert any(f"ErrorCode.{code.value}" in path.read_text(encoding="utf-8") for path in users), code


def test_slot_values_are_never_expanded_again() -> None:
    """A player's text that looks like a slot stays the text it is."""
    texts = Texts(({"en_us": {"k": "you said ${text}", "secret": "hidden"}},))
    assert texts.tr("en_us", "k", text="${secret} $secret") == "you said ${secret} $secret"


def test_unknown_languages_read_english_and_chinese_variants_read_chinese() -> None:
    """A language without texts reads English, zh_tw and zh_hk read the Chinese ones."""
    texts = Texts.packaged()
    assert texts.tr("de_de", "question.nothing") == texts.tr("en_us", "question.nothing")
    assert texts.tr("zh_tw", "question.nothing") == texts.tr("zh_cn", "question.nothing")


def test_a_prompt_can_be_overridden_and_a_broken_one_is_refused(tmp_path: Path) -> None:
    """CFG-02: prompts are the server's own file where there is one; one that is no text is named."""
    assert "numbered sources" in prompt("answer_local", tmp_path).template
    (tmp_path / "answer_local.txt").write_text("mine\n---\n${question}", encoding="utf-8")
    assert prompt("answer_local", tmp_path).template.startswith("mine")
    (tmp_path / "answer_local.txt").write_bytes(b"\xff\xff\xff")
    with pytest.raises(AssistantError) as caught:
        prompt("answer_local", tmp_path)
    assert caught.value.code is ErrorCode.CONFIG_UNREADABLE
