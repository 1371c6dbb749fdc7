"""Decide completely whether roots can hold together: the second opinion that every refusal needs.

Conflict-driven search with learned rules, in the manner of PubGrub, over one variable for each package (its value: one
of its versions, or absent) and one for each extra (present or absent). A *rule* is a set of (variable, values) that may
not all be true at once. Values are bits; the lowest bit is *absent*. Every rule learned is a resolvent of rules before
it, so an end without solution carries its derivation, and the derivation's leaves are a sufficient explanation.

Rules come in lazily. A candidate whose metadata is unknown contributes none: *impossible* then still holds, because an
unread dependency can only take solutions away. A solution that rests on such a candidate is reported with it.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from admission.assignment import Assignment, reachable
from admission.demands import Demands
from admission.reading import PlannedReading, Readings
from admission.rules import ABSENT, PRESENT, Leaf, Rule, Rulebook
from admission.support import Support
from admission.universe import Arc, Root, Universe, Unknown
from admission.variables import Variables, package_and_extra

__all__ = ["CompleteAnswer", "Leaf", "Solver", "decide_completely", "roots_of"]


class CompleteAnswer(NamedTuple):
    """What the complete decision said."""

    outcome: str
    """`found`, `impossible`, `gave-up` or `unknown` (a solution that rests on unread metadata)."""
    chosen: Assignment
    leaves: tuple[Leaf, ...] = ()
    """For `impossible`: what the derivation rests on; sufficient, not minimal."""
    unknown: tuple[tuple[str, str], ...] = ()
    """For `unknown`: (name, version) of the candidates that must be read."""
    pages: tuple[str, ...] = ()
    """For `unknown`: names whose pages must be read."""
    hoped: tuple[tuple[str, str], ...] = ()
    """For `unknown`: candidates besides, one of which might vouch for what the roots do not open themselves."""
    effort: int = 0
    stood_at: str = ""
    """For `gave-up`: the package that most of the latest conflicts were about."""


def decide_completely(
    universe: Universe,
    roots: Sequence[Root],
    budget: int,
    may_go_on: Callable[[], bool] = lambda: True,
    *,
    optional: Sequence[Root] = (),
) -> CompleteAnswer:
    """Decide on what is known whether a solution exists, in at most `budget` decisions and conflicts.

    With `optional` roots: whether one exists for the roots and for any of these, which may open what the roots do not.
    Never raises `Unknown`. It gives up as soon as `may_go_on` says no.
    """
    return Solver(universe, roots, budget, may_go_on, optional=optional).solve()


class Solver:
    """One complete decision under way.

    `reading`, it takes in only what it reads itself, step by step, and ends with `unknown` at the first gap; it goes on
    from there once more is known. So what it finds does not depend on what else happens to be known. Otherwise it takes
    in all that is known, and goes on as if what is not known had no demands.
    """

    def __init__(
        self,
        universe: Universe,
        roots: Sequence[Root],
        budget: int,
        may_go_on: Callable[[], bool] = lambda: True,
        *,
        reading: bool = False,
        optional: Sequence[Root] = (),
    ) -> None:
        self._universe = universe
        self._roots = roots
        self._left = budget
        self._budget = budget
        self._may_go_on = may_go_on
        self._readings = Readings(universe) if reading else None
        self._is_begun = False
        self._expanded: set[str] = set()
        self._rules = Rulebook()
        is_direct = universe.constraints.policy.prerelease == "direct-opt-in"
        self._variables = Variables(universe, self._rules, (*roots, *optional) if is_direct else None)
        self._demands = Demands(universe, self._rules, self._readings)
        self._support = Support(
            universe, roots, optional, rules=self._rules, variables=self._variables, demands=self._demands
        )

    def solve(self) -> CompleteAnswer:
        """Decide, or go on deciding where the last answer was `unknown`."""
        rules = self._rules
        if (unread := self._begin()) is not None:
            return unread
        while rules.failure is None:
            if self._left <= 0 or not self._may_go_on():
                return CompleteAnswer("gave-up", {}, effort=self._budget - self._left, stood_at=self._stood_at())
            conflict = rules.propagate()
            if conflict is not None:
                self._left -= 1
                rules.learn(conflict)
            elif rules.narrowed:
                if (unread := self._take_in()) is not None:
                    return unread
            elif (variable := rules.next()) is not None:
                self._left -= 1
                self._decide(variable)
            elif (verdict := self._finish()) is not None:
                return verdict
            else:
                self._left -= 1
        return CompleteAnswer("impossible", {}, leaves=_leaves(rules.failure), effort=self._budget - self._left)

    def _stood_at(self) -> str:
        return self._rules.most_disputed or next((root.requirement.name for root in self._roots), "")

    def _begin(self) -> CompleteAnswer | None:
        """Post the demands of the roots; reading, say which pages must be known for that."""
        if self._is_begun:
            return None
        arcs: dict[Root, Arc] = {}
        unread: set[str] = set()
        for root in self._roots:
            try:
                arcs[root] = self._universe.root_arc(root)
            except Unknown as unknown:
                unread.add(unknown.page)
        if self._readings is not None and unread:
            return self._unknown(set(), unread)
        self._is_begun = True
        self._support.unread_roots |= unread
        for root, arc in arcs.items():
            self._variables.post_root(root, arc)
        return None

    def _decide(self, name: str) -> None:
        position = next(iter(self._universe.in_order(name, self._rules.domains[name] >> 1)))
        self._rules.decide(name, 2 << position)

    def _finish(self) -> CompleteAnswer | None:
        """Accept the assignment, or post the rules it breaks and go on."""
        chosen = {
            variable: domain.bit_length() - 2
            for variable, domain in self._rules.domains.items()
            if not domain & ABSENT and not variable.endswith("]")
        }
        support = self._support
        if support.rule_out_unvouched(chosen):
            return self._read_wanted() if self._readings is not None else self._waited_for()
        reach = support.reach(chosen)
        if reach.is_open:
            return self._unknown(reach.candidates, reach.pages)._replace(chosen=chosen, hoped=support.still_hoped())
        if support.rule_out_unneeded(chosen, reach):
            return None
        reached = reachable(support.with_optional(), chosen)
        if reached is None:
            message = "an assignment that breaks no rule does not hold"
            raise AssertionError(message)
        final = {name: chosen[name] for name in sorted(reached)}
        return CompleteAnswer("found", final, effort=self._budget - self._left)

    # -- what versions demand is taken in when they cannot be absent any more

    def _take_in(self) -> CompleteAnswer | None:
        """Post the demands of what cannot be absent any more; reading, say what must be known for that."""
        if self._readings is not None:
            return self._read(self._readings)
        narrowed = tuple(self._rules.narrowed)
        self._rules.narrowed.clear()
        for variable in narrowed:
            self._expand(variable)
        return None

    def _expand(self, variable: str) -> None:
        """Post the demands of every version that is known, one rule for all versions that make the same demand."""
        if variable in self._expanded:
            return
        self._expanded.add(variable)
        name, extra = package_and_extra(variable)
        if not name:
            return  # an optional root
        grouped: dict[Arc, int] = {}
        for position, arcs in self._demands.that_are_known(name, extra):
            for arc in arcs:
                grouped[arc] = grouped.get(arc, 0) | 1 << position
        for arc, versions in sorted(grouped.items()):
            self._variables.post_demand(name, versions, extra, arc)

    def _read(self, readings: Readings) -> CompleteAnswer | None:
        """Post the demands of the versions that are left alone; say what must be known for that, and post nothing."""
        plans = [plan for name in self._left_alone() if (plan := self._plan(readings, name)).unread]
        unread = self._post_readings(readings, plans)
        if unread is None:
            self._rules.narrowed.clear()
        return unread

    def _post_readings(self, readings: Readings, plans: Sequence[PlannedReading]) -> CompleteAnswer | None:
        candidates, pages = readings.missing(plans)
        if candidates or pages:
            return self._unknown(candidates | self._next_to_read(), pages)
        for plan in plans:
            for extra, arc, versions in readings.take(plan, self._rules.domains):
                self._variables.post_demand(plan.name, versions, extra, arc)
        return None

    def _next_to_read(self) -> set[tuple[str, str]]:
        """Return the unread candidates that will be tried next if nothing comes in between: to be read by the way."""
        found = set()
        for name, domain in self._rules.domains.items():
            if not domain & ABSENT and domain & (domain - 1) and not name.endswith("]"):
                position = next(iter(self._universe.in_order(name, domain >> 1)))
                if self._universe.candidate(name, position) is None:
                    found.add((name, self._universe.package(name).page.versions[position]))
        return found

    def _read_wanted(self) -> CompleteAnswer | None:
        """Post the demands of versions that may vouch for others; say what must be known for that, and post nothing."""
        wanted = sorted(self._demands.wanted)
        self._demands.wanted.clear()
        if self._readings is None or not wanted:
            return None
        plans = [PlannedReading(name, position, (extra,), (extra,), 0) for name, position, extra in wanted]
        return self._post_readings(self._readings, plans)

    def _waited_for(self) -> CompleteAnswer | None:
        """Say what must be known before it is worth to try more; nothing as long as it is."""
        candidates, pages = self._support.waited_for()
        return self._unknown(candidates, pages) if candidates or pages else None

    def _left_alone(self) -> list[str]:
        """Return the packages that were narrowed, or are asked for an extra, and of which one version is left."""
        names = {variable.partition("[")[0] for variable in self._rules.narrowed}
        left = ((name, self._rules.domains.get(name, ABSENT)) for name in sorted(names))
        return [name for name, domain in left if not domain & ABSENT and not domain & (domain - 1)]

    def _plan(self, readings: Readings, name: str) -> PlannedReading:
        domains = self._rules.domains
        present = (extra for extra in self._variables.extras_of(name) if domains[f"{name}[{extra}]"] == PRESENT)
        others = self._rules.domain_of_all(name) >> 1
        return readings.plan(name, domains[name].bit_length() - 2, ("", *sorted(present)), others)

    def _unknown(self, candidates: Iterable[tuple[str, str]], pages: Iterable[str]) -> CompleteAnswer:
        effort = self._budget - self._left
        return CompleteAnswer(
            "unknown", {}, unknown=tuple(sorted(candidates)), pages=tuple(sorted(pages)), effort=effort
        )


def _leaves(failure: Rule) -> tuple[Leaf, ...]:
    """Return what a derivation rests on, in a stable order."""
    seen: set[int] = set()
    leaves: dict[Leaf, None] = {}
    pending: list[Rule] = [failure]
    while pending:
        rule = pending.pop()
        if id(rule) in seen:
            continue
        seen.add(id(rule))
        if rule.leaf is not None:
            leaves[rule.leaf] = None
        if rule.parents is not None:
            pending.extend(rule.parents)
    return tuple(leaves)


def roots_of(leaves: Iterable[Leaf]) -> tuple[Root, ...]:
    """Return the roots among leaves that have to be there, in their order."""
    return tuple(sorted({leaf.root for leaf in leaves if leaf.root is not None and not leaf.optional}))
