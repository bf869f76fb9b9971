"""Print the built wheel's size and fail when it is over the limit."""

import sys
from pathlib import Path

LIMIT = 10_000_000


def main() -> int:
    """Check every wheel in the folder given; returns the exit code."""
    wheels = sorted(Path(sys.argv[1]).glob("*.whl"))
    if not wheels:
        sys.stderr.write("no wheel was built\n")
        return 1
    for wheel in wheels:
        size = wheel.stat().st_size
        sys.stdout.write(f"{wheel.name}: {size:,} bytes (limit {LIMIT:,})\n")
        if size > LIMIT:
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
