"""From a model's text to a typed value, strictly; and from a type to the JSON schema that asks for it."""

import re
from typing import Any, Final, TypeVar, cast

import msgspec

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.gateways.strict_json import JsonObject, JsonRefusedError, parse_object

T = TypeVar("T")
FENCE: Final = re.compile(r"```(?:json|JSON)?[ \t]*\r?\n(.*)\r?\n[ \t]*```", re.DOTALL)
NESTING: Final = 16


def invalid(reason: str) -> AssistantError:
    """MODEL_INVALID_RESPONSE with one of our own words for why; never with text of the answer."""
    return AssistantError(ErrorCode.MODEL_INVALID_RESPONSE, reason=reason)


def decode(content: str, result: type[T]) -> T:
    """The one JSON object that `content` is, as `result`.

    A Markdown fence around the whole object is taken off; prose before or after it is refused. Fields that `result`
    does not have are dropped, unless it is a msgspec Struct that forbids them.

    Errors: MODEL_INVALID_RESPONSE with a short `reason`.
    """
    text = content.strip()
    if not text:
        raise invalid("blank")
    fenced = FENCE.fullmatch(text)
    reason = "wrong_shape"
    try:
        return msgspec.convert(parse_object(fenced[1] if fenced else text), result, strict=True)
    except JsonRefusedError as error:
        reason = error.reason
    except (msgspec.ValidationError, RecursionError):
        reason = "wrong_shape"
    # Raised here, not in the handlers: their exceptions may quote the answer.
    raise invalid(reason)


def json_schema(result: type[object]) -> JsonObject:
    """The schema of `result` as strict services want it: no references, every field required, none besides.

    Raises:
        TypeError: `result` refers to itself or nests deeper than 16.
    """
    schema = cast("JsonObject", msgspec.json.schema(result))
    definitions = cast("dict[str, JsonObject]", schema.pop("$defs", {}))
    return cast("JsonObject", _strict(schema, definitions, NESTING))


def _strict(node: object, definitions: dict[str, JsonObject], left: int) -> object:
    if left == 0:
        raise TypeError("the type of an answer refers to itself or nests too deeply")
    if isinstance(node, list):
        return [_strict(item, definitions, left) for item in cast("list[object]", node)]
    if not isinstance(node, dict):
        return node
    source = cast("dict[str, Any]", node)
    if "$ref" in source:
        return _strict(definitions[source["$ref"].rpartition("/")[2]], definitions, left - 1)
    made: JsonObject = {key: value for key, value in source.items() if key not in {"title", "default"}}
    for key in ("items", "anyOf", "prefixItems", "additionalProperties"):
        if key in made:
            made[key] = _strict(made[key], definitions, left - 1)
    if "properties" in made:
        made.pop("description", None)  # a class's docstring is for us
        properties = cast("JsonObject", made["properties"])
        made["properties"] = {name: _strict(value, definitions, left - 1) for name, value in properties.items()}
        made["required"] = list(properties)
        made["additionalProperties"] = False
    return made
