"""JSON from outside: one object, strict UTF-8, no doubled keys, no NaN, bounded numbers and depth."""

import json
import math
from typing import Final, NoReturn, cast

DEPTH: Final = 32
DIGITS: Final = 18
JsonObject = dict[str, object]


class JsonRefusedError(Exception):
    """The text is not what we read; `reason` is ours alone and holds nothing of the text.

    Args:
        reason: a short word for logs, such as `not_json`, `duplicate_key`, `too_deep`.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason: Final = reason


def parse_object(data: bytes | str) -> JsonObject:
    """The JSON object in `data`, at most 32 levels deep.

    Raises:
        JsonRefusedError: it is something else.
    """
    reason = "not_json"
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
        value: object = json.loads(
            text, object_pairs_hook=_pairs, parse_constant=_constant, parse_int=_integer, parse_float=_float
        )
    except JsonRefusedError as error:
        reason = error.reason
    except UnicodeDecodeError:
        reason = "not_utf8"
    except RecursionError:
        reason = "too_deep"
    except ValueError:
        reason = "not_json"
    else:
        if not isinstance(value, dict):
            raise JsonRefusedError("not_an_object")
        _check_values(cast("JsonObject", value))
        return cast("JsonObject", value)
    # Raised here, not in the handlers above: their exceptions hold the whole text.
    raise JsonRefusedError(reason)


def _check_values(root: JsonObject) -> None:
    level: list[object] = [root]
    depth = 0
    while level:
        below: list[object] = []
        for value in level:
            if isinstance(value, dict):
                found = cast("JsonObject", value)
                below.extend(found.keys())
                below.extend(found.values())
            elif isinstance(value, list):
                below.extend(cast("list[object]", value))
            elif isinstance(value, str) and not value.isascii() and _has_surrogate(value):
                raise JsonRefusedError("surrogate")
        depth += 1
        if depth > DEPTH and any(isinstance(value, dict | list) for value in level):
            raise JsonRefusedError("too_deep")
        level = below


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def _pairs(pairs: list[tuple[str, object]]) -> JsonObject:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise JsonRefusedError("duplicate_key")
    return found


def _constant(_: str) -> NoReturn:
    raise JsonRefusedError("not_a_number")


def _integer(digits: str) -> int:
    if len(digits) > DIGITS + 1:
        raise JsonRefusedError("number_too_large")
    return int(digits)


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise JsonRefusedError("number_too_large")
    return value
