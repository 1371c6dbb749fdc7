"""Every step is a command that can be pasted into a shell."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime

import pytest

from admission import Origin, Owner, Step
from pm.receipts.commands import command
from pm.receipts.receipt import Operation, Plugin, SourceRow

CHAT = Plugin("ws-chat", "ws-chat", "1.0", SourceRow("folder", "/plugins/ws-chat"))
MEM0 = Plugin("memory/mem0", "mem0", "1.0", SourceRow("folder", "/plugins/memory/mem0"))
HONCHO = Plugin("memory/honcho", "honcho", "1.0", SourceRow("bundled"))


def operation(*words: str, name: str = "install", kind: str = "folder", argument: str = "./ws-chat") -> Operation:
    plugin = CHAT._replace(source=SourceRow(kind, argument))
    now = datetime(2026, 1, 31, tzinfo=UTC)
    return Operation(
        name, "0a", now, ("hermes", *words), argument=argument, plugin=plugin, plugins=(plugin, MEM0, HONCHO)
    )


INSTALL = operation("plugins", "install", "./ws-chat", "--enable", "--home", "/my home")
AGAIN = "hermes plugins install ./ws-chat --enable --home '/my home'"


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (("retry", "ws-chat", ""), "hermes plugins install ./ws-chat --enable --home '/my home'"),
        (("re-enable", "ws-chat", ""), "hermes plugins enable ws-chat --home '/my home'"),
        (
            ("widen", "ws-chat", "websockets>=15"),
            "hermes plugins check ./ws-chat --patch ws-chat.patch --home '/my home'",
        ),
        (
            ("widen", "websockets", "websockets>=15"),
            "hermes plugins check ./ws-chat --patch ws-chat.patch --home '/my home'",
        ),
        (
            ("widen", "memory/mem0", "mem0ai>=1"),
            "hermes plugins check ./ws-chat --patch memory-mem0.patch --patch-for memory/mem0 --home '/my home'",
        ),
        (
            ("update-core", "hermes-agent", "hermes-agent==0.20.0"),
            f"hermes pm init --core hermes-agent==0.20.0 --home '/my home' && {AGAIN}",
        ),
        (
            ("update-core", "hermes-agent>=0.20", ""),
            f"hermes pm init --core 'hermes-agent>=0.20' --home '/my home' && {AGAIN}",
        ),
        (("widen", "memory/honcho", "honcho-ai>=1"), AGAIN),
        (
            ("allow-prerelease", "httpx", ""),
            f"{AGAIN} --allow-prerelease httpx",
        ),
        (
            ("allow-build", "spidev", ""),
            f"{AGAIN} --allow-build spidev",
        ),
        (
            ("allow-newer", "acme", ""),
            f"{AGAIN} --exclude-newer off",
        ),
        (
            ("allow-newer", "acme", "2026-01-31T00:00:00Z"),
            f"{AGAIN} --exclude-newer 2026-01-31T00:00:00Z",
        ),
        (
            ("leave-out", "memory/mem0", ""),
            (
                "hermes plugins disable memory/mem0 --home '/my home' "
                "&& hermes plugins install ./ws-chat --enable --home '/my home'"
            ),
        ),
        (("repair", "", ""), "hermes pm repair --home '/my home'"),
    ],
)
def test_a_step_out_of_an_installation(step: tuple[str, str, str], expected: str) -> None:
    action, subject, value = step
    assert command(Step(action, subject, "", value), INSTALL) == expected


def test_a_strange_source_stays_one_word_of_the_shell() -> None:
    strange = operation("plugins", "install", "a b'; rm -rf ~", argument="a b'; rm -rf ~")
    assert shlex.split(command(Step("retry", "", ""), strange)) == ["hermes", "plugins", "install", "a b'; rm -rf ~"]


WRITTEN = Origin(Owner("plugin", "ws-chat"), "plugin.yaml", 4, "pip_dependencies")
WIDER = Step("widen", "ws-chat", origin=WRITTEN, before="websockets>=16", after="websockets>=15")
OLDER = Step("widen", "ws-chat", origin=WRITTEN._replace(line=5), before="httpx>=0.29", after="httpx>=0.28")
ALLOWED = Step("allow-prerelease", "httpx", "")
YOUNGER = Step("allow-newer", "acme", "", "off")
NEWER_CORE = Step("update-core", "hermes-agent", "", "hermes-agent==0.20.0")
LESS = Step("leave-out", "memory/mem0", "")
NEWEST = "hermes pm init --core hermes-agent==0.20.0 --home '/my home'"
LOOK = "hermes plugins check ./ws-chat --patch ws-chat.patch --home '/my home'"


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((WIDER, OLDER), [LOOK]),
        ((ALLOWED, YOUNGER), [f"{AGAIN} --allow-prerelease httpx --exclude-newer off"]),
        ((WIDER, ALLOWED), [f"{LOOK} --allow-prerelease httpx", f"{AGAIN} --allow-prerelease httpx"]),
        ((WIDER, NEWER_CORE), [LOOK.replace("--home", "--core hermes-agent==0.20.0 --home"), NEWEST, AGAIN]),
        (
            (ALLOWED, NEWER_CORE),
            [f"{NEWEST} --allow-prerelease httpx", f"{AGAIN} --allow-prerelease httpx"],
        ),
        ((NEWER_CORE, LESS), ["hermes plugins disable memory/mem0 --home '/my home'", NEWEST, AGAIN]),
        ((WIDER._replace(subject="memory/honcho"), LESS), [AGAIN]),
        (
            (LESS, LESS._replace(subject="loud")),
            [
                "hermes plugins disable memory/mem0 --home '/my home'",
                "hermes plugins disable loud --home '/my home'",
                AGAIN,
            ],
        ),
        ((WIDER, LESS), ["hermes plugins disable memory/mem0 --home '/my home'", LOOK, AGAIN]),
    ],
    ids=[
        "two bounds",
        "two consents",
        "bound, consent",
        "bound, core",
        "consent, core",
        "core, plugin less",
        "bound of the core's own plugin, plugin less",
        "two plugins less",
        "bound, plugin less",
    ],
)
def test_several_steps_that_lead_out_together_are_one_command(parts: tuple[Step, ...], expected: list[str]) -> None:
    assert command(Step("together", "", "", parts=parts), INSTALL) == " && ".join(expected)


def test_a_dry_run_is_repeated_with_all_that_is_allowed() -> None:
    check = operation("plugins", "check", "./ws-chat", name="check")
    assert command(Step("together", "", "", parts=(WIDER, ALLOWED)), check) == (
        "hermes plugins check ./ws-chat --patch ws-chat.patch --allow-prerelease httpx "
        "&& hermes plugins check ./ws-chat --allow-prerelease httpx"
    )


def test_what_was_allowed_already_is_allowed_where_one_looks_as_well() -> None:
    given = ("--allow-prerelease", "httpx", "--exclude-newer=off", "--allow-direct-urls", "--offline")
    install = operation("plugins", "install", "./ws-chat", "--enable", *given)
    assert command(WIDER, install) == (
        "hermes plugins check ./ws-chat --patch ws-chat.patch "
        "--allow-prerelease httpx --exclude-newer=off --allow-direct-urls --offline"
    )
    assert command(NEWER_CORE, install).startswith(
        "hermes pm init --core hermes-agent==0.20.0 "
        "--allow-prerelease httpx --exclude-newer=off --allow-direct-urls --offline && hermes plugins install "
    )


def test_of_several_bounds_of_a_plugin_it_is_said_which_is_meant_but_of_the_first() -> None:
    first, second = (step._replace(confirmed=True) for step in (WIDER, OLDER))
    other = WIDER._replace(subject="memory/mem0", origin=WRITTEN._replace(line=7), confirmed=True)
    look = "hermes plugins check ./ws-chat --patch ws-chat.patch"
    home = "--home '/my home'"
    assert command(second, INSTALL, [other]) == f"{look} {home}"
    assert command(second, INSTALL, [first]) == f"{look} --patch-at plugin.yaml:5 {home}"
    assert command(Step("together", "", "", parts=(first, second, other)), INSTALL, [first, other]) == (
        f"{look} --patch-at plugin.yaml:4 --patch-at plugin.yaml:5 {home} && hermes plugins check ./ws-chat "
        f"--patch memory-mem0.patch --patch-for memory/mem0 --patch-at plugin.yaml:7 {home}"
    )


def test_a_step_that_was_not_tried_is_given_the_time_that_there_was_not() -> None:
    check = operation("plugins", "check", "./ws-chat", "--steps-budget", "0", "--budget=9", name="check")
    install = operation("plugins", "install", "./ws-chat", "--steps-budget=0", "--budget=9")
    patient = "hermes plugins check ./ws-chat --budget=9 --patch ws-chat.patch"
    assert command(WIDER, check) == patient
    assert command(WIDER, install) == "hermes plugins check ./ws-chat --patch ws-chat.patch --budget=9"
    assert command(WIDER._replace(confirmed=True), check) == (
        "hermes plugins check ./ws-chat --steps-budget 0 --budget=9 --patch ws-chat.patch"
    )


def test_a_plugin_from_an_archive_has_no_file_that_a_patch_would_change() -> None:
    archive = operation("plugins", "check", "ws-chat.zip", name="check", kind="archive", argument="ws-chat.zip")
    assert command(WIDER, archive) == "hermes plugins check ws-chat.zip"
    assert command(Step("widen", "memory/mem0", ""), archive) == (
        "hermes plugins check ws-chat.zip --patch memory-mem0.patch --patch-for memory/mem0"
    )
    assert command(Step("together", "", "", parts=(WIDER, LESS)), archive) == "hermes plugins check ws-chat.zip"


def test_another_core_is_chosen_with_what_was_asked_of_the_refused_one() -> None:
    init = operation("pm", "init", "--core", "hermes-agent==0.19.5", "--home=/h", name="init", argument="")
    init = init._replace(plugin=None)
    look = "hermes plugins check --patch memory-mem0.patch --patch-for memory/mem0"
    wider = Step("widen", "memory/mem0", "")
    assert command(NEWER_CORE, init) == "hermes pm init --home=/h --core hermes-agent==0.20.0"
    assert command(wider, init) == f"{look} --core hermes-agent==0.19.5 --home=/h"
    assert command(Step("together", "", "", parts=(wider, NEWER_CORE)), init) == (
        f"{look} --core hermes-agent==0.20.0 --home=/h && hermes pm init --home=/h --core hermes-agent==0.20.0"
    )


@pytest.mark.parametrize("words", [(), ("--embedded-core",), ("--core", "x==1", "--python", "3.12"), ("--bundle", "b")])
def test_where_a_dry_run_would_judge_something_else_the_same_is_tried_again(words: tuple[str, ...]) -> None:
    init = operation("pm", "init", *words, name="init", argument="")._replace(plugin=None)
    assert command(Step("widen", "memory/mem0", ""), init) == " ".join(("hermes", "pm", "init", *words))


def test_a_bound_of_one_of_several_or_of_all_that_is_enabled_is_looked_at_as_it_was_asked() -> None:
    several = operation("plugins", "check", "a", "b", name="check", argument="")._replace(plugin=None)
    readiness = operation("plugins", "check", "--patch=x", "--patch-for", "ash", name="check", argument="")
    look = "--patch memory-mem0.patch --patch-for memory/mem0"
    wider = Step("widen", "memory/mem0", "")
    assert command(wider, several) == f"hermes plugins check a b {look}"
    assert command(wider, readiness._replace(plugin=None)) == f"hermes plugins check {look}"


def test_who_only_asks_why_is_told_what_to_write_and_asks_again() -> None:
    why = operation("pm", "why", "--not", "httpx>=1", name="why", argument="httpx>=1")._replace(plugin=None)
    again = "hermes pm why --not 'httpx>=1'"
    wider = Step("widen", "memory/mem0", "")
    assert command(wider, why) == again
    assert command(NEWER_CORE, why) == f"hermes pm init --core hermes-agent==0.20.0 && {again}"
    assert command(Step("together", "", "", parts=(wider, NEWER_CORE)), why) == again
