"""Laws of locks: what is written reads back, one lock has one digest, a subset is closed and has nothing to spare."""

from __future__ import annotations

import json
import tomllib
from contextlib import suppress
from itertools import pairwise, product
from random import Random
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockfiles import Artifact, Edge, InvalidLock, Lock, Owner, Pin
from lockfiles.graph import active_edges, chains, owners, owners_of, tree
from lockfiles.pylock import canonical, digest, dumps, loads
from lockfiles.sidecar import from_json, to_json
from lockfiles.subset import changes, subset

Item = TypeVar("Item")
NAMES = tuple("".join(letters) for letters in product("abc", "-x", "yz"))
EXTRAS = ("fast", "socks")
OWNERS = (
    Owner("core", "hermes-agent"),
    Owner("plugin", "memory/mem0"),
    Owner("plugin", "über"),
    Owner("core-extra", "x"),
)
# All that a file can carry: quotes, backslashes, control characters, all planes, but no half of a surrogate pair.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SOME_TEXT = TEXTS.filter(bool)
PYTHONS = st.sampled_from(("", ">=3.8", "<3.14,>=3.11"))
VERSIONS = st.sampled_from(("1.0", "2.0.1", "1!1.0.post1", "3.0a1", "1.0+cpu.2"))
SHA256 = st.integers(0, 2**256 - 1).map("{:064x}".format)
TIMES = st.datetimes().map(lambda moment: moment.isoformat(timespec="microseconds") + "Z") | st.just("")
EDGES = st.builds(
    Edge,
    name=st.sampled_from((*NAMES, "hermes-agent")),
    specifier=st.sampled_from(("", ">=1,<2", "==1.*")),
    extras=st.sampled_from(((), (), ("fast",), ("fast", "socks"))),
    marker=st.sampled_from(("", "python_version >= '3.8'", 'sys_platform == "linux" or os_name == "x"')),
    extra=st.sampled_from(("", "", *EXTRAS)),
)


@st.composite
def artifacts(draw: st.DrawFn, name: str, version: str) -> Artifact:
    distribution = name.replace("-", "_")
    filename = draw(st.sampled_from((f"{distribution}-{version}-py3-none-any.whl", f"{distribution}-{version}.tar.gz")))
    url = f"https://files.invalid/{draw(st.sampled_from(('a', 'ä%20b')))}/{filename}?part={draw(st.integers(0, 9))}#x"
    path = f"../{draw(SOME_TEXT)}/{filename}"
    url, path = draw(st.sampled_from(((url, ""), ("", path), (url, path))))
    size = draw(st.none() | st.integers(0, 2**60))
    return Artifact(filename, draw(SHA256), url, path, size, draw(TIMES))


@st.composite
def pins(draw: st.DrawFn, name: str) -> Pin:
    version = draw(VERSIONS)
    return Pin(
        name=name,
        version=version,
        artifact=draw(artifacts(name, version)),
        index=draw(st.sampled_from(("", "https://index.invalid/simple"))),
        requires_python=draw(PYTHONS),
        extras=tuple(sorted(draw(st.sets(st.sampled_from(EXTRAS))))),
        owners=tuple(sorted(draw(st.sets(st.sampled_from(OWNERS), max_size=2)))),
        edges=tuple(sorted(draw(st.sets(EDGES, max_size=4)))),
    )


@st.composite
def locks(draw: st.DrawFn) -> Lock:
    names = sorted(draw(st.sets(st.sampled_from(NAMES), max_size=5)))
    return Lock(
        pins=tuple(draw(pins(name)) for name in names),
        requires_python=draw(PYTHONS),
        target=draw(TEXTS),
        core=draw(TEXTS),
        fingerprint=draw(TEXTS),
        exclude_newer=draw(TEXTS),
        environment=draw(st.sampled_from(("", "python_version == '3.11'"))),
    )


@st.composite
def solved_locks(draw: st.DrawFn) -> Lock:
    """Locks as deciding makes them: what anything asks of a pin is recorded there, and only the core is left open."""
    lock = draw(locks())
    asked = {(edge.name, extra) for pin in lock.pins for edge in pin.edges for extra in edge.extras}
    names = {*lock.versions(), "hermes-agent"}
    return lock._replace(
        pins=tuple(
            pin._replace(
                extras=tuple(sorted({*pin.extras, *(extra for name, extra in asked if name == pin.name)})),
                edges=tuple(edge for edge in pin.edges if edge.name in names),
            )
            for pin in lock.pins
        )
    )


def roots_of(lock: Lock) -> list[tuple[str, tuple[str, ...]]]:
    return [(pin.name, pin.extras) for pin in lock.pins if pin.owners]


@given(locks())
def test_a_lock_reads_back_from_its_text_to_the_same_value(lock: Lock) -> None:
    assert loads(dumps(lock)) == lock


@given(locks())
def test_a_lock_reads_back_from_its_side_car_to_the_same_value(lock: Lock) -> None:
    assert from_json(json.loads(json.dumps(to_json(lock)))) == lock


@given(locks(), st.randoms())
def test_text_and_digest_do_not_depend_on_the_order_of_anything(lock: Lock, random: Random) -> None:
    def shuffled(items: tuple[Item, ...]) -> tuple[Item, ...]:
        return tuple(random.sample(items, len(items)))

    other = lock._replace(
        pins=tuple(
            pin._replace(extras=shuffled(pin.extras), owners=shuffled(pin.owners), edges=shuffled(pin.edges))
            for pin in shuffled(lock.pins)
        )
    )
    assert (dumps(other), digest(other)) == (dumps(lock), digest(lock))


@given(locks(), locks())
def test_two_locks_have_one_digest_only_if_they_are_equal(one: Lock, other: Lock) -> None:
    assert (digest(one) == digest(other)) == (one == other)


@given(locks(), st.data())
def test_a_damaged_document_is_an_invalid_lock_or_a_lock_and_nothing_else(lock: Lock, data: st.DataObject) -> None:
    text = dumps(lock)
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, min(len(text), begin + 30)))
    damaged = text[:begin] + data.draw(st.sampled_from(("", "[", '"', "\n", "=", "1", "[[packages]]\n"))) + text[end:]
    with suppress(InvalidLock):
        read = loads(damaged)
        assert read == canonical(read)


@given(st.recursive(st.none() | st.integers() | TEXTS, lambda inner: st.lists(inner, max_size=9)))
def test_a_damaged_side_car_is_an_invalid_lock_and_nothing_else(value: object) -> None:
    with pytest.raises(InvalidLock):
        from_json(value)


@given(solved_locks(), st.data())
def test_a_subset_holds_what_the_roots_reach_and_nothing_else(lock: Lock, data: st.DataObject) -> None:
    every = roots_of(lock)
    closed = subset(lock, every, {pin.name: pin.owners for pin in lock.pins})
    kept = data.draw(st.lists(st.sampled_from(every), unique=True) if every else st.just([]))
    left = subset(closed, kept, {})
    names = left.versions()

    reached = {(name, extra) for name, extras in kept for extra in ("", *extras)}
    while (
        more := {
            (edge.name, extra)
            for pin in left.pins
            for edge in pin.edges
            if (pin.name, edge.extra) in reached and edge.name in names
            for extra in ("", *edge.extras)
        }
        - reached
    ):
        reached |= more

    assert set(names) == {name for name, _ in reached}
    assert {pin.name: pin.extras for pin in left.pins} == {
        name: tuple(sorted(extra for other, extra in reached if other == name and extra)) for name in names
    }
    before = closed.versions()
    assert {edge.name for pin in left.pins for edge in active_edges(pin)} & set(before) <= set(names)


@given(solved_locks())
def test_a_subset_for_the_same_roots_changes_nothing(lock: Lock) -> None:
    who = {pin.name: pin.owners for pin in lock.pins}
    closed = subset(lock, roots_of(lock), who)
    again = subset(closed, roots_of(lock), who)
    assert again == closed
    assert changes(closed, again) == ((), (), ())


@given(solved_locks())
def test_every_owner_of_a_package_has_a_chain_to_it_of_joined_links(lock: Lock) -> None:
    pins_by_name = {pin.name: pin for pin in lock.pins}
    for name in pins_by_name:
        found = chains(lock, name)
        assert tuple(sorted(chain.owner for chain in found)) == owners_of(lock, name)
        for owner, links in found:
            assert owner in pins_by_name[links[0].name].owners
            assert links[-1].name == name
            assert len({link.name for link in links[:-1]}) == len(links) - 1
            for before, after in pairwise(links):
                assert after.name in {edge.name for edge in pins_by_name[before.name].edges}


@given(solved_locks())
def test_a_tree_shows_every_pin_once_in_full_in_both_directions(lock: Lock) -> None:
    for inverted in (False, True):
        waiting = list(tree(lock, inverted=inverted))
        shown = []
        while waiting:
            branch = waiting.pop()
            waiting.extend(branch.branches)
            if not branch.repeated:
                shown.append(branch.name)
        assert set(shown) == set(lock.versions())


@given(solved_locks())
def test_other_readers_of_toml_see_what_we_wrote(lock: Lock) -> None:
    import tomlkit

    text = dumps(lock)
    assert tomlkit.parse(text).unwrap() == tomllib.loads(text)


@given(solved_locks())
def test_a_package_without_an_owner_is_reached_by_none(lock: Lock) -> None:
    reached = {name for name, who in owners(lock).items() if who}
    assert reached == set(subset(lock, roots_of(lock), {}).versions())
