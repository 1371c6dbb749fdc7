"""Every step is a command that can be pasted into a shell."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime

import pytest

from admission import Step
from pm.receipts.commands import command
from pm.receipts.receipt import Operation, Plugin, Source

CHAT = Plugin("ws-chat", "ws-chat", "1.0", Source("folder", "/plugins/ws-chat"))
MEM0 = Plugin("memory/mem0", "mem0", "1.0", Source("catalog", "mem0"))


def operation(*words: str, name: str = "install", kind: str = "folder", argument: str = "./ws-chat") -> Operation:
    plugin = CHAT._replace(source=Source(kind, argument))
    now = datetime(2026, 1, 31, tzinfo=UTC)
    return Operation(name, "0a", now, ("hermes", *words), argument=argument, plugin=plugin, plugins=(plugin, MEM0))


INSTALL = operation("plugins", "install", "./ws-chat", "--enable", "--home", "/my home")
AGAIN = "hermes plugins install ./ws-chat --enable --home '/my home'"


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (("retry", "ws-chat", ""), "hermes plugins install ./ws-chat --enable --home '/my home'"),
        (("re-enable", "ws-chat", ""), "hermes plugins enable ws-chat --home '/my home'"),
        (("update-plugin", "memory/mem0", "2.0"), "hermes plugins update memory/mem0 --home '/my home'"),
        (("update-plugin", "ws-chat", "2.0"), "hermes plugins update ws-chat --home '/my home'"),
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
            "hermes plugins check memory/mem0 --patch memory-mem0.patch --home '/my home'",
        ),
        (
            ("update-core", "hermes-agent", "hermes-agent==0.20.0"),
            "hermes pm init --core hermes-agent==0.20.0 --home '/my home'",
        ),
        (("update-core", "hermes-agent>=0.20", ""), "hermes pm init --core 'hermes-agent>=0.20' --home '/my home'"),
        (
            ("allow-prerelease", "httpx", ""),
            f"{AGAIN} --allow-prerelease httpx",
        ),
        (
            ("allow-build", "spidev", ""),
            f"{AGAIN} --allow-build spidev",
        ),
        (
            ("allow-direct-url", "acme", ""),
            f"{AGAIN} --allow-direct-urls",
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


def test_an_update_leaves_out_by_its_own_flag() -> None:
    update = operation("update", "--home=/h", name="update", argument="")._replace(plugin=None)
    assert command(Step("leave-out", "ws-chat", ""), update) == "hermes update --home=/h --without ws-chat"
    assert command(Step("widen", "ws-chat", ""), update) == (
        "hermes plugins check ws-chat --patch ws-chat.patch --home=/h"
    )


def test_another_version_of_the_judged_plugin_is_taken_from_where_it_comes() -> None:
    step = Step("update-plugin", "ws-chat", "", "2.0")
    pypi = operation("plugins", "install", "pypi:ws-chat==1.0", kind="pypi", argument="pypi:ws-chat==1.0")
    git = operation("plugins", "install", "me/ws", "--ref", "0a1b", "--enable", kind="git", argument="me/ws")
    assert command(step, pypi) == "hermes plugins install pypi:ws-chat==2.0"
    assert command(step, git) == "hermes plugins install me/ws --enable --ref 2.0"


def test_a_strange_source_stays_one_word_of_the_shell() -> None:
    strange = operation("plugins", "install", "a b'; rm -rf ~", argument="a b'; rm -rf ~")
    assert shlex.split(command(Step("retry", "", ""), strange)) == ["hermes", "plugins", "install", "a b'; rm -rf ~"]
