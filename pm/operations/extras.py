"""Change which extras of the core are chosen, as one admission; and say which ones there are."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from admission import canonical_name
from admission.core_gate import nearest, told_extras
from lockfiles.graph import requirement_of
from pm.errors import PmError
from pm.host.core import HostedCore, setting_with
from pm.host.core_setting import with_extras
from pm.index import IndexClient
from pm.operations.core_choice import need_core_choice
from pm.operations.init import initialise
from pm.operations.run import OperationRun, Result
from pm.receipts.receipt import Done
from pm.verdict.resolve import open_resolver
from pm.verdict.state import Options, read_state


class ExtraRow(NamedTuple):
    """One extra of the core."""

    name: str
    chosen: bool
    """Whether `pm.core` names it."""
    active: bool
    """Whether it counts: chosen itself, or part of one that is."""
    requirements: tuple[str, ...] | None
    """What it requires on this machine; `None` where that is not known: of a project, and without its metadata."""


def add_extras(run: OperationRun, names: Sequence[str], options: Options) -> Result:
    """Choose more extras of the core, judged together with everything that is enabled; the core's version stays."""
    return _change(run, names, options, adds=True)


def remove_extras(run: OperationRun, names: Sequence[str], options: Options) -> Result:
    """Choose fewer extras of the core; what only they required goes."""
    return _change(run, names, options, adds=False)


def _change(run: OperationRun, names: Sequence[str], options: Options, *, adds: bool) -> Result:
    wished = {canonical_name(name): name for name in names}
    with open_resolver(run.places, run.context.environ, options, run.context.index_options) as resolver:
        run.reads(resolver.state)
        need_core_choice(run, resolver.state)
        hosted = resolver.state.hosted
        run.decides_on(resolver.state.union)
    chosen = set(hosted.core.extras)
    _known(hosted, wished, chosen)
    if not adds:
        _separable(hosted, wished.keys() - chosen)
    after = chosen | wished.keys() if adds else chosen - wished.keys()
    if after == chosen:
        return Done("unchanged")
    changed = options._replace(core=with_extras(hosted.setting, after), core_version=_version(hosted))
    return initialise(run, changed)


def _version(hosted: HostedCore) -> str:
    return hosted.core.version if hosted.kind == "release" else ""


def _known(hosted: HostedCore, wished: Mapping[str, str], chosen: set[str]) -> None:
    """Raise `PmError` (`unknown-extra`) for the first name that is no extra of the core."""
    if hosted.kind == "embedded":
        hint = f"`hermes pm init --core '{setting_with(hosted, wished)}'` chooses the published core with them"
        raise PmError("unknown-extra", "the embedded core has no extras", hint=hint, key="pm.core")
    for name in sorted(wished.keys() - chosen - set(hosted.core.offers)):
        said = f"{hosted.core.name} {hosted.core.version} has no extra `{name}`"
        near = nearest(name, hosted.core.offers)
        word = (wished[name], near[0]) if len(near) == 1 else ("", "")
        raise PmError("unknown-extra", said, hint=told_extras(name, hosted.core.offers), key="pm.core", word=word)


def _separable(hosted: HostedCore, others: set[str]) -> None:
    """Raise `PmError` (`unknown-extra`) for an extra that counts only as a part of one that is chosen."""
    parts = sorted(others & set(hosted.core.active))
    if parts:
        said = f"the extra `{parts[0]}` is not chosen itself: it is part of another one"
        wholes = ", ".join(f"`{name}`" for name in hosted.core.extras)
        hint = f"chosen are {wholes}; remove the one that brings it, and add the parts of it that are needed"
        raise PmError("unknown-extra", said, hint=hint, key="pm.core")


def extras_of(run: OperationRun, options: Options) -> tuple[str, tuple[ExtraRow, ...]]:
    """Return the core by name and version, and its extras by name; raise `PmError` as the reading of a state does."""
    with read_state(run.places, run.context.environ, options, run.context.index_options) as (state, index):
        core = state.hosted.core
        required = _requirements(state.hosted, index)
        names = sorted({*core.offers, *core.extras})
        rows = (
            ExtraRow(
                name,
                name in core.extras,
                name in {*core.extras, *core.active},
                tuple(required.get(name, ())) if required is not None else None,
            )
            for name in names
        )
        return f"{core.name} {core.version}", tuple(rows)


def _requirements(hosted: HostedCore, index: IndexClient) -> dict[str, list[str]] | None:
    """Return what each extra of a release requires; `None` where that cannot be had now."""
    from admission import Need

    core = hosted.core
    if hosted.kind != "release":
        return None
    try:
        facts = index.fetch(Need(pages=(core.name,), candidates=((core.name, core.version),)))
    except PmError:  # the names are known without it
        return None
    candidate = facts.candidate(core.name, core.version)
    required: dict[str, list[str]] = {}
    for edge in candidate.requires if candidate is not None else ():
        if edge.extra:
            required.setdefault(edge.extra, []).append(requirement_of(edge))
    return required if candidate is not None else None
