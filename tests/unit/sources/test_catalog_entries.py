"""What a catalog may name, and which names are taken for others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pm.documents.yaml_nodes import read_yaml
from pm.sources.catalog_entries import read_entry
from pm.sources.lookalikes import looks_like

SHA = "a" * 40
NAMES = Path(__file__).parents[4] / "shared" / "corpus" / "catalog_names.json"


@pytest.mark.parametrize(
    ("repo", "sha", "subdir", "fault"),
    [
        ("https://example.org/x", SHA, "", ""),
        ("https://example.org/x", SHA, "plugins/x", ""),
        ("http://example.org/x", SHA, "", "https"),
        ("file:///etc", SHA, "", "https"),
        ("ext::sh", SHA, "", "https"),
        ("https://user:pw@example.org/x", SHA, "", "https"),
        ("https://-x/y", SHA, "", "https"),
        ("https://[::1/x", SHA, "", "https"),
        ("https://example.org/x", "main", "", "40 hexadecimal"),
        ("https://example.org/x", SHA[:39], "", "40 hexadecimal"),
        ("https://example.org/x", SHA, "../x", "no folder"),
        ("https://example.org/x", SHA, "a//b", "no folder"),
    ],
)
def test_an_entry_names_an_address_a_commit_and_a_folder(repo: str, sha: str, subdir: str, fault: str) -> None:
    document = read_yaml(json.dumps({"name": "x", "repo": repo, "sha": sha, "subdir": subdir}), "x.yaml")
    page = read_entry(document.root, "x.yaml")
    assert (len(page.entries), len(page.problems)) == ((0, 1) if fault else (1, 0))
    assert all(fault in problem for problem in page.problems)


@pytest.mark.parametrize("text", ["[]", "7", "name: [x]", "name: 'A B'\nrepo: https://x.org\nsha: " + SHA])
def test_an_entry_that_is_none_is_a_problem_of_its_own(text: str) -> None:
    assert read_entry(read_yaml(text, "x.yaml").root, "x.yaml").entries == ()


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("ws-chat", "ws-chat", ""),
        ("WS-Chat", "ws-chat", ""),
        ("wschat", "ws-chat", "ws-chat"),
        ("ws_chat", "ws-chat", "ws-chat"),
        ("n0tes", "notes", "notes"),
        ("slcak-bot", "slack-bot", "slack-bot"),
        ("slack-bots", "slack-bot", "slack-bot"),
        ("slack-bat", "slack-bot", "slack-bot"),
        ("notes", "votes", ""),
        ("mem1", "mem0", ""),
        ("weather", "leather-goods", ""),
    ],
)
def test_a_name_is_taken_for_another_one(name: str, known: str, meant: str) -> None:
    assert looks_like(name, (known,)) == meant


@pytest.mark.skipif(not NAMES.exists(), reason="the corpus of names is not part of the repository")
def test_few_names_of_a_real_catalog_are_taken_for_each_other() -> None:
    names = json.loads(NAMES.read_text())
    names = [name.removesuffix(".yaml") for name in names["names_known"]]
    alike = [(name, other) for name in names if (other := looks_like(name, tuple(n for n in names if n != name)))]
    assert len(alike) <= len(names) // 50, alike
