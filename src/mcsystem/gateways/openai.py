"""Any service that speaks OpenAI's chat protocol: one question, one answer, no streaming, no tools, no history."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, cast

import msgspec

from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.gateways.address import BaseUrl
from mcsystem.gateways.answers import invalid, json_schema
from mcsystem.gateways.attempts import AttemptState, Usage
from mcsystem.gateways.provider import Completion, ModelCall, Refused, RunBlocking
from mcsystem.gateways.secret import Secret, read_secret
from mcsystem.gateways.strict_json import JsonObject, JsonRefusedError, parse_object
from mcsystem.gateways.transport import OK, Broken, Exchange, HttpFailure, HttpReply, HttpTransport
from mcsystem.settings import ModelSettings

CHAT: Final = "/chat/completions"
MODELS: Final = "/models"
LARGE: Final = 65_536
ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})")
TOKENS_LIMIT: Final = 10**12
SERVER_ERRORS: Final = range(500, 600)
TOLD_ENDS: Final = ("length", "content_filter", "tool_calls", "function_call")
STATUS_CODES: Final[Mapping[int, ErrorCode]] = {
    400: ErrorCode.MODEL_INVALID_REQUEST,
    401: ErrorCode.MODEL_KEY_REJECTED,
    402: ErrorCode.MODEL_NO_CREDIT,
    403: ErrorCode.MODEL_KEY_REJECTED,
    404: ErrorCode.MODEL_INVALID_REQUEST,
    422: ErrorCode.MODEL_INVALID_REQUEST,
    429: ErrorCode.MODEL_RATE_LIMITED,
}


class OpenAiModel:
    """The provider for OpenAI-compatible services.

    Args:
        settings: the model's settings as they are now.
        environ: where the key is looked up, at each call.
        transport: how requests are sent.
        run_blocking: where large answers are parsed.
    """

    def __init__(
        self,
        settings: Callable[[], ModelSettings],
        environ: Mapping[str, str],
        *,
        transport: HttpTransport,
        run_blocking: RunBlocking,
    ) -> None:
        self._settings = settings
        self._environ = environ
        self._transport = transport
        self._run = run_blocking

    def connect(self) -> "OpenAiConnection":
        """A connection with the settings and the key of this moment; opens nothing.

        Errors: MODEL_NOT_CONFIGURED with `field`, `expected` and `reason`.
        """
        settings = self._settings()
        base = BaseUrl.parse(settings.base_url, field="model.baseUrl")
        check_proxy(settings.proxy)
        name = settings.api_key_environment
        key = read_secret(name, self._environ.get(name)) if name else None
        return OpenAiConnection(settings, base, key, self._transport, self._run)

    def secrets(self) -> tuple[Secret, ...]:
        """The keys in use, for the log filter; empty when there is none."""
        value = self._environ.get(self._settings().api_key_environment)
        return (Secret(value),) if value else ()


@dataclass(frozen=True, slots=True)
class OpenAiConnection:
    """One service with the settings of one moment."""

    settings: ModelSettings
    base: BaseUrl
    key: Secret | None
    transport: HttpTransport
    run_blocking: RunBlocking

    @property
    def service(self) -> str:
        """Host and unusual port of the service."""
        return self.base.service

    @property
    def model(self) -> str:
        """Name of the model in the settings; what the service calls itself is not believed."""
        return self.settings.model

    async def complete(
        self, call: ModelCall, result: type[object], *, deadline: float, sending: Callable[[], None]
    ) -> Completion | Refused:
        """See `Connection.complete`."""
        body = msgspec.json.encode(chat_body(self.settings, call, result))
        exchange = self._exchange("POST", CHAT, body)
        reply = await self.transport.send(exchange, deadline=deadline, sending=sending)
        if isinstance(reply, HttpFailure):
            return Refused(failure_error(reply), AttemptState.UNKNOWN if reply.sent else AttemptState.FAILED_FREE)
        if reply.status != OK:
            return Refused(status_error(reply), AttemptState.FAILED_FREE)
        if len(reply.body) <= LARGE:
            return read_completion(reply.body, self.key)
        return await self.run_blocking(lambda: read_completion(reply.body, self.key))

    async def probe(self, *, deadline: float) -> AssistantError | None:
        """See `Connection.probe`: asks for the list of models and reads no more than the status and a small body."""
        reply = await self.transport.send(self._exchange("GET", MODELS, None), deadline=deadline, sending=_ignored)
        if isinstance(reply, HttpFailure):
            return None if reply.kind is Broken.TOO_LARGE else failure_error(reply)
        return None if reply.status == OK else status_error(reply)

    def _exchange(self, method: Literal["GET", "POST"], operation: str, body: bytes | None) -> Exchange:
        settings = self.settings
        return Exchange(
            method=method,
            base=self.base,
            operation=operation,
            body=body,
            key=self.key,
            max_bytes=settings.max_response_bytes,
            proxy=settings.proxy,
        )


def chat_body(settings: ModelSettings, call: ModelCall, result: type[object]) -> JsonObject:
    """The request: two messages, the limits, and how JSON is asked for. Nothing about the player."""
    system = call.system
    if settings.json_mode != "none" and "json" not in f"{system}{call.user}".lower():
        system += "\nAnswer with one JSON object."  # services refuse JSON mode when the prompt does not say so
    body: JsonObject = {
        "model": settings.model,
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": call.user}],
        "max_tokens": call.output_tokens,
        "temperature": 0,
        "stream": False,
    }
    if settings.json_mode == "object":
        body["response_format"] = {"type": "json_object"}
    elif settings.json_mode == "schema":
        shape = {"name": call.schema_name, "strict": True, "schema": json_schema(result)}
        body["response_format"] = {"type": "json_schema", "json_schema": shape}
    if settings.thinking:
        body["thinking"] = {"type": settings.thinking}
    return body


def read_completion(body: bytes, key: Secret | None) -> Completion | Refused:
    """The one choice of a chat answer; anything odd is refused with a word of ours."""
    try:
        answer = parse_object(body)
    except JsonRefusedError as error:
        return Refused(invalid(error.reason), AttemptState.UNKNOWN)
    usage = read_usage(answer.get("usage"))
    try:
        content = _content(_choice(answer))
    except AssistantError as error:
        return Refused(error, AttemptState.UNKNOWN, usage)
    if key is not None and (key.shown_in(content) or key.shown_in(_unescaped(content))):
        return Refused(invalid("key_in_answer"), AttemptState.UNKNOWN, usage)
    return Completion(content, usage)


def _unescaped(content: str) -> str:
    """The text with JSON's escapes read, so that an escaped key is seen as well."""
    return ESCAPE.sub(lambda found: chr(int(found[1], 16)), content).replace("\\/", "/")


def _choice(answer: JsonObject) -> JsonObject:
    choices = answer.get("choices")
    if not isinstance(choices, list) or len(cast("list[object]", choices)) != 1:
        raise invalid("choices")
    choice = cast("list[object]", choices)[0]
    if not isinstance(choice, dict):
        raise invalid("choices")
    return cast("JsonObject", choice)


def _content(choice: JsonObject) -> str:
    finish, message = choice.get("finish_reason"), choice.get("message")
    if finish is not None and finish != "stop":
        raise invalid(f"finish_{finish}" if finish in TOLD_ENDS else "finish_reason")
    if not isinstance(message, dict):
        raise invalid("message")
    said = cast("JsonObject", message)
    if said.get("tool_calls") or said.get("function_call"):
        raise invalid("finish_tool_calls")
    if said.get("refusal"):
        raise invalid("refusal")
    content = said.get("content")
    if not isinstance(content, str):
        raise invalid("content")
    return content


def read_usage(found: object) -> Usage:
    """Tokens that the service counted; what is missing, negative, no whole number or absurd is unknown."""
    if not isinstance(found, dict):
        return Usage()
    usage = cast("JsonObject", found)
    prompt, completion, total = (
        _count(usage.get(name)) for name in ("prompt_tokens", "completion_tokens", "total_tokens")
    )
    if total is None and prompt is not None and completion is not None:
        total = prompt + completion
    return Usage(prompt, completion, total)


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= TOKENS_LIMIT else None


def status_error(reply: HttpReply) -> AssistantError:
    """The error for a status other than 200; the body was never read."""
    code = STATUS_CODES.get(reply.status)
    if code is None:
        code = ErrorCode.MODEL_UNAVAILABLE if reply.status in SERVER_ERRORS else ErrorCode.MODEL_HTTP_ERROR
    return AssistantError(code, status=reply.status)


def failure_error(failure: HttpFailure) -> AssistantError:
    """The error for an exchange without a whole answer."""
    match failure.kind:
        case Broken.TIMEOUT:
            return AssistantError(ErrorCode.MODEL_TIMEOUT)
        case Broken.COMPRESSED | Broken.TOO_LARGE:
            return invalid(failure.kind.value)
        case Broken.UNREACHABLE | Broken.INTERRUPTED:
            return AssistantError(ErrorCode.MODEL_UNAVAILABLE, reason=failure.reason or failure.kind.value)


def check_proxy(text: str) -> None:
    """Refuse a proxy setting that is not a plain http or https address.

    Errors: MODEL_NOT_CONFIGURED with `field`, `expected` and `reason`.
    """
    if not text:
        return
    scheme, mark, rest = text.partition("://")
    plain = BaseUrl.parse(f"https://{rest}", field="model.proxy") if mark else None
    if plain is None or scheme.lower() not in {"http", "https"} or plain.path:
        raise AssistantError(
            ErrorCode.MODEL_NOT_CONFIGURED,
            field="model.proxy",
            expected="http://HOST:PORT",
            reason="it is not a plain http or https proxy address",
        )


def _ignored() -> None:
    """A probe is not billed, so nobody asks when it leaves."""
