"""`system:question`: local first, one model call at most, sources looked up again before anything is shown."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from mcsystem.api import (
    AnsweredBy,
    AssistantError,
    Button,
    Card,
    Command,
    ErrorCode,
    Line,
    Module,
    Registry,
    Routing,
    RunContext,
    Status,
)
from mcsystem.modules.question.answer import LocalAnswer, check
from mcsystem.modules.question.excerpt import excerpt
from mcsystem.modules.question.material import (
    GUIDES,
    Everything,
    Passage,
    Question,
    languages,
    material,
    query_local,
    sources,
)

PROMPT: Final = "answer_local"
EXCERPT: Final = 320

UNSET: Final = "unset"


async def answer(run: RunContext, question: Question) -> Card:
    """The card for one question: local passages, put into words by a model where there is one.

    Errors: STORAGE_* (never taken for 'nothing found'), KNOWLEDGE_CHANGED.
    """
    passages = await run.call(query_local, question)
    if not passages:
        return nothing(run, await run.call(languages, Everything()))
    card = await with_model(run, question, passages)
    await check_again(run, question, passages)
    return card


async def with_model(run: RunContext, question: Question, passages: Sequence[Passage]) -> Card:
    """The model's answer from these passages, or the passages themselves when it cannot be had."""
    refused = run.model_unavailable()
    if refused is not None:
        return shown(run, question, passages, refused)
    try:
        reply = await run.ask(PROMPT, LocalAnswer, question=question.text, sources=material(passages))
        if not reply.answered:
            card = shown(run, question, passages, None)
            line = Line(run.tr("question.not_in_passages"), "warning")
            return replace(card, body=(line, *card.body), answered_by=AnsweredBy.MODEL)
        checked = check(reply, len(passages))
    except AssistantError as error:
        if not error.recoverable:
            raise
        return shown(run, question, passages, error)
    return Card(
        "",
        tuple(Line(line) for line in checked.lines),
        status=Status.ANSWERED,
        answered_by=AnsweredBy.MODEL,
        sources=tuple(source for source in sources(passages) if source.n in checked.cited),
    )


def shown(run: RunContext, question: Question, passages: Sequence[Passage], why: AssistantError | None) -> Card:
    """The passages themselves, with one line on why no model put them into words when the player should know."""
    listed = sources(passages)
    found = passages[0].found
    first = excerpt(found.text, question.text, EXCERPT, title=found.title)
    body: list[Line | Button] = [Line(f"{first} [1]")]
    told = why is not None and not nobody_wants_one(why)
    if why is not None and told:
        off = why.code is ErrorCode.EXTERNAL_AI_OFF
        body.append(Line(run.sentence(why), "muted" if off else "warning"))
    return Card(
        listed[0].title,
        tuple(body),
        status=Status.MATERIAL,
        code=why.code.value if why is not None and told else None,
        answered_by=AnsweredBy.LOCAL,
        sources=listed,
    )


def nobody_wants_one(why: AssistantError) -> bool:
    """Whether no key is set at all: that is a way to run System, not something to tell every player."""
    return why.code is ErrorCode.MODEL_NOT_CONFIGURED and why.details.get("reason") == UNSET


def nothing(run: RunContext, having: Sequence[str]) -> Card:
    """The card for a question that nothing here answers; `having` are the languages that have any documents."""
    hint = run.tr("question.nothing.hint")
    if having and run.language not in having:
        hint = run.tr("question.nothing.language", language=run.language, languages=", ".join(having))
    return Card(
        "",
        (Line(run.tr("question.nothing"), "warning"), Line(hint, "muted")),
        status=Status.NOTHING,
        answered_by=AnsweredBy.LOCAL,
    )


async def check_again(run: RunContext, question: Question, passages: Sequence[Passage]) -> None:
    """Look the sources up once more: an answer from what was changed, removed or is no longer allowed is not shown.

    Errors: KNOWLEDGE_CHANGED, STORAGE_*.
    """
    now = {passage.identity for passage in await run.call(query_local, question)}
    if not all(passage.identity in now for passage in passages):
        raise AssistantError(ErrorCode.KNOWLEDGE_CHANGED)


def parse(text: str) -> Question:
    """The question is all of the text.

    Errors: REQUEST_EMPTY.
    """
    if not text.strip():
        raise AssistantError(ErrorCode.REQUEST_EMPTY)
    return Question(text.strip())


def setup(registry: Registry) -> None:
    """Register the module; its examples are hints for the routing model: never direct, never cached."""
    routing = Routing(
        parse,
        commands=(
            Command("question", parse, usage="question.usage", summary="question.summary"),
            Command("提问", parse, usage="question.usage.zh", summary="question.summary", bare=True),
        ),
        examples={
            "en": ("how do I claim land", "what are the server rules", "how does the comparator work"),
            "zh": ("怎么领地", "服务器有什么规矩", "比较器怎么用"),
        },
        offer="question.offer",
        direct=False,
    )
    registry.add(
        Module("system:question", answer, (query_local, languages), routing, uses=(GUIDES,), summary="question.summary")
    )
