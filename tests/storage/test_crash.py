"""What a killed process and a power cut leave behind: every acknowledged write, and no broken file."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROUNDS = 500 if os.environ.get("MCSYSTEM_SOAK") else 20
CUTS = 40


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no kill -9 and no fork")
@pytest.mark.timeout(600)
def test_kill_in_the_middle_of_writes(tmp_path: Path) -> None:
    """After kill -9 every acknowledged value is there, no file is broken, and a left-over `.tmp` is not read."""
    command = [sys.executable, str(HERE / "kill_cases.py"), str(tmp_path), str(ROUNDS)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=550, check=False)
    assert ran.returncode == 0, ran.stderr
    total = json.loads(ran.stdout)
    assert total["lost"] == 0
    assert total["acks"] >= ROUNDS


@pytest.mark.powercut
@pytest.mark.skipif(sys.platform != "linux", reason="loop devices are Linux's")
@pytest.mark.timeout(1200)
def test_power_cut(tmp_path: Path) -> None:
    """Of 40 simulated power cuts on ext4 (the disk as it is at that moment) none loses an acknowledged write."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("losetup", "mkfs.ext4", "mount"))):
        pytest.skip("needs root, losetup, mkfs.ext4 and mount")
    command = [sys.executable, str(HERE / "powercut_cases.py"), str(tmp_path), str(CUTS)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=1100, check=False)
    if ran.returncode == 77:
        pytest.skip(f"this machine gives no loop device: {ran.stderr.strip()[-200:]}")
    assert ran.returncode == 0, ran.stderr
    total = json.loads(ran.stdout)
    assert total["cuts"] == CUTS
    assert total["acks"] >= CUTS
    assert total["lost"] == 0
