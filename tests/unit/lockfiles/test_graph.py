"""Who asks for a package, through which pins; what is left when somebody goes; what differs between two locks."""

from __future__ import annotations

import pytest

from lockfiles import Artifact, Edge, Lock, Owner, Pin
from lockfiles.graph import Branch, Chain, Link, chains, owners_of, tree
from lockfiles.subset import Change, Changes, NotASubset, changes, subset

CORE = Owner("core", "hermes-agent")
MEM0 = Owner("plugin", "memory/mem0")
WEB = Owner("plugin", "web")


def pin(
    name: str, *edges: Edge, extras: tuple[str, ...] = (), owners: tuple[Owner, ...] = (), version: str = "1"
) -> Pin:
    file = f"{name}-{version}-py3-none-any.whl"
    return Pin(name, version, Artifact(file, version * 64, path=file), extras=extras, owners=owners, edges=edges)


LOCK = Lock(
    (
        pin("hermes-agent", Edge("httpx", "==1", ("socks",)), owners=(CORE,)),
        pin(
            "httpx",
            Edge("idna"),
            Edge("socksio", ">=1", extra="socks"),
            Edge("h2", extra="http2"),
            extras=("socks",),
            owners=(WEB,),
        ),
        pin("idna"),
        pin("mem0ai", Edge("qdrant", "<2"), Edge("hermes-agent", ">=0.19"), owners=(MEM0,)),
        pin("protobuf", Edge("qdrant")),
        pin("qdrant", Edge("protobuf", ">=5,<7"), Edge("idna", ">=1")),
        pin("socksio"),
    ),
    fingerprint="sha256:1",
)


def test_owners_of_a_package_are_all_on_whose_behalf_it_is_there() -> None:
    assert owners_of(LOCK, "idna") == (CORE, MEM0, WEB)
    assert owners_of(LOCK, "protobuf") == (MEM0,)
    assert owners_of(LOCK, "unknown") == ()


def test_the_shortest_chain_of_each_owner_is_told_shortest_first() -> None:
    assert chains(LOCK, "idna") == (
        Chain(WEB, (Link("httpx", "1"), Link("idna", "1", "idna"))),
        Chain(CORE, (Link("hermes-agent", "1"), Link("httpx", "1", "httpx[socks]==1"), Link("idna", "1", "idna"))),
        Chain(MEM0, (Link("mem0ai", "1"), Link("qdrant", "1", "qdrant<2"), Link("idna", "1", "idna>=1"))),
    )


def test_a_chain_goes_through_an_extra_only_where_it_is_asked_for() -> None:
    assert chains(LOCK, "socksio") == (
        Chain(WEB, (Link("httpx", "1"), Link("socksio", "1", "socksio>=1"))),
        Chain(
            CORE, (Link("hermes-agent", "1"), Link("httpx", "1", "httpx[socks]==1"), Link("socksio", "1", "socksio>=1"))
        ),
        Chain(
            MEM0,
            (
                Link("mem0ai", "1"),
                Link("hermes-agent", "1", "hermes-agent>=0.19"),
                Link("httpx", "1", "httpx[socks]==1"),
                Link("socksio", "1", "socksio>=1"),
            ),
        ),
    )


def test_a_tree_shows_what_was_shown_before_only_by_name() -> None:
    assert tree(LOCK, ["qdrant", "httpx"]) == (
        Branch(
            "qdrant",
            "1",
            "",
            (
                Branch("idna", "1", "idna>=1"),
                Branch("protobuf", "1", "protobuf>=5,<7", (Branch("qdrant", "1", "qdrant", repeated=True),)),
            ),
        ),
        Branch("httpx", "1", "", (Branch("idna", "1", "idna"), Branch("socksio", "1", "socksio>=1"))),
    )


def test_an_inverted_tree_shows_who_needs_a_package() -> None:
    assert tree(LOCK, ["socksio"], inverted=True) == (
        Branch(
            "socksio",
            "1",
            "",
            (
                Branch(
                    "httpx",
                    "1",
                    "socksio>=1",
                    (Branch("hermes-agent", "1", "httpx[socks]==1", (Branch("mem0ai", "1", "hermes-agent>=0.19"),)),),
                ),
            ),
        ),
    )


def test_a_tree_without_names_begins_at_what_owners_ask_for() -> None:
    assert [branch.name for branch in tree(LOCK)] == ["hermes-agent", "mem0ai"]
    assert [branch.name for branch in tree(LOCK, inverted=True)] == ["idna", "socksio"]


def test_what_only_the_leaver_asked_for_goes_with_it_extras_too() -> None:
    left = subset(LOCK, [("httpx", ())], {"httpx": (WEB,)})
    assert left == Lock(
        (
            pin("httpx", Edge("idna"), Edge("socksio", ">=1", extra="socks"), Edge("h2", extra="http2"), owners=(WEB,)),
            pin("idna"),
        )
    )


def test_a_cycle_that_nobody_asks_for_goes() -> None:
    left = subset(LOCK, [("hermes-agent", ()), ("httpx", ())], {"hermes-agent": (CORE,), "httpx": (WEB,)})
    assert left.versions() == {"hermes-agent": "1", "httpx": "1", "idna": "1", "socksio": "1"}


@pytest.mark.parametrize(
    ("root", "message"),
    [
        (("numpy", ()), "`numpy` is not part of the lock"),
        (("httpx", ("http2",)), "the extra `http2` of `httpx` is not part of the lock"),
    ],
)
def test_what_the_lock_was_not_solved_with_is_no_subset(root: tuple[str, tuple[str, ...]], message: str) -> None:
    with pytest.raises(NotASubset) as caught:
        subset(LOCK, [root], {})
    assert (str(caught.value), caught.value.name) == (message, root[0])


def test_an_arc_to_a_core_that_is_not_installed_is_left_open() -> None:
    lock = Lock((pin("mem0ai", Edge("hermes-agent", ">=0.19"), owners=(MEM0,)),))
    assert subset(lock, [("mem0ai", ())], {"mem0ai": (MEM0,)}) == lock


def test_changes_tell_versions_and_owners() -> None:
    after = Lock(
        (
            pin("httpx", Edge("idna"), owners=(WEB,), version="2"),
            pin("idna")._replace(
                artifact=Artifact("idna-1-py3-none-any.whl", "f" * 64, path="idna-1-py3-none-any.whl")
            ),
            pin("new", owners=(MEM0,)),
        )
    )
    before = Lock(tuple(p for p in LOCK.pins if p.name in {"httpx", "idna", "socksio"}))
    assert changes(before, after) == Changes(
        added=(Change("new", "", "1", (MEM0,)),),
        removed=(Change("socksio", "1", "", (WEB,)),),
        moved=(Change("httpx", "1", "2", (WEB,)), Change("idna", "1", "1", (WEB,))),
    )


def test_against_nothing_everything_is_added() -> None:
    lock = Lock((pin("idna", owners=(CORE,)),))
    assert changes(None, lock) == Changes(added=(Change("idna", "", "1", (CORE,)),))
