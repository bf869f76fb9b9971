"""Describes a Python type as a table's structure, and refuses types that would not come back as they went in."""

from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec
from msgspec import inspect as types

from mcsystem.errors import AssistantError, ErrorCode

SIMPLE: Final[dict[type[types.Type], str]] = {
    types.BoolType: "bool",
    types.IntType: "int",
    types.FloatType: "float",
    types.StrType: "str",
    types.BytesType: "bytes",
    types.DateTimeType: "datetime",
    types.DateType: "date",
    types.TimeType: "time",
    types.TimeDeltaType: "timedelta",
    types.UUIDType: "uuid",
    types.DecimalType: "decimal",
}
KEYS: Final = frozenset({"str", "int", "uuid", "date"})


@dataclass(frozen=True, slots=True)
class Structure:
    """What a table holds.

    Attributes:
        text: canonical description; equal for types that hold the same fields, whatever the classes are called.
        frozen: whether no part of a value can be changed.
    """

    text: str
    frozen: bool


def describe(kind: object) -> Structure:
    """The structure of `kind`.

    Errors: STORAGE_VALUE_INVALID with `reason` and `path` where a value of this type could be lost or changed.
    """
    try:
        info = types.type_info(kind)
    except (TypeError, NameError) as error:
        raise AssistantError(ErrorCode.STORAGE_VALUE_INVALID, reason=str(error)[:200], path="$") from error
    walk = _Walk()
    return Structure(walk.text(info, "$"), walk.frozen)


class _Walk:
    def __init__(self) -> None:
        self.frozen = True
        self._open: list[object] = []

    def text(self, info: types.Type, path: str) -> str:
        simple = SIMPLE.get(type(info))
        if simple is not None:
            return simple
        match info:
            case types.EnumType():
                return "enum(" + ",".join(sorted(repr(member.value) for member in cast("Any", info.cls))) + ")"
            case types.LiteralType():
                return "literal(" + ",".join(sorted(map(repr, info.values))) + ")"
            case types.UnionType():
                return "|".join(sorted(self.text(item, path) for item in info.types))
            case types.StructType() | types.DataclassType() | types.TypedDictType() | types.NamedTupleType():
                return self._fields(info, path)
            case _:
                return self._collection(info, path)

    def _collection(self, info: types.Type, path: str) -> str:
        inner = f"{path}[]"
        match info:
            case types.DictType():
                return self._dict(info, path)
            case types.TupleType():
                return "tuple(" + ",".join(self.text(item, inner) for item in info.item_types) + ")"
            case types.VarTupleType():
                return f"list[{self.text(info.item_type, inner)}]"
            case types.FrozenSetType():
                return f"set[{self.text(info.item_type, inner)}]"
            case types.ListType() | types.SetType():
                self.frozen = False
                return f"{'list' if isinstance(info, types.ListType) else 'set'}[{self.text(info.item_type, inner)}]"
            case _:
                raise refused(f"a table cannot hold {type(info).__name__.removesuffix('Type')}", path)

    def _dict(self, info: types.DictType, path: str) -> str:
        self.frozen = False
        key = self.text(info.key_type, f"{path} key")
        if key not in KEYS and not key.startswith(("enum(", "literal(")):
            raise refused("keys must be str, int, UUID, date, an enum or literals", path)
        return f"dict[{key},{self.text(info.value_type, f'{path}[]')}]"

    def _fields(self, info: Any, path: str) -> str:  # noqa: ANN401 - four classes of msgspec that share no base
        kind = cast("type", info.cls)
        self.frozen = self.frozen and is_frozen(kind)
        if kind in self._open:
            return f"^{len(self._open) - self._open.index(kind)}"
        self._open.append(kind)
        fields: list[str] = []
        for field in info.fields:
            inner = f"{path}.{field.encode_name}"
            fields.append(f"{field.encode_name}:{self._field(field, inner, array=_is_array(info))}")
        self._open.pop()
        tag = f"{info.tag_field}={info.tag!r};" if getattr(info, "tag_field", None) else ""
        return ("[" if _is_array(info) else "{") + tag + ",".join(fields) + ("]" if _is_array(info) else "}")

    def _field(self, field: types.Field, path: str, *, array: bool) -> str:
        info = field.type
        if not isinstance(info, types.UnionType) or not any(isinstance(it, types.NoneType) for it in info.types):
            return self.text(info, path)
        if array or field.default is not None:
            raise refused("a field that may be None needs the default None", path)
        rest = [item for item in info.types if not isinstance(item, types.NoneType)]
        return "|".join(sorted(self.text(item, path) for item in rest)) + "?"


def is_frozen(kind: type) -> bool:
    """Whether instances of a struct, dataclass or named tuple refuse assignment."""
    if issubclass(kind, msgspec.Struct):
        return kind.__struct_config__.frozen
    dataclass_params = getattr(cast("Any", kind), "__dataclass_params__", None)
    if dataclass_params is not None:
        return bool(dataclass_params.frozen)
    return issubclass(kind, tuple)


def refused(reason: str, path: str) -> AssistantError:
    """Our error for a type that no table can hold."""
    return AssistantError(ErrorCode.STORAGE_VALUE_INVALID, reason=reason, path=path)


def _is_array(info: object) -> bool:
    return isinstance(info, types.NamedTupleType) or bool(getattr(info, "array_like", False))
