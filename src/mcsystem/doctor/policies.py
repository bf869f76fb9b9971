"""Whether budgets add up: a limit that another limit makes unreachable, and workflows that nothing installed has."""

import difflib
from collections.abc import Iterator, Mapping
from typing import Final

from mcsystem.doctor.findings import Check, Level
from mcsystem.settings import Policy

BYTES_A_TOKEN: Final = 4
LOOKS: Final = 2  # a question looks its sources up, and again before it answers


def check_policies(policies: Mapping[str, Policy], workflows: Mapping[str, Policy]) -> Iterator[Check]:
    """One line for each odd policy, or one that all is well."""
    odd = [check for name, policy in policies.items() for check in _odd(name, policy, workflows)]
    yield from odd or [Check("policies", Level.OK, "policies", {"count": len(policies)})]


def _odd(name: str, policy: Policy, workflows: Mapping[str, Policy]) -> Iterator[Check]:
    if name not in workflows:
        nearest = difflib.get_close_matches(name, list(workflows), 1)
        known = nearest[0] if nearest else ", ".join(sorted(workflows))
        yield Check("policies", Level.WARNING, "policies.unknown", {"workflow": name, "nearest": known})
        return
    for larger, smaller in _conflicts(policy):
        details = {
            "workflow": name,
            "larger": larger[0],
            "value": larger[1],
            "smaller": smaller[0],
            "limit": smaller[1],
        }
        yield Check("policies", Level.WARNING, "policies.conflict", details)
    if policy.tool_calls < LOOKS or policy.steps < LOOKS:
        yield Check("policies", Level.WARNING, "policies.tools", {"workflow": name, "least": LOOKS})


def _conflicts(policy: Policy) -> Iterator[tuple[tuple[str, int], tuple[str, int]]]:
    """Pairs (name, value) of a limit and the smaller one that keeps it from ever being reached."""
    tokens = policy.input_bytes // BYTES_A_TOKEN + policy.output_tokens
    pairs = (
        (("modelCalls", policy.model_calls), ("steps", policy.steps)),
        (("toolCalls", policy.tool_calls), ("steps", policy.steps)),
        (("writeSteps", policy.write_steps), ("toolCalls", policy.tool_calls)),
        (("modelTimeoutMillis", policy.model_timeout_millis), ("ttlMillis", policy.ttl_millis)),
        (("reactIterations", policy.react_iterations), ("modelCalls", policy.model_calls)),
        (("inputBytes / 4 + outputTokens", tokens), ("totalTokens", policy.total_tokens)),
    )
    for larger, smaller in pairs:
        if larger[1] > smaller[1] and not (smaller[0] == "modelCalls" and policy.model_calls == 0):
            yield larger, smaller
