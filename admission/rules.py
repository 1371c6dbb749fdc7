"""What follows from rules: values of variables are ruled out until nothing follows, and a conflict becomes a new rule.

A *rule* is a set of (variable, values) that may not all be true at once; values are bits, the lowest one is *absent*.
Of each rule two terms are watched that are not true: as long as that is so nothing follows from it, and it costs
nothing. A rule that is learned is a resolvent of rules before it, so an end without solution carries its derivation.
"""

import heapq
from collections import defaultdict
from typing import NamedTuple

from admission.universe import Arc, Root

__all__ = ["ABSENT", "PRESENT", "Leaf", "Rule", "Rulebook"]

ABSENT = 1
PRESENT = 2
_FADING = 1.05
"""By how much a conflict weighs more than the one before it: those of long ago say little of where the trouble is."""
_HEAVIEST = 1e100
_FEW = 2


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
    optional: bool = False
    """Whether the root need not be there."""


class Rule:
    """A set of (variable, values) that may not all be true."""

    __slots__ = ("leaf", "parents", "terms", "watched")

    def __init__(self, terms: dict[str, int], leaf: Leaf | None, parents: "tuple[Rule, Rule] | None" = None) -> None:
        self.terms = terms
        self.leaf = leaf
        self.parents = parents
        self.watched = ("", "")


class _Narrowing(NamedTuple):
    """One narrowing of a variable."""

    variable: str
    before: int
    after: int
    level: int
    cause: Rule | None
    """`None` for a decision."""


class Rulebook:
    """Variables, the values that are left of each, and the rules about them."""

    def __init__(self) -> None:
        self.domains: dict[str, int] = {}
        """Variable → the values that are left."""
        self.full: dict[str, int] = {}
        """Variable → the values that it had when it was opened."""
        self.failure: Rule | None = None
        """The empty rule, once it was derived: there is no solution."""
        self.narrowed: dict[str, None] = {}
        """Variables that cannot be absent and were narrowed since this was emptied."""
        self._watching: defaultdict[str, list[Rule]] = defaultdict(list)
        self._pending: list[Rule] = []
        """Rulebook that came and were not looked at yet."""
        self._late: list[tuple[int, Rule]] = []
        """Rulebook that were posted below decisions, with the level: what follows from them may hold above it."""
        self._trail: list[_Narrowing] = []
        self._history: defaultdict[str, list[int]] = defaultdict(list)
        self._level = 0
        self._queue: dict[str, None] = {}
        """Variables whose rules are to be looked at, each once: a package can have a thousand rules."""
        self._weights: dict[str, float] = {}
        """Package → how much it took part in conflicts."""
        self._weight = 1.0
        self._offers: list[tuple[float, int, str]] = []

    def open(self, variable: str, values: int) -> None:
        """Begin with a variable."""
        self.domains[variable] = self.full[variable] = values

    def post(self, rule: Rule) -> None:
        """Add a rule, without the terms that are always true; one with a term that is never true says nothing."""
        full = self.full
        terms = {variable: values & full[variable] for variable, values in rule.terms.items()}
        if not all(terms.values()):
            return
        rule.terms = {variable: values for variable, values in terms.items() if values != full[variable]}
        if not rule.terms:
            self.failure = rule
            return
        self._watch(rule)
        if (
            self._level and rule.leaf is not None
        ):  # one that was learned says nothing above the level it was learned for
            self._late.append((self._level, rule))

    def _watch(self, rule: Rule) -> None:
        """Watch two terms that are not true, else those that became true last: a jump back makes them false first."""
        watched = list(rule.terms)
        if len(watched) > _FEW:
            since = {variable: self._first_true(variable, values) for variable, values in rule.terms.items()}
            watched.sort(key=since.__getitem__, reverse=True)
        rule.watched = (watched[0], watched[min(1, len(watched) - 1)])
        for variable in dict.fromkeys(rule.watched):
            self._watching[variable].append(rule)
        self._pending.append(rule)

    # -- what follows

    def propagate(self) -> Rule | None:
        """Narrow variables until nothing follows any more; return a rule all of whose terms are true."""
        while self._pending or self._queue:
            conflict = self._apply(self._pending.pop()) if self._pending else self._look_at(self._queue.popitem()[0])
            if conflict is not None:
                return conflict
        return None

    def _apply(self, rule: Rule) -> Rule | None:
        """Narrow what follows from one rule; return it if all of its terms are true."""
        found = ""
        for variable, values in rule.terms.items():
            domain = self.domains[variable]
            if not domain & ~values:
                continue
            if not domain & values or found:
                return None
            found = variable
        if not found:
            return rule
        self._narrow(found, self.domains[found] & ~rule.terms[found], rule)
        return None

    def _look_at(self, variable: str) -> Rule | None:
        """Look at the rules that watch a variable; return one all of whose terms are true."""
        domains = self.domains
        domain = domains[variable]
        watching = self._watching[variable]
        self._watching[variable] = kept = []
        for place, rule in enumerate(watching):
            terms = rule.terms
            if domain & ~terms[variable]:
                kept.append(rule)
                continue
            first, second = rule.watched
            other = second if first == variable else first
            left, values = domains[other], terms[other]
            if not left & values or not self._has_moved(rule, variable, other):
                kept.append(rule)
                if not left & ~values:
                    kept.extend(watching[place + 1 :])
                    return rule
                if left & values:
                    self._narrow(other, left & ~values, rule)
        return None

    def _has_moved(self, rule: Rule, variable: str, other: str) -> bool:
        """Watch another term instead of one that has become true, if there is one that is not."""
        if len(rule.terms) > _FEW:
            for third, values in rule.terms.items():
                if self.domains[third] & ~values and third != other and third != variable:  # noqa: PLR1714 - the hot path
                    rule.watched = (other, third)
                    self._watching[third].append(rule)
                    return True
        return False

    def _narrow(self, variable: str, after: int, cause: Rule | None) -> None:
        self._history[variable].append(len(self._trail))
        self._trail.append(_Narrowing(variable, self.domains[variable], after, self._level, cause))
        self.domains[variable] = after
        self._queue[variable] = None
        if not after & ABSENT:
            self.narrowed[variable] = None
            self._offer(variable)

    # -- decisions

    def next(self) -> str | None:
        """Return the required package to decide next: what was in most conflicts, then the one with fewest versions."""
        offers = self._offers
        while offers:
            offer = offers[0]
            domain = self.domains[offer[2]]
            if domain & ABSENT or not domain & (domain - 1):
                heapq.heappop(offers)
            elif (now := self._offer_of(offer[2])) != offer:
                heapq.heapreplace(offers, now)
            else:
                return offer[2]
        return None

    def decide(self, variable: str, value: int) -> None:
        """Take one value of a variable, as long as nothing contradicts it."""
        self._level += 1
        self._narrow(variable, value, None)

    def domain_of_all(self, variable: str) -> int:
        """Return the values that are left of a variable whatever is decided; of one that is not opened all."""
        if variable not in self.domains:
            return -1
        for index in self._history[variable]:
            if self._trail[index].level:
                return self._trail[index].before
        return self.domains[variable]

    @property
    def most_disputed(self) -> str:
        """The package that most of the latest conflicts were about; empty if there were none."""
        return min(self._weights, key=lambda name: (-self._weights[name], name), default="")

    def _offer(self, variable: str) -> None:
        domain = self.domains[variable]
        if domain & (domain - 1) and not domain & ABSENT and variable[-1] != "]":
            heapq.heappush(self._offers, self._offer_of(variable))

    def _offer_of(self, variable: str) -> tuple[float, int, str]:
        return (-self._weights.get(variable, 0.0), self.domains[variable].bit_count(), variable)

    def _blame(self, variables: dict[str, None]) -> None:
        """Make packages that took part in a conflict be decided earlier."""
        self._weight *= _FADING
        for name in {variable.partition("[")[0]: None for variable in variables}:
            self._weights[name] = self._weights.get(name, 0.0) + self._weight
        if self._weight > _HEAVIEST:
            self._weight /= _HEAVIEST
            self._weights = {name: weight / _HEAVIEST for name, weight in self._weights.items()}

    # -- conflicts

    def learn(self, rule: Rule) -> None:
        """Learn from a conflict and jump back; with no decision to jump back from, the rule becomes the failure."""
        since = {variable: self._first_true(variable, values) for variable, values in rule.terms.items()}
        blamed = dict.fromkeys(rule.terms)
        while rule.terms:
            subject = max(since, key=since.__getitem__)
            entry = self._trail[since[subject]]
            level = self._level_without(rule, subject, since)
            if entry.cause is None or level < entry.level:
                self._blame(blamed)
                self._jump(level)
                self.post(rule)
                for variable in blamed:
                    self._offer(variable)
                return
            blamed.update(dict.fromkeys(entry.cause.terms))
            del since[subject]
            rule = self._resolvent(rule, entry.cause, subject)
            since.update(
                (variable, self._first_true(variable, rule.terms[variable]))
                for variable in entry.cause.terms
                if variable in rule.terms
            )
        self.failure = rule

    def _level_without(self, rule: Rule, subject: str, since: dict[str, int]) -> int:
        """Return the level at which all the rest of a rule was true, without the entry that made the last term true."""
        last = since[subject]
        level = max((self._level_of(index) for variable, index in since.items() if variable != subject), default=0)
        cause = self._trail[last].cause
        if cause is None:
            return level
        own = self._first_true(subject, rule.terms[subject] | cause.terms[subject])
        return max(level, self._level_of(own))

    def _first_true(self, variable: str, values: int) -> int:
        """Return the first entry after which a variable lies within `values`; -1: from the start, the end: never."""
        if not self.full[variable] & ~values:
            return -1
        places, trail = self._history[variable], self._trail
        low, high = 0, len(places)
        while low < high:
            middle = (low + high) // 2
            if trail[places[middle]].after & ~values:
                low = middle + 1
            else:
                high = middle
        return places[low] if low < len(places) else len(trail)

    def _level_of(self, index: int) -> int:
        return self._trail[index].level if index >= 0 else 0

    def _resolvent(self, rule: Rule, cause: Rule, variable: str) -> Rule:
        """Combine two rules on a variable: where all their other terms hold, its value is in neither set."""
        terms = dict(cause.terms)
        for other, values in rule.terms.items():
            terms[other] = terms[other] & values if other in terms else values
        terms[variable] = rule.terms[variable] | cause.terms[variable]
        if terms[variable] == self.full[variable]:
            del terms[variable]
        return Rule(terms, None, (rule, cause))

    def _jump(self, level: int) -> None:
        """Take back all decisions below a level; what follows from later rules above it has to be found again."""
        restored: dict[str, None] = {}
        while self._trail and self._trail[-1].level > level:
            entry = self._trail.pop()
            self.domains[entry.variable] = entry.before
            self._history[entry.variable].pop()
            restored[entry.variable] = None
        self._level = level
        self._queue.clear()
        for variable in restored:
            self._offer(variable)
        late = []
        while self._late and self._late[-1][0] > level:
            late.append(self._late.pop()[1])
        for rule in reversed(late):
            if self._may_follow(rule):
                self._pending.append(rule)
                if level:
                    self._late.append((level, rule))

    def _may_follow(self, rule: Rule) -> bool:
        """Say whether fewer than two terms of a rule are not true."""
        return sum(1 for variable, values in rule.terms.items() if self.domains[variable] & ~values) < _FEW
