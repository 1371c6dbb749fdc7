"""What the words mean by which an operator names where a plugin comes from."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pm.errors import PmError
from pm.sources.spelling import ArchiveFile, Folder, Git, is_source, local_source, read_source

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with a plugin and an archive."""
    (tmp_path / "ash").mkdir()
    (tmp_path / "owner" / "here").mkdir(parents=True)
    (tmp_path / "ash.tar.gz").write_bytes(b"")
    (tmp_path / "ash.txt").write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ash", Folder(Path("ash"))),
        ("./ash", Folder(Path("ash"))),
        ("owner/here", Folder(Path("owner/here"))),
        ("ash.tar.gz", ArchiveFile(Path("ash.tar.gz"))),
        ("owner/plugin", Git("https://github.com/owner/plugin.git")),
        ("owner/plugin/sub/folder", Git("https://github.com/owner/plugin.git", "sub/folder")),
        ("https://git.example/a/b", Git("https://git.example/a/b")),
        ("https://git.example/a/b.git", Git("https://git.example/a/b.git")),
        ("https://git.example/a/b.git#sub", Git("https://git.example/a/b.git", "sub")),
        ("https://git.example/a/b.git/sub/x", Git("https://git.example/a/b.git", "sub/x")),
        ("https://git.example/a/b#subdirectory=sub", Git("https://git.example/a/b", "sub")),
        ("https://git.example/a/b/tree/v1.2/sub/x", Git("https://git.example/a/b.git", "sub/x", "v1.2")),
        ("https://git.example/a/b/tree/main", Git("https://git.example/a/b.git", "", "main")),
        ("git+https://git.example/a/b.git", Git("https://git.example/a/b.git")),
        ("ssh://git@git.example/a/b.git", Git("ssh://git@git.example/a/b.git")),
        ("git@git.example:a/b.git#sub", Git("git@git.example:a/b.git", "sub")),
        ("file:///srv/b.git", Git("file:///srv/b.git")),
        ("http://127.0.0.1:8000/b.git", Git("http://127.0.0.1:8000/b.git")),
    ],
)
def test_what_is_there_comes_before_what_is_elsewhere(text: str, expected: object) -> None:
    assert read_source(text) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("  ", "is empty"),
        ("nothing", "does not exist"),
        ("./nothing", "does not exist"),
        ("ash.txt", "not an archive of a supported kind"),
        ("a/b.zip", "does not exist"),
        ("ext::sh -c touch% /tmp/x", "does not exist"),
        ("ext://sh", "is no way to reach a repository"),
        ("fd://17", "is no way to reach a repository"),
        ("git+ext://x", "is no way to reach a repository"),
        ("javascript://x", "is no way to reach a repository"),
        ("https://git.example/a/b.zip", "is an archive"),
        ("https://git.example/a/b.git#../x", "is no folder of a repository"),
        ("https://git.example/a/b.git#-x", "is no folder of a repository"),
        ("https://git.example/a/b.git#a//b", "is no folder of a repository"),
        ("https://git.example/a/b.git/../../c", "is no folder of a repository"),
        ("owner/plugin/../../x", "is no folder of a repository"),
        ("https://git.example/a/b/tree/--upload-pack=x/sub", "is no branch or tag"),
        ("https://git.example/a/b/tree/a..b", "is no branch or tag"),
        ("https://git.example/a\nb", "control character"),
        ("pypi:hermes-plugin", "not supported yet"),
        ("--upload-pack=touch", "does not exist"),
    ],
)
def test_what_is_no_source_says_why(text: str, said: str) -> None:
    with pytest.raises(PmError) as raised:
        read_source(text)
    assert (raised.value.code, said in raised.value.message) == ("invalid-source", True)


def test_a_commit_is_said_in_full_and_for_a_repository() -> None:
    assert read_source("owner/plugin", COMMIT.upper()) == Git("https://github.com/owner/plugin.git", "", COMMIT)
    for text, commit in (("ash", COMMIT), ("owner/plugin", "main"), ("owner/plugin", COMMIT[:12])):
        with pytest.raises(PmError, match=r"`--ref`|full commit"):
            read_source(text, commit)


def test_a_login_is_not_part_of_what_is_shown() -> None:
    source = read_source("https://user:hunter2@git.example/a/b.git#sub")
    assert isinstance(source, Git)
    assert ("hunter2" in source.url, "hunter2" in source.shown) == (True, False)
    with pytest.raises(PmError) as raised:
        read_source("https://user:hunter2@git.example/a/b.git#../x")
    assert "hunter2" not in raised.value.message


def test_what_has_to_be_on_this_machine_is() -> None:
    assert local_source("ash") == Folder(Path("ash"))
    with pytest.raises(PmError, match="not a folder or an archive of this machine"):
        local_source("owner/plugin")


def test_a_key_is_told_from_a_source() -> None:
    words = ("ash", "memory/mem0", "./ash", "ash.zip", "https://git.example/a", "git@git.example:a", os.sep)
    assert [is_source(word) for word in words] == [False, False, True, True, True, True, True]
