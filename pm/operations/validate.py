"""The author's check: one plugin alone with a core, and what its files tell beside that. Nothing of it is run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from admission import Admitted, Declaration, Problem
from admission.gates import root_requirements
from lockfiles import Lock
from lockfiles.subset import subset
from pm.config.profiles import Enabled
from pm.errors import PmError
from pm.lint.review import Review
from pm.operations.candidate import announced_source
from pm.operations.import_check import provided
from pm.operations.resolution import resolve
from pm.operations.run import OperationRun, Result
from pm.places import Places
from pm.receipts.receipt import Done
from pm.sources.spelling import local_source
from pm.sources.stage import staged
from pm.verdict.resolve import Resolver, open_resolver
from pm.verdict.state import Options, ProfilePlugins, State
from pm.verdict.union import member_of

_HOME_FAULTS = frozenset({"config-unreadable", "drift", "not-writable"})
"""What no author can help: a home whose config, state or folders cannot be read, or whose profile is not there."""


def validate(run: OperationRun, path: str, options: Options) -> Result:
    """Judge the core together with the plugin of a folder or archive, and look through the plugin's files.

    Of a home only the `pm:` settings and the consents count, and it may be missing: neither its other plugins nor the
    versions that it runs do. What the files tell are warnings of the receipt, whatever the verdict is.
    """
    source = local_source(path)
    run.context.tell(f"reading {path}")
    with staged(path, run.places.cache / "staged") as taken, _alone(run, options) as resolver:
        state = resolver.state
        run.reads(state)
        candidate = announced_source(run, taken, state)
        run.is_about(run.operation.plugin and run.operation.plugin._replace(profile=""))
        review = Review(taken.folder, candidate.found.declaration)
        with run.phase("review", "checking the files"):
            _note(run, candidate.key, review.findings())
        if candidate.misplaced is not None:
            return candidate.misplaced
        member = member_of(candidate.found._replace(folder=source.path), ())
        decision = resolve(run, resolver, state.union.of((member,)), candidate.key).decision
        if not isinstance(decision, Admitted):
            _note(run, candidate.key, _imports_without_lock(resolver, review, candidate.found.declaration))
            return decision
        with run.phase("review", "comparing imports with requirements"):
            _note(run, candidate.key, review.imports(provided(resolver, decision.lock)))
        run.compares_with(_of_the_core(state, decision.lock))
        return Done("ready", decision.lock, warnings=decision.warnings)


def _imports_without_lock(resolver: Resolver, review: Review, declaration: Declaration) -> tuple[Problem, ...]:
    """Return what is imported and not brought by the core, nor called like anything that the plugin asks for.

    What the refused packages would bring themselves is not known; once they fit, it is judged by their files.
    """
    try:
        core = resolver.resolve(resolver.state.union.of(())).decision
        known = provided(resolver, core.lock) if isinstance(core, Admitted) else None
    except PmError:  # why it is refused is what matters
        return ()
    if known is None:
        return ()
    named = {requirement.name.replace("-", "_") for requirement in declaration.requirements}
    return review.missing_imports(known._replace(modules=frozenset({*known.modules, *named})))


def _note(run: OperationRun, key: str, findings: tuple[Problem, ...]) -> None:
    for finding in findings:
        run.note(finding, owner=key)


# -- the state that an author's check starts from


@contextmanager
def _alone(run: OperationRun, options: Options) -> Iterator[Resolver]:
    """Give the state without what is installed and selected in the home, but for what the core itself brings."""
    with ExitStack() as stack:
        resolver = _opened(run, options._replace(project=None, admits=False), stack)
        state = resolver.state
        bundled = tuple(copy._replace(hidden_by="") for copy in state.here.found if copy.source == "bundled")
        here = ProfilePlugins(state.here.profile, bundled, Enabled((), ()))
        alone = state._replace(
            record=None, profiles=(here,), union=state.union.of(()), unfit=(), unavailable=(), notes=()
        )
        yield Resolver(alone, resolver.index)


def _opened(run: OperationRun, options: Options, stack: ExitStack) -> Resolver:
    """Read the state of the home; where that is at fault, that of a home which is not there."""
    context = run.context
    try:
        return stack.enter_context(open_resolver(context.places, context.environ, options, context.index_options))
    except PmError as error:
        if error.code not in _HOME_FAULTS:
            raise
        message = f"the settings of the home were not used, so the defaults count: {error.message}"
        run.note(Problem("home-not-used", message, error.file, error.line, key=error.key, hint=error.hint))
    nowhere = context.places.cache / "no-home"
    return stack.enter_context(open_resolver(Places(nowhere, nowhere), context.environ, options, context.index_options))


# -- what the core and the plugin bring


def _of_the_core(state: State, lock: Lock) -> Lock:
    """Return the part of a lock that would be there without the plugin, so that the receipt tells what that adds."""
    core = state.hosted.core
    asked = [(root.name, root.extras) for root in root_requirements(state.union.of(()).constraints)]
    if core.pin is not None:
        asked.append((core.pin.name, core.pin.extras))
    return subset(lock, asked, {})
