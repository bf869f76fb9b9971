"""Hosts: whatever shows cards to players and takes their words; they parse and deliver, and decide nothing."""
