"""One frozen struct per config file; the JSON keys are the field names in camelCase, times are milliseconds there."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Positive = Annotated[int, Meta(ge=1)]
NotNegative = Annotated[int, Meta(ge=0)]


class ModelSettings(msgspec.Struct, frozen=True, rename="camel"):
    """How the text model is reached: any OpenAI-compatible chat service.

    Attributes:
        base_url: prefix to which `/chat/completions` is appended.
        model: model name sent in the request.
        api_key_environment: NAME of the environment variable that holds the key; empty means no key is sent.
        json_mode: `object` (DeepSeek), `schema` (JSON schema), or `none`.
        thinking: value of the `thinking` parameter (`disabled`), or empty to leave it out.
        max_response_bytes: larger answers are refused.
        proxy: an explicit HTTP proxy address, or empty; environment proxies are never used.
    """

    base_url: Annotated[str, Meta(max_length=2048)] = "https://api.deepseek.com"
    model: Annotated[str, Meta(min_length=1, max_length=200)] = "deepseek-flash"
    api_key_environment: Annotated[str, Meta(pattern="^([A-Z_][A-Z0-9_]{0,99})?$")] = "SYSTEM_DEEPSEEK_API_KEY"
    json_mode: Literal["object", "schema", "none"] = "object"
    thinking: Literal["disabled", "enabled", ""] = "disabled"
    max_response_bytes: Annotated[int, Meta(ge=1024, le=67_108_864)] = 1_048_576
    proxy: Annotated[str, Meta(max_length=2048)] = ""


class ExternalSettings(msgspec.Struct, frozen=True, rename="camel"):
    """External services such as the text model.

    Attributes:
        default: whether players' questions may go there before they say anything themselves (`/system ai on|off`).
    """

    default: bool = False


class LimitSettings(msgspec.Struct, frozen=True, rename="camel"):
    """Limits of the whole server and of each player.

    Attributes:
        concurrent_model_calls: model calls at once, all players together.
        daily_model_calls: model calls of one player in a day; 0 means none.
        queue: requests and jobs that may wait at once; one more is told that System is busy.
        workers: threads for files and indexes.
        question_characters: longest question that is read, in characters.
        typed_numbers_per_minute: numbers that one player may type to press buttons in a minute.
    """

    concurrent_model_calls: Annotated[int, Meta(ge=1, le=256)] = 4
    daily_model_calls: NotNegative = 50
    queue: Annotated[int, Meta(ge=1, le=100_000)] = 512
    workers: Annotated[int, Meta(ge=1, le=64)] = 4
    question_characters: Annotated[int, Meta(ge=16, le=100_000)] = 1_000
    typed_numbers_per_minute: Positive = 30


class Policy(msgspec.Struct, frozen=True, rename="camel"):
    """Budget of one workflow (one request handled by one module).

    Attributes:
        model_calls: calls of the model.
        tool_calls: calls of tools, the re-check of local sources included.
        steps: model and tool calls together.
        write_steps: calls of tools that write.
        input_bytes: UTF-8 bytes sent to the model, all calls together.
        output_tokens: tokens asked of one model call.
        total_tokens: tokens of all calls, input and output.
        ttl_millis: the whole request, in milliseconds.
        model_timeout_millis: one model call, in milliseconds.
        react_iterations: rounds of a research loop.
    """

    model_calls: NotNegative = 6
    tool_calls: NotNegative = 9
    steps: NotNegative = 20
    write_steps: NotNegative = 0
    input_bytes: NotNegative = 65_536
    output_tokens: Annotated[int, Meta(ge=1, le=1_000_000)] = 1_536
    total_tokens: NotNegative = 524_288
    ttl_millis: Annotated[int, Meta(ge=100, le=3_600_000)] = 90_000
    model_timeout_millis: Annotated[int, Meta(ge=100, le=3_600_000)] = 20_000
    react_iterations: NotNegative = 6


class AgentSettings(msgspec.Struct, frozen=True, rename="camel"):
    """`system-agent.json`: the model, external services, limits and budgets."""

    model: ModelSettings = ModelSettings()
    external_ai: ExternalSettings = ExternalSettings()
    limits: LimitSettings = LimitSettings()
    policies: dict[str, Policy] = msgspec.field(default_factory=lambda: {"system:question": Policy()})


class KnowledgeSettings(msgspec.Struct, frozen=True, rename="camel"):
    """`system-knowledge.json`: how local material is searched and shown.

    Attributes:
        passages: most passages from each of: own documents, shared documents, quest guides.
    """

    passages: Annotated[int, Meta(ge=1, le=5)] = 5


class Settings(msgspec.Struct, frozen=True):
    """Everything read from the config folder; a reload swaps one reference to a whole new one."""

    agent: AgentSettings = AgentSettings()
    knowledge: KnowledgeSettings = KnowledgeSettings()
