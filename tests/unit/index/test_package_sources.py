"""Where distributions come from is read from the settings, else from uv's configuration, else from pip's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from admission import Notice
from pm.errors import PmError
from pm.index.package_sources import IndexAddress, Secret, Sources, find_sources, index_address


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return the environment of somebody who configured nothing, whatever is configured for this whole machine."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setattr("sys.prefix", str(tmp_path / "prefix"))
    folders = {"HOME": str(home), "XDG_CONFIG_DIRS": str(tmp_path / "system")}
    return {"PATH": os.environ["PATH"], **folders, "PIP_CONFIG_FILE": os.devnull}


@pytest.fixture
def with_files(environ: dict[str, str]) -> dict[str, str]:
    """Return that environment where pip reads its files."""
    return {name: value for name, value in environ.items() if name != "PIP_CONFIG_FILE"}


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _urls(sources: Sources) -> list[str]:
    return [index.url for index in sources.indexes]


def test_settings_need_no_configuration_at_all(cache: Path, environ: dict[str, str], tmp_path: Path) -> None:
    index = index_address("https://own.invalid/simple/", "own")
    sources = find_sources(cache, environ, indexes=[index], find_links=[str(tmp_path)])
    assert (sources, sources.addresses, cache.exists()) == (
        Sources(indexes=(IndexAddress("own", "https://own.invalid/simple"),), folders=(tmp_path,)),
        ("https://own.invalid/simple", str(tmp_path)),
        False,
    )


def test_patterns_of_an_index_are_kept_and_let_builds_ask_it_first(cache: Path, environ: dict[str, str]) -> None:
    environ |= {"UV_INDEX_OURS_USERNAME": "user", "UV_INDEX_OURS_PASSWORD": "word"}
    ours = index_address("https://ours.invalid/simple", "ours", ["acme-*"])
    every = [index_address("https://one.invalid/simple"), ours, index_address("https://two.invalid/simple")]
    for _ in ("asked", "kept"):
        sources = find_sources(cache, environ, indexes=every)
        told = sources.environment_for_uv()
        assert [index.packages for index in sources.indexes] == [(), ("acme-*",), ()]
        assert [index.packages for index in sources.complete().indexes] == [(), ("acme-*",), ()]
        assert sources.addresses[1] == "https://ours.invalid/simple acme-*"
        assert (told["UV_INDEX"], told["UV_DEFAULT_INDEX"]) == (
            "https://user:word@ours.invalid/simple https://one.invalid/simple",
            "https://two.invalid/simple",
        )
    assert "word" not in (cache / "sources.json").read_text()


def test_an_index_that_uv_asks_only_where_a_project_names_it_is_not_used(
    cache: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    explicit = '[[index]]\nname = "ours"\nurl = "https://ours.invalid/simple"\nexplicit = true\n'
    other = '[[index]]\nurl = "https://two.invalid/simple"\ndefault = true\n'
    environ["UV_CONFIG_FILE"] = str(_write(tmp_path / "uv.toml", explicit + other))
    assert _urls(find_sources(cache, environ)) == ["https://two.invalid/simple"]


def test_an_empty_list_of_indexes_means_folders_only(cache: Path, environ: dict[str, str], tmp_path: Path) -> None:
    environ["PIP_INDEX_URL"] = "https://pip.invalid/simple"
    environ["PIP_FIND_LINKS"] = str(tmp_path)
    assert find_sources(cache, environ, indexes=[]) == Sources(folders=(tmp_path,))


def test_without_any_configuration_the_default_index_is_what_uv_says(cache: Path, environ: dict[str, str]) -> None:
    (index,) = find_sources(cache, environ).indexes
    assert (index.url.startswith("https://"), index.url.endswith("/simple"), index.userinfo) == (True, True, None)


def test_uv_asks_its_further_indexes_before_the_default_one(
    cache: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    environ["UV_INDEX"] = "one=https://one.invalid/simple two=https://two.invalid/simple/"
    environ["UV_DEFAULT_INDEX"] = "https://default.invalid/simple"
    environ["UV_FIND_LINKS"] = f"{tmp_path},{(tmp_path / 'räder').as_uri()},https://links.invalid/all.html"
    environ["PIP_INDEX_URL"] = "https://pip.invalid/simple"
    (tmp_path / "räder").mkdir()
    sources = find_sources(cache, environ)
    assert (_urls(sources), sources.folders, sources.warnings) == (
        ["https://one.invalid/simple", "https://two.invalid/simple", "https://default.invalid/simple"],
        (tmp_path, tmp_path / "räder"),
        (
            Notice(
                "find-links-unused",
                "uv's configuration names `https://links.invalid/all.html` for find-links, and only folders are read",
            ),
        ),
    )


@pytest.mark.parametrize("place", ["home/.config/uv/uv.toml", "system/uv/uv.toml"])
def test_a_uv_toml_decides_before_pip(cache: Path, environ: dict[str, str], tmp_path: Path, place: str) -> None:
    _write(tmp_path / place, '[[index]]\nurl = "https://uv.invalid/simple"\ndefault = true\n')
    environ["PIP_INDEX_URL"] = "https://pip.invalid/simple"
    assert _urls(find_sources(cache, environ)) == ["https://uv.invalid/simple"]


def test_a_uv_toml_without_an_index_means_folders_only(cache: Path, environ: dict[str, str], tmp_path: Path) -> None:
    _write(tmp_path / "home/.config/uv/uv.toml", f'no-index = true\nfind-links = ["{tmp_path}"]\n')
    assert find_sources(cache, environ) == Sources(folders=(tmp_path,))


def test_a_uv_toml_that_is_broken_is_said_to_be_that(cache: Path, environ: dict[str, str], tmp_path: Path) -> None:
    _write(tmp_path / "home/.config/uv/uv.toml", "[[index]\n")
    with pytest.raises(PmError) as caught:
        find_sources(cache, environ)
    assert (caught.value.code, caught.value.message.startswith("uv cannot read its configuration:\n| ")) == (
        "config-unreadable",
        True,
    )


def test_uv_is_asked_for_its_configuration_where_the_surroundings_have_no_python(
    cache: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    environ["PATH"] = str(tmp_path)
    environ["UV_PYTHON"] = str(tmp_path / "none")
    _write(tmp_path / "home/.config/uv/uv.toml", '[[index]]\nurl = "https://uv.invalid/simple"\ndefault = true\n')
    assert _urls(find_sources(cache, environ)) == ["https://uv.invalid/simple"]


def test_an_index_of_uv_may_be_a_folder(cache: Path, environ: dict[str, str], tmp_path: Path) -> None:
    environ["UV_DEFAULT_INDEX"] = str(tmp_path)
    (index,) = find_sources(cache, environ).indexes
    assert (index.url, index.is_local) == (tmp_path.as_uri(), True)


def test_pip_is_read_as_pip_reads_itself(cache: Path, with_files: dict[str, str], tmp_path: Path) -> None:
    _write(tmp_path / "system/pip/pip.conf", "[global]\nindex-url = https://system.invalid/simple\ncert = /file.pem\n")
    _write(tmp_path / "home/.pip/pip.conf", "[global]\nindex-url = https://old.invalid/simple\n")
    _write(
        tmp_path / "home/.config/pip/pip.conf",
        f"[global]\nindex_url = https://home.invalid/simple\nproxy = http://me:pw@proxy.invalid\n"
        f"find-links =\n    {tmp_path}\n    {tmp_path / 'more'}\n[install]\nindex-url = https://install.invalid/simple\n",
    )
    with_files["PIP_CERT"] = "/variable.pem"
    sources = find_sources(cache, with_files)
    assert sources == Sources(
        indexes=(IndexAddress("", "https://install.invalid/simple"),),
        folders=(tmp_path, tmp_path / "more"),
        certificates="/variable.pem",
        proxy=Secret("http://me:pw@proxy.invalid"),
    )


def test_the_environment_overrides_pips_files(cache: Path, environ: dict[str, str], tmp_path: Path) -> None:
    file = _write(tmp_path / "own.conf", "[global]\nindex-url = https://file.invalid/simple\ncert = /file.pem\n")
    environ["PIP_CONFIG_FILE"] = str(file)
    environ["PIP_INDEX_URL"] = "https://variable.invalid/simple"
    sources = find_sources(cache, environ)
    assert (_urls(sources), sources.certificates) == (["https://variable.invalid/simple"], "/file.pem")


def test_pip_can_be_told_to_read_no_file(cache: Path, environ: dict[str, str], tmp_path: Path) -> None:
    _write(tmp_path / "home/.config/pip/pip.conf", "[global]\nindex-url = https://home.invalid/simple\n")
    assert _urls(find_sources(cache, environ)) != ["https://home.invalid/simple"]


def test_a_pip_conf_that_is_broken_is_said_to_be_that(cache: Path, with_files: dict[str, str], tmp_path: Path) -> None:
    file = _write(tmp_path / "home/.config/pip/pip.conf", "index-url = https://home.invalid/simple\n")
    with pytest.raises(PmError) as caught:
        find_sources(cache, with_files)
    assert (caught.value.code, caught.value.file) == ("config-unreadable", str(file))


@pytest.mark.parametrize(
    "variables", [{"PIP_NO_INDEX": "1"}, {"PIP_NO_INDEX": "true", "UV_INDEX": "https://uv.invalid"}]
)
def test_pip_no_index_means_folders_only(
    cache: Path, environ: dict[str, str], tmp_path: Path, variables: dict[str, str]
) -> None:
    sources = find_sources(cache, {**environ, **variables}, find_links=[str(tmp_path)])
    assert sources == Sources(folders=(tmp_path,))


def test_what_pip_has_and_is_not_used_is_named_with_the_line_to_write(cache: Path, environ: dict[str, str]) -> None:
    environ["PIP_INDEX_URL"] = "https://first.invalid/simple"
    environ["PIP_EXTRA_INDEX_URL"] = "https://user:s3cret@second.invalid/simple https://third.invalid/simple"
    environ["PIP_CONSTRAINT"] = "bounds.txt"
    sources = find_sources(cache, environ)
    assert (_urls(sources), [notice.message for notice in sources.warnings]) == (
        ["https://first.invalid/simple"],
        [
            (
                "pip's `extra-index-url` (`https://****@second.invalid/simple`, `https://third.invalid/simple`) is not "
                "used, since pip mixes its indexes and here the first index that knows a name has it; to use it, write "
                "`pm.indexes: [{url: https://first.invalid/simple}, {url: https://****@second.invalid/simple}, "
                "{url: https://third.invalid/simple}]`"
            ),
            (
                "pip's `constraint` (`bounds.txt`) is not used; its bounds belong into a declaration, and if it names "
                "an index, that belongs into `pm.indexes: [{url: …}]`"
            ),
        ],
    )


def test_the_second_time_nothing_is_read_again(cache: Path, environ: dict[str, str]) -> None:
    environ["UV_INDEX_URL"] = "https://uv.invalid/simple"
    first = find_sources(cache, environ)
    kept = (cache / "sources.json").stat().st_mtime_ns
    assert (find_sources(cache, environ), (cache / "sources.json").stat().st_mtime_ns) == (first, kept)


def test_another_variable_is_noticed(cache: Path, environ: dict[str, str]) -> None:
    before = find_sources(cache, {**environ, "PIP_INDEX_URL": "https://one.invalid/simple"})
    after = find_sources(cache, {**environ, "PIP_INDEX_URL": "https://two.invalid/simple"})
    assert (_urls(before), _urls(after)) == (["https://one.invalid/simple"], ["https://two.invalid/simple"])


def test_files_that_are_new_or_edited_are_noticed(cache: Path, with_files: dict[str, str], tmp_path: Path) -> None:
    file = _write(tmp_path / "home/.config/pip/pip.conf", "[global]\nindex-url = https://one.invalid/simple\n")
    first = find_sources(cache, with_files)
    _write(file, "[global]\nindex-url = https://edited.invalid/simple\n")
    second = find_sources(cache, with_files)
    _write(tmp_path / "prefix/pip.conf", "[global]\nindex-url = https://new.invalid/simple\n")
    third = find_sources(cache, with_files)
    assert [_urls(sources) for sources in (first, second, third)] == [
        ["https://one.invalid/simple"],
        ["https://edited.invalid/simple"],
        ["https://new.invalid/simple"],
    ]


def test_other_settings_are_noticed(cache: Path, environ: dict[str, str], tmp_path: Path) -> None:
    environ["PIP_INDEX_URL"] = "https://one.invalid/simple"
    folders = [find_sources(cache, environ, find_links=links).folders for links in (None, [str(tmp_path)], [])]
    assert folders == [(), (tmp_path,), ()]


@pytest.mark.parametrize("content", [b"", b"{}", b'{"digest": 3}', b"\xff\xfe", b"[]"])
def test_a_damaged_answer_is_found_again(cache: Path, environ: dict[str, str], content: bytes) -> None:
    environ["PIP_INDEX_URL"] = "https://one.invalid/simple"
    expected = find_sources(cache, environ)
    (cache / "sources.json").write_bytes(content)
    assert find_sources(cache, environ) == expected


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(cache: Path, environ: dict[str, str]) -> None:
    cache.write_text("in the way")
    environ["PIP_INDEX_URL"] = "https://one.invalid/simple"
    assert _urls(find_sources(cache, environ)) == ["https://one.invalid/simple"]


@pytest.mark.parametrize("name", ["PIP_INDEX_URL", "UV_DEFAULT_INDEX"])
def test_credentials_are_found_again_when_needed_and_never_kept(
    cache: Path, environ: dict[str, str], name: str
) -> None:
    """Cases credential-leak-01 and credential-leak-03."""
    environ[name] = "https://tok3n@own.invalid/simple"
    environ["PIP_PROXY"] = "http://me:tok3n@proxy.invalid"
    first = find_sources(cache, environ)
    second = find_sources(cache, environ)
    kept = (cache / "sources.json").read_text()
    assert (second.indexes, second.complete().indexes) == (
        (IndexAddress("", "https://own.invalid/simple"),),
        (IndexAddress("", "https://own.invalid/simple", Secret("tok3n")),),
    )
    assert ("tok3n" in repr((first, second.complete())), "tok3n" in kept) == (False, False)


def test_uv_is_told_the_same_places_with_the_same_credentials(tmp_path: Path) -> None:
    """Case private-index-proxy-05."""
    sources = Sources(
        indexes=(index_address("https://us%40r:pw@one.invalid/simple/"), index_address("https://two.invalid/simple")),
        folders=(tmp_path,),
        certificates="/own.pem",
        proxy=Secret("http://me:pw@proxy.invalid"),
    )
    assert sources.environment_for_uv() == {
        "UV_NO_CONFIG": "1",
        "UV_DEFAULT_INDEX": "https://two.invalid/simple",
        "UV_INDEX": "https://us%40r:pw@one.invalid/simple",
        "UV_FIND_LINKS": str(tmp_path),
        "SSL_CERT_FILE": "/own.pem",
        **dict.fromkeys(
            ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"),
            "http://me:pw@proxy.invalid",
        ),
        "NO_PROXY": "",
        "no_proxy": "",
    }


def test_uv_trusts_what_the_system_trusts_as_we_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Row C19: a certificate that an administrator has added is in no list that uv brings."""
    monkeypatch.delenv("UV_SYSTEM_CERTS", raising=False)
    assert Sources().environment_for_uv()["UV_SYSTEM_CERTS"] == "1"
    monkeypatch.setenv("UV_SYSTEM_CERTS", "0")
    assert "UV_SYSTEM_CERTS" not in Sources().environment_for_uv()


_LOGIN = {"UV_INDEX_MY_CORP_USERNAME": "me@corp", "UV_INDEX_MY_CORP_PASSWORD": "s3:cret/"}


def test_a_named_index_of_the_settings_has_the_login_of_its_name(cache: Path, environ: dict[str, str]) -> None:
    """Row G13."""
    named, other = index_address("https://one.invalid/simple", "my-corp"), index_address("https://two.invalid/simple")
    for find_links in (None, ["/nowhere"]):
        sources = find_sources(cache, environ | _LOGIN, indexes=[named, other], find_links=find_links).complete()
        assert [index.userinfo for index in sources.indexes] == [Secret("me%40corp:s3%3Acret%2F"), None]
        assert sources.environment_for_uv()["UV_INDEX"] == "https://me%40corp:s3%3Acret%2F@one.invalid/simple"
    without = find_sources(cache, environ, indexes=[named, other]).complete()
    assert [index.userinfo for index in without.indexes] == [None, None]


def test_a_named_index_of_uv_has_the_login_of_its_name(cache: Path, environ: dict[str, str], tmp_path: Path) -> None:
    text = '[[index]]\nname = "my_corp"\nurl = "https://file.invalid/simple"\n'
    file = _write(tmp_path / "home" / ".config" / "uv" / "uv.toml", text)
    assert file.is_file()
    sources = find_sources(cache, environ | _LOGIN | {"UV_INDEX": "my-corp=https://variable.invalid/simple"})
    logins = {index.url: index.userinfo for index in sources.complete().indexes}
    assert logins["https://variable.invalid/simple"] == Secret("me%40corp:s3%3Acret%2F")
    assert logins["https://file.invalid/simple"] == Secret("me%40corp:s3%3Acret%2F")
    assert "s3" not in (cache / "sources.json").read_text().replace("s3.", "")


def test_how_indexes_of_the_settings_are_reached_is_read_from_pip(cache: Path, environ: dict[str, str]) -> None:
    """Row G13: `PIP_PROXY` beside `pm.indexes`."""
    index = index_address("https://one.invalid/simple")
    ways = {"PIP_PROXY": "http://proxy.invalid:3128", "PIP_CERT": "/own.pem"}
    for further in ({}, {"UV_INDEX_URL": "https://uv.invalid/simple"}):
        for find_links in (None, ["/nowhere"]):
            sources = find_sources(cache, environ | ways | further, indexes=[index], find_links=find_links).complete()
            assert (sources.proxy, sources.certificates, sources.indexes) == (
                Secret("http://proxy.invalid:3128"),
                "/own.pem",
                (index,),
            )


@pytest.mark.parametrize(("variable", "program"), [("PIP_CONFIG_FILE", "pip"), ("UV_CONFIG_FILE", "uv")])
def test_a_configuration_that_is_a_pipe_is_not_waited_for(
    environ: dict[str, str], cache: Path, tmp_path: Path, variable: str, program: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    environ[variable] = str(tmp_path / "pipe")
    with pytest.raises(PmError) as caught:
        find_sources(cache, environ)
    assert (caught.value.code, caught.value.message, caught.value.file) == (
        "config-unreadable",
        f"{program}'s configuration cannot be read: this is not a regular file",
        str(tmp_path / "pipe"),
    )


@pytest.mark.parametrize(
    ("rest", "told"),
    [("?token=S3cr3t", "?token=****"), ("?S3cr3t", "?****"), ("#S3cr3t", "#…"), ("?a=b#S\n", "?a=****#…")],
)
def test_an_index_with_more_than_a_path_is_refused_without_what_may_be_a_token(rest: str, told: str) -> None:
    with pytest.raises(PmError) as caught:
        index_address(f"https://one.invalid/simple{rest}")
    assert caught.value.message == (
        f"`https://one.invalid/simple{told}` is not the address of an index: names are added to it, so it ends "
        "with a path"
    )
