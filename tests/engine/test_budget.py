"""A budget is never passed, whoever takes from it."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcsystem.engine.budget import Budget
from mcsystem.errors import AssistantError, ErrorCode
from mcsystem.settings import Policy

small = st.integers(0, 5)


@given(small, small, small, small, st.lists(st.sampled_from(["tool", "write", "model"]), max_size=40))
def test_no_limit_is_ever_passed(models: int, tools: int, steps: int, writes: int, wanted: list[str]) -> None:
    """USE-01: for random policies and wishes nothing goes over its limit, and a refusal takes nothing."""
    policy = Policy(model_calls=models, tool_calls=tools, steps=steps, write_steps=writes, input_bytes=300)
    budget = Budget(policy, lambda: 0.0)
    for wish in wanted:
        before = dict(budget.spent)
        try:
            if wish == "model":
                budget.take_model(100)
            else:
                budget.take_tool(write=wish == "write")
        except AssistantError as error:
            assert error.code is ErrorCode.BUDGET_EXHAUSTED
            assert budget.spent == before
        for kind in ("modelCalls", "toolCalls", "steps", "writeSteps", "inputBytes"):
            assert budget.spent.get(kind, 0) <= budget.limit(kind)


def test_time_is_a_limit_too() -> None:
    """After `ttlMillis` nothing more can be taken."""
    now = [0.0]
    budget = Budget(Policy(ttl_millis=1_000), lambda: now[0])
    budget.take_tool(write=False)
    now[0] = 1.0
    with pytest.raises(AssistantError) as caught:
        budget.take_tool(write=False)
    assert caught.value.details["kind"] == "ttlMillis"
    assert budget.seconds_left() == 0.0


def test_taking_is_atomic_between_threads() -> None:
    """Eight threads cannot take more than there is."""
    budget = Budget(Policy(tool_calls=100, steps=1_000), lambda: 0.0)
    taken: list[int] = []

    def take() -> None:
        for _ in range(50):
            try:
                budget.take_tool(write=False)
            except AssistantError:
                return
            taken.append(1)

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 100
