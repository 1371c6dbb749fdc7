"""Decide, and note which facts the decision rests on: the names that deciding asked for, and nothing else."""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from admission import Decision, Facts, Question, decide

_Value = TypeVar("_Value")


def decide_noting(question: Question, facts: Facts) -> tuple[Decision, Facts]:
    """Decide, and return the part of the facts that the decision rests on too: that alone decides the same."""
    pages, candidates = _Consulted(facts.pages), _Consulted(facts.candidates)
    decision = decide(question, Facts(pages, candidates))
    return decision, Facts(pages.consulted(), candidates.consulted())


class _Consulted(Mapping[str, _Value]):
    """A mapping that notes which names were asked for, whether they were there or not."""

    def __init__(self, inner: Mapping[str, _Value]) -> None:
        self._inner = inner
        self.seen: set[str] = set()

    def __getitem__(self, key: str) -> _Value:
        self.seen.add(key)
        return self._inner[key]

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str):
            self.seen.add(key)
        return key in self._inner

    def consulted(self) -> dict[str, _Value]:
        """Return what was asked for and there."""
        return {name: self._inner[name] for name in self.seen if name in self._inner}

    def __iter__(self) -> Iterator[str]:
        return iter(self._inner)

    def __len__(self) -> int:
        return len(self._inner)
