"""A fresh machine, one with documents in it, and one beside a model service."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the test folders are no packages; `stranger` and `loopback` lie here

from loopback import Loopback
from stranger import KEY, KEY_NAME, Machine

CLAIMS = """---
title: Land claims
language: en_us
audience: all
url: https://example.org/claims
---
# Claiming your first land

Hold a golden shovel and right-click two opposite corners of the area to claim land.

# Giving a claim up

Type /abandonclaim while you stand inside of it.
"""
FAQ = """question,answer
When does the server restart?,Every day at 05:00.
"Can I lock a chest?","Yes: put a sign with [Private] on it."
"""
CHINESE = """---
title: 领地
language: zh_cn
---
# 怎么圈领地

手持金锹,右键点击区域的两个对角,就能圈出自己的领地。
"""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine without any world."""
    return Machine(tmp_path / "machine")


@pytest.fixture(scope="session")
def _library(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    machine = Machine(tmp_path_factory.mktemp("library"))
    machine.write("docs/claims.md", CLAIMS)
    machine.write("docs/faq.csv", FAQ)
    machine.write("docs/zh/lingdi.md", CHINESE)
    machine.write("alex/diary.md", "# Secret base\n\nThe secret base is under the old windmill, eleven blocks down.\n")
    machine.ok("knowledge", "import", "docs")
    machine.ok("knowledge", "import", "alex", "--player", "Alex")
    return machine


@pytest.fixture
def library(_library: Machine, tmp_path: Path) -> Machine:
    """A machine whose world knows about claims in two languages, and a secret of Alex's."""
    return _library.copy_to(tmp_path / "machine")


@pytest.fixture
def service() -> Iterator[Loopback]:
    """A model service on the loopback interface."""
    service = Loopback()
    service.start()
    yield service
    service.stop()


@pytest.fixture
def connected(library: Machine, service: Loopback) -> Machine:
    """The library with that service set up, a key, and external AI on."""
    library.settings(model={"baseUrl": service.url, "model": "scripted"}, externalAi={"default": True})
    library.environ[KEY_NAME] = KEY
    return library
