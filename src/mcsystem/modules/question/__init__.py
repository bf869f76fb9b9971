"""Questions: the server's own knowledge answers, with one model call where the player allows it."""

from mcsystem.modules.question.module import Question, setup

__all__ = ["Question", "setup"]
