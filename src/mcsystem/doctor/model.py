"""The text model: whether one is set up, and whether its service answers and takes the key."""

import asyncio
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from mcsystem.doctor.findings import Check, Level, failed
from mcsystem.errors import AssistantError
from mcsystem.gateways import Ledger, ModelGateway
from mcsystem.settings import AgentSettings
from mcsystem.storage import Databases


def check_external(settings: AgentSettings) -> Iterator[Check]:
    """Whether players' questions may go to the model before they say anything themselves."""
    yield Check("external", Level.OK, "external.on" if settings.external_ai.default else "external.off")


async def check_model(settings: AgentSettings, environ: Mapping[str, str], *, network: bool) -> list[Check]:
    """One line; the service is asked for its list of models, which costs nothing."""
    name = settings.model.api_key_environment
    if name and not environ.get(name):
        return [Check("model", Level.OK, "model.none", {"variable": name})]
    with tempfile.TemporaryDirectory() as empty:
        databases = await asyncio.to_thread(lambda: Databases.open(Path(empty), write=False))
        gateway = ModelGateway(
            lambda: settings.model,
            Ledger(databases.file(Path(empty) / "unused.dat", "unused")),  # a look is no paid call and is not counted
            concurrency=1,
            daily_calls=lambda: settings.limits.daily_model_calls,
            environ=environ,
        )
        try:
            check = await _look(gateway, settings, network=network)
        finally:
            await gateway.close()
            await asyncio.to_thread(databases.close)
    return [check]


async def _look(gateway: ModelGateway, settings: AgentSettings, *, network: bool) -> Check:
    refused = gateway.unavailable()
    if refused is not None:
        return failed("model", refused)
    details = {"model": settings.model.model, "url": settings.model.base_url}
    if not network:
        return Check("model", Level.OK, "model.unasked", details)
    try:
        await gateway.probe()
    except AssistantError as error:
        return failed("model", error)
    return Check("model", Level.OK, "model", details)
