"""Lets `python -m mcsystem` work like the `mcsystem` command."""

from mcsystem.cli import main

main()
