"""Base URLs that an admin may set: https, or http to this very machine, and nothing clever."""

import ipaddress
import re
from dataclasses import dataclass
from typing import Final, NoReturn, Self

from mcsystem.errors import AssistantError, ErrorCode

LONGEST: Final = 2048
SHAPE: Final = re.compile(r"(https?)://([^/]*)(/.*)?", re.IGNORECASE)
LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
NUMBER_LIKE: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
PATH: Final = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=:@/-]*")
OPERATIONS: Final = ("/chat/completions", "/completions", "/responses", "/models", "/embeddings", "/messages")
PORTS: Final = {"https": 443, "http": 80}
EXPECTED: Final = "https://HOST/PATH | http://localhost:PORT/PATH"


@dataclass(frozen=True, slots=True)
class BaseUrl:
    """A checked base URL.

    Attributes:
        scheme: `https` or `http`.
        host: ASCII lower-case name or IP literal, IPv6 without brackets.
        port: always set.
        path: without a slash at its end; may be empty.
    """

    scheme: str
    host: str
    port: int
    path: str

    @classmethod
    def parse(cls, text: str, *, field: str) -> Self:
        """Read a base URL.

        Errors: MODEL_NOT_CONFIGURED with `field`, `expected` and the `reason`; never with the text itself, which may
        hold a password.
        """
        if any(character <= " " or character in "\\\x7f" or character.isspace() for character in text):
            refuse(field, "it holds white space, a control character or a backslash")
        for mark, reason in (("?", "it holds a query"), ("#", "it holds a fragment")):
            if mark in text:
                refuse(field, reason)
        shape = SHAPE.fullmatch(text)
        if shape is None or len(text) > LONGEST:
            refuse(field, "it is not an https or http address")
        scheme, authority, path = shape[1].lower(), shape[2], shape[3] or ""
        host, port = _authority(field, authority, PORTS[scheme])
        if scheme == "http" and not is_loopback(host):
            refuse(field, "http is only for this machine (localhost, 127.x.x.x, [::1]); use https")
        return cls(scheme, host, port, _path(field, path))

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port: where the key may go."""
        return self.scheme, self.host, self.port

    @property
    def service(self) -> str:
        """Host and port for people and the ledger; the port is left out where it is the usual one."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return shown if self.port == PORTS[self.scheme] else f"{shown}:{self.port}"

    def url(self, operation: str) -> str:
        """The whole address of `operation`, such as `/chat/completions`."""
        return f"{self.scheme}://{self.service}{self.path}{operation}"


def is_loopback(host: str) -> bool:
    """Whether `host` is spelled as this machine: `localhost`, 127.0.0.0/8 or ::1."""
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback and (address.version == 4 or address == ipaddress.IPv6Address("::1"))  # noqa: PLR2004 - IP versions


def refuse(field: str, reason: str) -> NoReturn:
    """Raise MODEL_NOT_CONFIGURED for `field`."""
    raise AssistantError(ErrorCode.MODEL_NOT_CONFIGURED, field=field, expected=EXPECTED, reason=reason)


def _authority(field: str, text: str, usual: int) -> tuple[str, int]:
    if "@" in text:
        refuse(field, "it holds a user name or password")
    if "%" in text:
        refuse(field, "its host holds a percent sign")
    if text.startswith("["):
        inner, bracket, rest = text[1:].partition("]")
        if not bracket:
            refuse(field, "its host is not an IPv6 address")
        return _ipv6(field, inner), _port(field, rest, usual)
    name, colon, port = text.partition(":")
    return _name(field, name), _port(field, colon + port, usual)


def _port(field: str, text: str, usual: int) -> int:
    if not text:
        return usual
    digits = text[1:]
    if text[0] != ":" or not re.fullmatch(r"[0-9]{1,5}", digits) or not 1 <= int(digits) <= 65535:  # noqa: PLR2004 - TCP
        refuse(field, "its port is not 1 to 65535")
    return int(digits)


def _ipv6(field: str, text: str) -> str:
    try:
        return ipaddress.IPv6Address(text).compressed
    except ValueError:
        refuse(field, "its host is not an IPv6 address")


def _name(field: str, text: str) -> str:
    try:
        host = text.lower() if text.isascii() else text.encode("idna").decode("ascii").lower()
    except UnicodeError:
        refuse(field, "its host is not a host name")
    labels = host.split(".")
    if len(host) > 253 or not all(LABEL.fullmatch(label) for label in labels):  # noqa: PLR2004 - DNS
        refuse(field, "its host is not a host name")
    if NUMBER_LIKE.fullmatch(labels[-1]):
        try:
            return str(ipaddress.IPv4Address(host))
        except ValueError:
            refuse(field, "its host is not an IPv4 address of four plain numbers")
    return host


def _path(field: str, text: str) -> str:
    path = text.rstrip("/")
    if "%" in path or not PATH.fullmatch(path):
        refuse(field, "its path holds a character that is not allowed")
    if "//" in text or any(part in {".", ".."} for part in path.split("/")):
        refuse(field, "its path holds empty or dotted parts")
    if path.lower().endswith(OPERATIONS):
        refuse(field, "its path ends in an operation; leave out /chat/completions")
    return path
