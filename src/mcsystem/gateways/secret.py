"""Keys that never show themselves, and a log filter that masks them wherever else they turn up."""

import logging
from collections.abc import Callable, Iterable
from typing import Final, NoReturn

from mcsystem.errors import AssistantError, ErrorCode

MASK: Final = "***"
LONGEST_KEY: Final = 4096
SHORTEST_TELLING: Final = 8  # shorter values (a local server's "x") turn up in ordinary text by chance


class Secret:
    """A key read from the environment: `str`, `repr` and formatting give `***`; it cannot be pickled or copied out.

    Args:
        value: the key itself.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value: Final = value

    def reveal(self) -> str:
        """The key itself, for the one header that carries it."""
        return self._value

    def shown_in(self, text: str) -> bool:
        """Whether `text` gives this key away; keys under 8 characters are never looked for."""
        return len(self._value) >= SHORTEST_TELLING and self._value in text

    def __repr__(self) -> str:
        return MASK

    def __str__(self) -> str:
        return MASK

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not serialised")


def read_secret(name: str, value: str | None) -> Secret:
    """The key held by environment variable `name`.

    Errors: MODEL_NOT_CONFIGURED when it is missing, or holds what no HTTP header may carry.
    """
    if value is None or not value.strip():
        reason = "unset"
    elif len(value) > LONGEST_KEY:
        reason = "the key is too long"
    elif not all("!" <= character <= "~" for character in value):
        reason = "the key holds a space, a line break, a control or a non-ASCII character"
    else:
        return Secret(value)
    raise AssistantError(ErrorCode.MODEL_NOT_CONFIGURED, field=name, expected="sk-...", reason=reason)


class MaskingFilter(logging.Filter):
    """Masks keys in every record that passes, its arguments and its traceback included.

    Args:
        secrets: the keys in use, asked at each record.
    """

    def __init__(self, secrets: Callable[[], Iterable[Secret]]) -> None:
        super().__init__()
        self._secrets = secrets

    def filter(self, record: logging.LogRecord) -> bool:
        """Mask and let through."""
        for secret in self._secrets():
            if secret.shown_in(record.getMessage()):
                record.msg = record.getMessage().replace(secret.reveal(), MASK)
                record.args = ()
            if record.exc_info and not record.exc_text:
                record.exc_text = logging.Formatter().formatException(record.exc_info)
            if record.exc_text and secret.shown_in(record.exc_text):
                record.exc_text = record.exc_text.replace(secret.reveal(), MASK)
        return True
