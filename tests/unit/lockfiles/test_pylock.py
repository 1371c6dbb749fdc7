"""`pylock.toml`: the exact text that is written, what is read of ours and of others, and every fault with its place."""

from __future__ import annotations

import hashlib

import pytest

from lockfiles import Artifact, Edge, InvalidLock, Lock, Owner, Pin, environment_marker
from lockfiles.pylock import digest, dumps, loads

SHA = "0123456789abcdef" * 4

HTTPX = Pin(
    name="httpx",
    version="0.28.1",
    artifact=Artifact(
        filename="httpx-0.28.1-py3-none-any.whl",
        sha256=SHA,
        url="https://files.invalid/2a/httpx-0.28.1-py3-none-any.whl",
        size=73517,
        upload_time="2024-12-06T15:37:21.509172Z",
    ),
    index="https://index.invalid/simple",
    requires_python=">=3.8",
    extras=("socks",),
    owners=(Owner("core", "hermes-agent"), Owner("plugin", "memory/honcho")),
    edges=(Edge("hermes-agent", ">=0.19"), Edge("socksio", "==1.*", ("fast",), "python_version >= '3.8'", "socks")),
)
SOCKSIO = Pin(
    "socksio",
    "1.0.0",
    Artifact("socksio-1.0.0-py3-none-any.whl", SHA, path="../wheels/größe 1/socksio-1.0.0-py3-none-any.whl"),
)
LOCK = Lock(
    pins=(SOCKSIO, HTTPX),
    requires_python=">=3.11,<3.14",
    target="cpython-3.11.7-linux-x86_64",
    core="hermes-agent==0.19.0",
    fingerprint="sha256:12",
    exclude_newer="2026-01-01T00:00:00Z",
    environment="python_version == '3.11'",
)
TEXT = f"""\
lock-version = "1.0"
environments = ["python_version == '3.11'"]
requires-python = ">=3.11,<3.14"
created-by = "hermes-pm"

[[packages]]
name = "httpx"
version = "0.28.1"
requires-python = ">=3.8"
dependencies = [
    {{ name = "socksio" }},
]
index = "https://index.invalid/simple"
wheels = [{{ name = "httpx-0.28.1-py3-none-any.whl", upload-time = 2024-12-06T15:37:21.509172Z, \
url = "https://files.invalid/2a/httpx-0.28.1-py3-none-any.whl", size = 73517, hashes = {{ sha256 = "{SHA}" }} }}]

[packages.tool.hermes-pm]
extras = [
    "socks",
]
owners = [
    {{ kind = "core", name = "hermes-agent" }},
    {{ kind = "plugin", name = "memory/honcho" }},
]
edges = [
    {{ name = "hermes-agent", specifier = ">=0.19" }},
    {{ name = "socksio", specifier = "==1.*", extras = ["fast"], marker = "python_version >= '3.8'", extra = "socks" }},
]

[[packages]]
name = "socksio"
version = "1.0.0"
wheels = [{{ name = "socksio-1.0.0-py3-none-any.whl", path = "../wheels/größe 1/socksio-1.0.0-py3-none-any.whl", \
hashes = {{ sha256 = "{SHA}" }} }}]

[tool.hermes-pm]
schema = 1
core = "hermes-agent==0.19.0"
target = "cpython-3.11.7-linux-x86_64"
fingerprint = "sha256:12"
exclude-newer = "2026-01-01T00:00:00Z"
"""


def test_a_lock_is_written_as_this_text() -> None:
    assert dumps(LOCK) == TEXT


def test_the_text_reads_back_sorted_by_name() -> None:
    assert loads(TEXT) == LOCK._replace(pins=(HTTPX, SOCKSIO))


def test_the_digest_is_that_of_the_text() -> None:
    assert (
        digest(LOCK)
        == f"sha256:{hashlib.sha256(TEXT.encode()).hexdigest()}"
        == "sha256:9452239ca9dc49475566d146c55b0f83099b995c63904b51a2a34447f0b7971a"
    )


def test_an_empty_lock_is_a_valid_file() -> None:
    assert (
        dumps(Lock(()))
        == 'lock-version = "1.0"\ncreated-by = "hermes-pm"\npackages = []\n\n[tool.hermes-pm]\nschema = 1\n'
    )
    assert loads(dumps(Lock(()))) == Lock(())


def test_a_source_distribution_is_written_as_sdist_and_a_direct_archive_as_archive() -> None:
    sdist = Pin("a-b", "1.0", Artifact("a_b-1.0.tar.gz", SHA, url="https://files.invalid/a_b-1.0.tar.gz"))
    archive = Pin("c", "1.0", Artifact("0a1b2c.zip", SHA, url="https://git.invalid/c/archive/0a1b2c.zip"))
    lock = Lock((sdist, archive))
    text = dumps(lock)
    assert (
        'sdist = { name = "a_b-1.0.tar.gz", url = "https://files.invalid/a_b-1.0.tar.gz", '
        f'hashes = {{ sha256 = "{SHA}" }} }}' in text
    )
    assert f'archive = {{ url = "https://git.invalid/c/archive/0a1b2c.zip", hashes = {{ sha256 = "{SHA}" }} }}' in text
    assert loads(text) == lock


def test_upload_times_are_written_in_utc_with_six_digits() -> None:
    pin = HTTPX._replace(artifact=HTTPX.artifact._replace(upload_time="2024-12-06T17:37:21+02:00"))
    (read,) = loads(dumps(Lock((pin,)))).pins
    assert read.artifact.upload_time == "2024-12-06T15:37:21.000000Z"


@pytest.mark.parametrize(
    ("pins", "message"),
    [
        ((HTTPX, HTTPX), "package `httpx`: is pinned twice"),
        (
            (SOCKSIO._replace(artifact=SOCKSIO.artifact._replace(sha256="")),),
            "package `socksio`: `socksio-1.0.0-py3-none-any.whl` has no sha256, so it could not be checked",
        ),
        (
            (SOCKSIO._replace(artifact=SOCKSIO.artifact._replace(path="")),),
            "package `socksio`: `socksio-1.0.0-py3-none-any.whl` has neither an address nor a path",
        ),
        (
            (SOCKSIO._replace(artifact=SOCKSIO.artifact._replace(upload_time="soon")),),
            "package `socksio`, key `upload-time`: `soon` is not a time in ISO 8601",
        ),
        (
            (SOCKSIO._replace(requires_python="\udc80"),),
            "a text holds half of a surrogate pair, which no file can carry",
        ),
    ],
)
def test_a_lock_that_nobody_could_install_is_not_written(pins: tuple[Pin, ...], message: str) -> None:
    with pytest.raises(InvalidLock) as caught:
        dumps(Lock(pins))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('created-by = "hermes-pm"', 'created-by = "hermes-pm', "line 4, column 24: illegal character `\\n`"),
        ('created-by = "hermes-pm"\n', "", "key `created-by`: missing required value"),
        ('lock-version = "1.0"', 'lock-version = "2.0"', "pylock version 2.0 is not supported"),
        (
            f'{{ sha256 = "{SHA}" }} }}]\n\n[packages',
            "{ } }]\n\n[packages",
            "line 6, package `httpx`, key `packages[0].wheels[0].hashes`: at least one hash must be provided",
        ),
        (
            f', hashes = {{ sha256 = "{SHA}" }} }}]\n\n[tool',
            " }]\n\n[tool",
            "line 29, package `socksio`, key `packages[1].wheels[0].hashes`: missing required value",
        ),
        (
            f'"{SHA}" }} }}]\n\n[tool',
            '"12" } }]\n\n[tool',
            "line 29, package `socksio`, key `packages[1].hashes`: has no sha256 of 64 hexadecimal digits",
        ),
        (
            f'sha256 = "{SHA}" }} }}]\n\n[tool',
            'sha512 = "12" } }]\n\n[tool',
            "line 29, package `socksio`, key `packages[1].hashes`: has no sha256 of 64 hexadecimal digits",
        ),
        (
            'version = "0.28.1"',
            'version = "0.28.2"',
            (
                "line 6, package `httpx`, key `packages[0].wheels[0]`: version in `httpx-0.28.1-py3-none-any.whl` "
                "is not consistent with package version `0.28.2`"
            ),
        ),
        ('version = "0.28.1"\n', "", "line 6, package `httpx`, key `packages[0]`: has no `version`"),
        ("size = 73517", "size = -1", "line 6, package `httpx`, key `packages[0].size`: a file of -1 bytes cannot be"),
        (
            '{ kind = "core", name = "hermes-agent" }',
            '{ kind = "core" }',
            "line 6, package `httpx`, key `packages[0].tool.hermes-pm.owners[0]`: has no `name`",
        ),
        (
            'specifier = ">=0.19"',
            "specifier = 19",
            "line 6, package `httpx`, key `packages[0].tool.hermes-pm.edges[0].specifier`: is not a text",
        ),
        (
            '[\n    "socks",\n]',
            "[1]",
            "line 6, package `httpx`, key `packages[0].tool.hermes-pm.extras`: is not a list of texts",
        ),
        (
            "schema = 1",
            "schema = 2",
            "key `tool.hermes-pm.schema`: is written by a newer version: schema 2, this one reads 1",
        ),
        (
            "2024-12-06T15:37:21.509172Z",
            "0001-01-01T00:00:00+02:00",
            (
                "line 6, package `httpx`, key `packages[0].upload-time`: "
                "`0001-01-01 00:00:00+02:00` has no counterpart in UTC"
            ),
        ),
        ("[tool.hermes-pm]\nschema = 1\n", "[tool]\nhermes-pm = 1\n[tool.x]\n", "key `tool.hermes-pm`: is not a table"),
    ],
)
def test_a_fault_is_told_with_its_place(old: str, new: str, message: str) -> None:
    assert TEXT.count(old) == 1
    with pytest.raises(InvalidLock) as caught:
        loads(TEXT.replace(old, new))
    assert str(caught.value) == message


def test_a_name_that_is_locked_twice_is_told() -> None:
    package = TEXT[TEXT.index('[[packages]]\nname = "socksio"') : TEXT.index("[tool")]
    with pytest.raises(InvalidLock, match="package `socksio`: is pinned twice"):
        loads(TEXT.replace(package, package + package))


def test_nesting_that_no_reader_follows_is_an_invalid_lock() -> None:
    with pytest.raises(InvalidLock):
        loads("a = " + "[" * 100_000)


# --- locks of other tools ---

FOREIGN = f"""\
# This file was made by another tool
lock-version = "1.0"
created-by = "another"
requires-python = ">=3.11"
environments = ["sys_platform == 'linux'", "sys_platform == 'win32'"]

[[packages]]
name = "colors"
version = "1.0"
marker = "sys_platform == 'win32'"
archive = {{ url = "https://files.invalid/%63olors.zip", hashes = {{ sha256 = "{SHA.upper()}" }} }}

[[packages]]
name = "fast"
version = "2.0"
dependencies = [{{ name = "plain" }}]
sdist = {{ url = "https://files.invalid/fast-2.0.tar.gz", hashes = {{ sha256 = "{SHA}" }} }}
wheels = [
    {{ url = "https://files.invalid/fast-2.0-cp311-cp311-win_amd64.whl", hashes = {{ sha256 = "{SHA}" }} }},
    {{ url = "https://files.invalid/fast-2.0-cp311-cp311-linux_x86_64.whl", hashes = {{ sha256 = "{SHA}" }} }},
]

[[packages]]
name = "plain"
version = "3.0"
sdist = {{ url = "https://files.invalid/plain-3.0.tar.gz", hashes = {{ sha256 = "{SHA}", md5 = "12" }} }}
"""
LINUX = {
    "implementation_name": "cpython",
    "implementation_version": "3.11.7",
    "os_name": "posix",
    "platform_machine": "x86_64",
    "platform_python_implementation": "CPython",
    "platform_release": "6",
    "platform_system": "Linux",
    "platform_version": "1",
    "python_full_version": "3.11.7",
    "python_version": "3.11",
    "sys_platform": "linux",
}


def test_a_lock_for_several_targets_is_read_for_one() -> None:
    assert loads(FOREIGN, environment=LINUX, tags=["cp311-cp311-linux_x86_64", "py3-none-any"]) == Lock(
        pins=(
            Pin(
                "fast",
                "2.0",
                Artifact(
                    "fast-2.0-cp311-cp311-linux_x86_64.whl",
                    SHA,
                    "https://files.invalid/fast-2.0-cp311-cp311-linux_x86_64.whl",
                ),
                edges=(Edge("plain"),),
            ),
            Pin("plain", "3.0", Artifact("plain-3.0.tar.gz", SHA, "https://files.invalid/plain-3.0.tar.gz")),
        ),
        requires_python=">=3.11",
        environment="(sys_platform == 'linux') or (sys_platform == 'win32')",
    )


def test_a_lock_for_several_targets_is_not_read_for_none() -> None:
    with pytest.raises(InvalidLock) as caught:
        loads(FOREIGN)
    assert str(caught.value) == (
        "line 13, package `fast`, key `packages[1].wheels`: "
        "lists 2 wheels, so it must be said for which target the lock is read"
    )


def test_a_lock_that_excludes_the_target_is_told() -> None:
    with pytest.raises(InvalidLock) as caught:
        loads(
            FOREIGN,
            environment={**LINUX, "python_full_version": "3.10.1", "python_version": "3.10"},
            tags=["py3-none-any"],
        )
    assert "3.10.1" in str(caught.value)


def test_a_lock_of_one_target_is_read_as_it_is() -> None:
    fast = FOREIGN.index('[[packages]]\nname = "fast"')
    plain = FOREIGN.index('[[packages]]\nname = "plain"')
    assert loads(FOREIGN[:fast] + FOREIGN[plain:]).versions() == {"colors": "1.0", "plain": "3.0"}


def test_the_file_name_of_an_archive_is_the_decoded_end_of_its_address() -> None:
    fast = FOREIGN.index('[[packages]]\nname = "fast"')
    (pin,) = loads(FOREIGN[:fast]).pins
    assert pin.artifact == Artifact("colors.zip", SHA, "https://files.invalid/%63olors.zip")


def test_a_folder_and_a_repository_cannot_be_pinned() -> None:
    text = (
        'lock-version = "1.0"\ncreated-by = "x"\n[[packages]]\nname = "a"\nversion = "1"\ndirectory = { path = "." }\n'
    )
    for environment in (None, LINUX):
        with pytest.raises(InvalidLock) as caught:
            loads(text, environment=environment)
        assert str(caught.value) == (
            "line 3, package `a`, key `packages[0]`: "
            "comes from a folder or a repository, which no hash can pin; build a wheel of it"
        )


def test_a_newer_minor_version_of_the_format_is_read_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    assert loads(TEXT.replace('lock-version = "1.0"', 'lock-version = "1.1"')).versions() == LOCK.versions()
    assert caplog.text == ""


def test_a_marker_of_the_environment_names_what_decides_over_wheels() -> None:
    assert environment_marker(LINUX) == (
        "implementation_name == 'cpython' and platform_machine == 'x86_64' "
        "and python_version == '3.11' and sys_platform == 'linux'"
    )
