"""Decide completely whether roots can hold together: the second opinion that every refusal needs.

Conflict-driven search with learned rules, in the manner of PubGrub, over one variable for each package (its value: one
of its versions, or absent) and one for each extra (present or absent). A *rule* is a set of (variable, values) that may
not all be true at once. Values are bits; the lowest bit is *absent*. Every rule learned is a resolvent of rules before
it, so an end without solution carries its derivation, and the derivation's leaves are a sufficient explanation.

Rules come in lazily. A candidate whose metadata is unknown contributes none: *impossible* then still holds, because an
unread dependency can only take solutions away. A solution that rests on such a candidate is reported with it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple

from admission.assignment import Assignment, reachable
from admission.universe import Arc, Root, Universe, Unknown
from admission.versions import bits

__all__ = ["CompleteAnswer", "Leaf", "decide_completely", "roots_of"]

_ABSENT = 1
_PRESENT = 2


class Leaf(NamedTuple):
    """A fact or demand that a derivation rests on."""

    root: Root | None = None
    name: str = ""
    """The package whose demand this is; empty for a root."""
    arc: Arc | None = None
    versions: int = 0
    """The versions of `name` that make this demand, as a set."""
    extra: str = ""
    """The extra of `name` that brings it."""


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


def decide_completely(universe: Universe, roots: Sequence[Root], budget: int) -> CompleteAnswer:
    """Decide whether a solution exists, in at most `budget` decisions and conflicts. Never raises `Unknown`."""
    return _Solver(universe, roots, budget).solve()


class _Rule:
    """A set of (variable, values) that may not all be true."""

    __slots__ = ("leaf", "parents", "terms")

    def __init__(self, terms: dict[str, int], leaf: Leaf | None, parents: "tuple[_Rule, _Rule] | None" = None) -> None:
        self.terms = terms
        self.leaf = leaf
        self.parents = parents


class _Narrowing(NamedTuple):
    """One narrowing of a variable."""

    variable: str
    before: int
    after: int
    level: int
    cause: _Rule | None
    """`None` for a decision."""


class _Reach(NamedTuple):
    """What the roots reach in an assignment."""

    extras: dict[str, dict[str, int]]
    """Package → the extras that are asked for, and the empty one for itself → the versions that are followed."""
    arcs: list[Arc]
    candidates: set[tuple[str, str]]
    """What was reached and is not read yet."""
    pages: set[str]

    @property
    def is_open(self) -> bool:
        """Whether more may be reached, through what is not read yet."""
        return bool(self.candidates or self.pages)


class _Solver:
    def __init__(self, universe: Universe, roots: Sequence[Root], budget: int) -> None:
        self._universe = universe
        self._roots = roots
        self._left = budget
        self._budget = budget
        self._rules: dict[str, list[_Rule]] = {}
        self._domains: dict[str, int] = {}
        self._full: dict[str, int] = {}
        self._trail: list[_Narrowing] = []
        self._history: dict[str, list[int]] = {}
        self._level = 0
        self._queue: dict[str, None] = {}
        """Variables whose rules are to be looked at, each once: a package can have a thousand rules."""
        self._expanded: set[str] = set()
        self._conflicts: Counter[str] = Counter()
        self._unread_pages: dict[tuple[str, int, str], str] = {}
        self._unread_roots: set[str] = set()
        self._hoped: set[tuple[str, int]] = set()
        """Unread versions that might vouch, or lead to what does."""
        self._failure: _Rule | None = None
        self._direct = universe.constraints.policy.prerelease == "direct-opt-in"

    def solve(self) -> CompleteAnswer:
        self._start()
        while self._failure is None:
            conflict = self._propagate()
            if conflict is not None:
                self._left -= 1
                self._resolve(conflict)
            elif (variable := self._next()) is not None:
                self._left -= 1
                self._decide(variable)
            elif (verdict := self._finish()) is not None:
                return verdict
            else:
                self._left -= 1
            if self._left <= 0 and self._failure is None:
                return CompleteAnswer("gave-up", {}, effort=self._budget)
        return CompleteAnswer("impossible", {}, leaves=_leaves(self._failure), effort=self._budget - self._left)

    # -- variables and rules

    def _start(self) -> None:
        for root in self._roots:
            try:
                arc = self._universe.root_arc(root)
            except Unknown as unknown:
                self._unread_roots.add(unknown.page)
                continue
            leaf = Leaf(root=root, arc=arc)
            self._post(_Rule({arc.name: self._outside(arc)}, leaf))
            for extra in arc.extras:
                self._post(_Rule({self._extra(arc.name, extra): _ABSENT}, leaf))

    def _variable(self, name: str) -> int:
        """Return the current values of a package's variable, opened with its choosable versions."""
        domain = self._domains.get(name)
        if domain is None:
            package = self._universe.package(name)
            conditional = package.conditional & (self._pinned(name) if self._direct else -1)
            domain = self._domains[name] = self._full[name] = (package.free | conditional) << 1 | _ABSENT
        return domain

    def _extra(self, name: str, extra: str) -> str:
        """Return the variable of an extra, opened."""
        variable = f"{name}[{extra}]"
        if variable not in self._domains:
            self._domains[variable] = self._full[variable] = _ABSENT | _PRESENT
        return variable

    def _outside(self, arc: Arc) -> int:
        """Return the values of an arc's package that do not meet it: the other versions, and absence."""
        self._variable(arc.name)
        return self._full[arc.name] & ~(arc.mask << 1)

    def _post(self, rule: _Rule) -> None:
        """Add a rule, without the terms that are always true; one with a term that is never true says nothing."""
        full = self._full
        terms = {variable: values & full[variable] for variable, values in rule.terms.items()}
        if not all(terms.values()):
            return
        rule.terms = {variable: values for variable, values in terms.items() if values != full[variable]}
        if not rule.terms:
            self._failure = rule
        for variable in rule.terms:
            self._rules.setdefault(variable, []).append(rule)
        self._queue.update(dict.fromkeys(rule.terms))

    def _expand(self, variable: str) -> None:
        """Post the demands of every version that is known, one rule for all versions that make the same demand."""
        if variable in self._expanded:
            return
        self._expanded.add(variable)
        name, _, extra = variable.rstrip("]").partition("[")
        grouped: dict[Arc, int] = {}
        positions = self._universe.package(name).sets.positions
        for version in self._universe.facts.candidates.get(name, {}):
            position = positions.get(version)
            if position is None:
                continue
            try:
                arcs = self._universe.arcs(name, position, extra)
            except Unknown as unknown:
                self._unread_pages[name, position, extra] = unknown.page
                continue
            for arc in arcs:
                grouped[arc] = grouped.get(arc, 0) | 1 << position
        for arc, versions in sorted(grouped.items()):
            self._post_demand(name, versions, extra, arc)

    def _post_demand(self, name: str, versions: int, extra: str, arc: Arc) -> None:
        leaf = Leaf(name=name, arc=arc, versions=versions, extra=extra)
        self._variable(name)
        condition = {name: versions << 1}
        if extra:
            condition[self._extra(name, extra)] = _PRESENT
        outside = self._outside(arc)
        # a demand of a package on itself: those versions that do not meet it can never be chosen
        target = condition.get(arc.name, -1) & outside
        self._post(_Rule(condition | {arc.name: target}, leaf))
        for other in arc.extras:
            variable = self._extra(arc.name, other)
            if variable not in condition:
                self._post(_Rule(condition | {variable: _ABSENT}, leaf))

    # -- propagation

    def _propagate(self) -> _Rule | None:
        """Narrow variables until nothing follows any more; return a rule all of whose terms are true."""
        queue = self._queue
        while queue:
            variable, _ = queue.popitem()
            for rule in reversed(self._rules.get(variable, ())):
                open_variable = self._only_open(rule)
                if open_variable is None:
                    continue
                if open_variable == "":
                    queue[variable] = None  # its other rules have not been looked at
                    return rule
                self._narrow(open_variable, self._domains[open_variable] & ~rule.terms[open_variable], rule)
        return None

    def _only_open(self, rule: _Rule) -> str | None:
        """Return the one term that is not decided yet, an empty text if all are true, `None` if nothing follows."""
        found = ""
        domains = self._domains
        for variable, values in rule.terms.items():
            domain = domains[variable]
            if not domain & ~values:
                continue
            if not domain & values or found:
                return None
            found = variable
        return found

    def _narrow(self, variable: str, after: int, cause: _Rule | None) -> None:
        before = self._domains[variable]
        self._history.setdefault(variable, []).append(len(self._trail))
        self._trail.append(_Narrowing(variable, before, after, self._level, cause))
        self._domains[variable] = after
        self._queue[variable] = None
        if not after & _ABSENT:
            self._expand(variable)

    # -- decisions

    def _next(self) -> str | None:
        """Return the required package to decide next: what was in most conflicts, then the one with fewest versions."""
        required = [
            (-self._conflicts[variable], domain.bit_count(), variable)
            for variable, domain in self._domains.items()
            if not domain & _ABSENT and domain & (domain - 1) and not variable.endswith("]")
        ]
        return min(required)[2] if required else None

    def _decide(self, name: str) -> None:
        position = next(iter(self._universe.in_order(name, self._domains[name] >> 1)))
        self._level += 1
        self._narrow(name, 2 << position, None)

    def _finish(self) -> CompleteAnswer | None:
        """Accept the assignment, or post the rules it breaks and go on."""
        chosen = {
            variable: domain.bit_length() - 2
            for variable, domain in self._domains.items()
            if not domain & _ABSENT and not variable.endswith("]")
        }
        if self._post_unvouched(chosen):
            return None
        reach = self._reach(chosen)
        if reach.candidates or reach.pages:
            return CompleteAnswer(
                "unknown",
                chosen,
                unknown=tuple(sorted(reach.candidates)),
                pages=tuple(sorted(reach.pages)),
                hoped=self._still_hoped(),
                effort=self._budget - self._left,
            )
        if self._post_unneeded(chosen, reach):
            return None
        reached = reachable(self._universe, chosen)
        if reached is None:
            message = "an assignment that breaks no rule does not hold"
            raise AssertionError(message)
        final = {name: chosen[name] for name in sorted(reached)}
        return CompleteAnswer("found", final, effort=self._budget - self._left)

    # -- support: what is there is needed by the roots, and what may only be taken under a pin is pinned by a candidate
    # that is needed for another reason. An assignment that lacks that has walls: what the roots reach in it, and beyond
    # them what they would have to reach. Some version within would have to be another one, one that leads out. Who may
    # vouch is found along leading versions only, of which there are few, so that all of them can be read.

    def _post_unvouched(self, chosen: Assignment) -> bool:
        """Rule out versions that no candidate pins which is needed without them; an unread one may pin anything."""
        posted = False
        for name, position in chosen.items():
            if (self._universe.package(name).conditional & ~self._pinned(name)) >> position & 1:
                reach = self._reach(chosen, closed=name)
                if not reach.is_open and not _pins(reach.arcs, name, position):
                    leaf = Leaf(name=name, versions=1 << position)
                    self._post(_Rule({name: 2 << position, **self._walls(reach, name, position)}, leaf))
                    posted = True
        return posted

    def _still_hoped(self) -> tuple[tuple[str, str], ...]:
        """Return the unread candidates that might vouch and that no root excludes: all of them, to be read at once."""
        accepted: dict[str, int] = {}
        for root in self._roots if self._hoped else ():
            if self._is_read(root):
                arc = self._universe.root_arc(root)
                accepted[arc.name] = accepted.get(arc.name, -1) & arc.mask
        hoped = ((name, i) for name, i in self._hoped if accepted.get(name, -1) >> i & 1)
        return tuple(sorted((name, self._universe.package(name).page.versions[i]) for name, i in hoped))

    def _post_unneeded(self, chosen: Assignment, reach: _Reach) -> bool:
        """Rule out packages and extras that only rules asked for, and no demand."""
        unneeded = {name: self._full[name] & ~_ABSENT for name in chosen if name not in reach.extras}
        for variable, domain in self._domains.items():
            name, _, extra = variable.rstrip("]").partition("[")
            if extra and domain == _PRESENT and extra not in reach.extras.get(name, {}):
                unneeded[variable] = _PRESENT
        walls = self._walls(reach) if unneeded else {}
        for variable, values in unneeded.items():
            leaf = Leaf(name=variable.partition("[")[0], versions=values >> 1)
            self._post(_Rule({variable: values, **walls}, leaf))
        return bool(unneeded)

    def _reach(self, chosen: Assignment, closed: str = "") -> _Reach:
        """Follow the demands from the roots through an assignment.

        With a closed package, follow what may lead to a pin of it: neither its own demands nor those of old versions.
        """
        reach = _Reach({}, [], set(), set(self._unread_roots))
        pending = [self._universe.root_arc(root) for root in self._roots if self._is_read(root)]
        while pending:
            arc = pending.pop()
            reach.arcs.append(arc)
            position, versions = chosen[arc.name], self._followed(arc, closed)
            known = reach.extras.setdefault(arc.name, {})
            for extra in ("", *arc.extras):
                before = known.get(extra, 0)
                known[extra] = before | versions
                if arc.name == closed or not versions & ~before & 1 << position:
                    continue
                demands = self._demands(arc.name, position, extra)
                if demands is not None:
                    pending.extend(demands)
                elif (page := self._unread_pages.get((arc.name, position, extra))) is not None:
                    reach.pages.add(page)
                else:
                    reach.candidates.add((arc.name, self._universe.package(arc.name).page.versions[position]))
        return reach

    def _followed(self, arc: Arc, closed: str) -> int:
        """Return the versions whose demands matter where an arc leads to them."""
        return self._universe.package(arc.name).leading(arc.mask) if closed else -1

    def _is_read(self, root: Root) -> bool:
        return root.requirement.name not in self._unread_roots

    def _demands(self, name: str, position: int, extra: str) -> Sequence[Arc] | None:
        """Return the demands of a version, `None` if not all of them are known."""
        if self._universe.candidate(name, position) is None or (name, position, extra) in self._unread_pages:
            return None
        try:
            return self._universe.arcs(name, position, extra)
        except Unknown as unknown:
            self._unread_pages[name, position, extra] = unknown.page
            return None

    def _walls(self, reach: _Reach, closed: str = "", position: int = -1) -> dict[str, int]:
        """Return the values of what is reached that lead to nothing else, and do not pin a version of the closed.

        An unread candidate may ask for anything.
        """
        walls = {}
        for name, extras in reach.extras.items():
            if name == closed:
                continue
            walls[name] = self._full[name]
            for place in bits(self._full[name] >> 1 & reduce(or_, extras.values())):
                followed = [extra for extra, versions in extras.items() if versions >> place & 1]
                asked = [self._demands(name, place, extra) for extra in followed]
                known = [arc for demands in asked if demands is not None for arc in demands]
                if closed and self._universe.candidate(name, place) is None:
                    self._hoped.add((name, place))
                leads_out = None in asked or any(self._leads_out(arc, reach, closed) for arc in known)
                if leads_out or _pins(known, closed, position):
                    walls[name] &= ~(2 << place)
        return walls

    def _leads_out(self, arc: Arc, reach: _Reach, closed: str) -> bool:
        """Return whether an arc leads to what is not reached, or to versions of it whose demands did not matter."""
        extras, versions = reach.extras.get(arc.name, {}), self._followed(arc, closed)
        return any(extra not in extras or versions & ~extras[extra] for extra in ("", *arc.extras))

    def _pinned(self, name: str) -> int:
        """Return the versions of a package that a root pins exactly."""
        mask = 0
        for root in self._roots:
            if root.requirement.name == name and (arc := self._universe.root_arc(root)).exact:
                mask |= arc.mask
        return mask

    # -- conflicts

    def _resolve(self, rule: _Rule) -> None:
        """Learn from a conflict and jump back; with no decision to jump back from, the rule becomes empty: failure."""
        while rule.terms:
            self._conflicts.update(variable.partition("[")[0] for variable in rule.terms)
            index, variable, previous = self._satisfier(rule)
            entry = self._trail[index]
            if entry.cause is None or previous < entry.level:
                self._jump(previous)
                self._post(rule)
                return
            rule = self._resolvent(rule, entry.cause, variable)
        self._failure = rule

    def _satisfier(self, rule: _Rule) -> tuple[int, str, int]:
        """Return the entry that made the last term true, its variable, and the level at which all the rest was true."""
        last = -1
        subject = ""
        indexes = {}
        for variable, values in rule.terms.items():
            index = self._first_true(variable, values, len(self._trail))
            indexes[variable] = index
            if index > last:
                last, subject = index, variable
        entry = self._trail[last]
        previous = max((self._level_of(index) for variable, index in indexes.items() if variable != subject), default=0)
        if entry.cause is not None:
            removed = entry.cause.terms[subject]
            own = self._first_true(subject, rule.terms[subject] | removed, last)
            previous = max(previous, self._level_of(own))
        return last, subject, previous

    def _first_true(self, variable: str, values: int, end: int) -> int:
        """Return the first entry before `end` after which a variable lies within `values`; -1 for from the start."""
        if not self._full[variable] & ~values:
            return -1
        for index in self._history[variable]:
            if index < end and not self._trail[index].after & ~values:
                return index
        message = f"{variable} is not within {values:b}"
        raise AssertionError(message)

    def _level_of(self, index: int) -> int:
        return self._trail[index].level if index >= 0 else 0

    def _resolvent(self, rule: _Rule, cause: _Rule, variable: str) -> _Rule:
        """Combine two rules on a variable: where all their other terms hold, its value is in neither set."""
        terms = dict(cause.terms)
        for other, values in rule.terms.items():
            terms[other] = terms[other] & values if other in terms else values
        terms[variable] = rule.terms[variable] | cause.terms[variable]
        if terms[variable] == self._full[variable]:
            del terms[variable]
        return _Rule(terms, None, (rule, cause))

    def _jump(self, level: int) -> None:
        while self._trail and self._trail[-1].level > level:
            entry = self._trail.pop()
            self._domains[entry.variable] = entry.before
            self._history[entry.variable].pop()
        self._level = level


def _pins(demands: Iterable[Arc], name: str, position: int) -> bool:
    return any(arc.name == name and arc.exact and arc.mask >> position & 1 for arc in demands)


def _leaves(failure: _Rule) -> tuple[Leaf, ...]:
    """Return what a derivation rests on, in a stable order."""
    seen: set[int] = set()
    leaves: dict[Leaf, None] = {}
    pending: list[_Rule] = [failure]
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
    """Return the roots among leaves, in their order."""
    return tuple(sorted({leaf.root for leaf in leaves if leaf.root is not None}))
