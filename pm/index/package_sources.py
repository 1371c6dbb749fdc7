"""Find out where distributions come from: the settings, else uv's configuration, else pip's; the default index is uv's.

The answer is kept in the cache without credentials, beside a digest of what it depends on, so that a dry run starts no
process and parses no configuration. What really asks an index calls `complete` first, which reads again.
"""

import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

from admission import Notice
from pm.errors import PmError
from pm.index.assignment import assigned
from pm.index.tool_configuration import (
    PIP_VARIABLES,
    consulted_files,
    pip_files,
    pip_options,
    require_file_of_uv,
    uv_files,
)
from pm.names import marked_lines, shown
from pm.places import expanded
from pm.redaction import HOW_TO_WRITE_PASSWORDS, is_readable, redact, userinfo_of, without_credentials

_FORM = 4
_UV_VARIABLES = (
    "UV_CONFIG_FILE",
    "UV_DEFAULT_INDEX",
    "UV_EXTRA_INDEX_URL",
    "UV_FIND_LINKS",
    "UV_INDEX",
    "UV_INDEX_URL",
)
_CACHE = "UV_CACHE_DIR"
"""Never the user's: their home may be no place to write to."""
_WAYS = ("CURL_CA_BUNDLE", "PIP_CERT", "PIP_PROXY", "REQUESTS_CA_BUNDLE")
"""What says how an index is reached, whatever says which."""
_LOGIN = re.compile(r"UV_INDEX_[A-Z0-9_]+_(?:USERNAME|PASSWORD)")
_SURROUNDINGS = ("CURL_CA_BUNDLE", "HOME", "REQUESTS_CA_BUNDLE", "UV_NO_CONFIG", "XDG_CONFIG_DIRS", "XDG_CONFIG_HOME")
_TRUE = frozenset({"1", "true", "yes", "on", "y", "t"})


class Secret:
    """A text that must not be shown: printing, formatting or storing it yields nothing."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text, for the one place that sends it."""
        return self._text

    def __repr__(self) -> str:
        return "****"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


class IndexAddress(NamedTuple):
    """One index."""

    name: str
    """As it is configured; empty where it has none."""
    url: str
    """Without credentials, and spelled as uv spells it: no trailing slash."""
    userinfo: Secret | None = None
    """What stood before the host."""
    packages: tuple[str, ...] = ()
    """Patterns of the names that it is asked for, and that no index without such a pattern is; empty for the others."""

    @property
    def is_local(self) -> bool:
        """Whether it is a folder of this machine."""
        return self.url.startswith("file:")


class Sources(NamedTuple):
    """Where distributions come from."""

    indexes: tuple[IndexAddress, ...] = ()
    """The first that knows a name has it; empty for folders only."""
    folders: tuple[Path, ...] = ()
    certificates: str = ""
    """A file of trusted certificates; empty for what the system trusts."""
    proxy: Secret | None = None
    """Address of a proxy from pip's configuration; `None`: what the environment says."""
    warnings: tuple[Notice, ...] = ()
    recover: "Callable[[], Sources] | None" = None
    """Reads the configuration again; set where this value came from the cache and credentials were left out of it."""

    @property
    def addresses(self) -> tuple[str, ...]:
        """Indexes and folders as `Policy.indexes` wants them: in order, without credentials."""
        return (*map(assigned, self.indexes), *(str(folder) for folder in self.folders))

    def complete(self) -> "Sources":
        """Return the sources with their credentials."""
        return self.recover() if self.recover else self

    def environment_for_uv(self) -> dict[str, str]:
        """Return the variables by which uv asks the same places, with the same credentials, proxy and certificates."""
        sources = self.complete()
        # uv knows no patterns: of what a build asks for, the indexes that have some are asked before the others
        urls = [_with_userinfo(index) for index in sorted(sources.indexes, key=lambda index: not index.packages)]
        values = {
            "UV_NO_CONFIG": "1",
            "UV_DEFAULT_INDEX": urls[-1] if urls else "",
            "UV_INDEX": " ".join(urls[:-1]),
            "UV_FIND_LINKS": ",".join(str(folder) for folder in sources.folders),
            "SSL_CERT_FILE": sources.certificates,
            # what we trust ourselves: uv's own list does not have what an administrator has added
            "UV_SYSTEM_CERTS": "" if sources.certificates or "UV_SYSTEM_CERTS" in os.environ else "1",
        }
        given = {name: value for name, value in values.items() if value}
        return given | (_proxied(sources.proxy.reveal()) if sources.proxy else {})


def _proxied(proxy: str) -> dict[str, str]:
    """Return the variables by which a program takes one proxy for everything, whatever others say."""
    names = [f"{scheme}_proxy" for scheme in ("http", "https", "all")]
    return {form: proxy for name in names for form in (name, name.upper())} | {"no_proxy": "", "NO_PROXY": ""}


def index_address(url: str, name: str = "", packages: Sequence[str] = ()) -> IndexAddress:
    """Return an index from its address as it is configured: a URL, or the path of a folder that is laid out as one.

    Raise `PmError` (`config-unreadable`) where it is not clear what in it is a password.
    """
    if not is_readable(url):
        raise PmError("config-unreadable", f"{shown(url)} is not the address of an index", hint=HOW_TO_WRITE_PASSWORDS)
    if "://" in url and ("?" in url or "#" in url):
        written = shown(re.sub("#.*", "#…", url, flags=re.DOTALL))  # a token, or a password behind an `#`
        message = f"{written} is not the address of an index: names are added to it, so it ends with a path"
        raise PmError("config-unreadable", message, hint="write a token as the user, before the host and an `@`")
    if "://" not in url:
        url = expanded(url).absolute().as_uri()
    userinfo = userinfo_of(url)
    bare = without_credentials(url).rstrip("/")
    return IndexAddress(name, bare, Secret(userinfo) if userinfo else None, tuple(packages))


def _with_userinfo(index: IndexAddress) -> str:
    if index.userinfo is None:
        return index.url
    scheme, separator, rest = index.url.partition("://")
    # uv separates addresses by blanks
    userinfo = re.sub(r"\s", lambda blank: quote(blank[0]), index.userinfo.reveal())
    return f"{scheme}{separator}{userinfo}@{rest}"


def find_sources(
    cache: Path,
    environ: Mapping[str, str],
    *,
    indexes: Sequence[IndexAddress] | None = None,
    find_links: Sequence[str] | None = None,
) -> Sources:
    """Return the sources; `indexes` and `find_links` are those of the settings, `None` where they are not set.

    Raise `PmError` (`config-unreadable`) if a configuration that decides is broken.
    """
    environ = {**environ, _CACHE: str(cache / "uv")}
    if indexes is not None and find_links is not None:
        return _of_settings(environ, indexes, find_links)
    digest = _digest(environ, indexes, find_links)

    def discovered() -> Sources:
        return _discovered(environ, indexes, find_links)

    kept = _kept(cache / "sources.json", digest)
    if kept is not None:
        sources, is_complete = kept
        return sources if is_complete else sources._replace(recover=discovered)
    sources = discovered()
    _keep(cache / "sources.json", digest, sources)
    return sources


def _of_settings(environ: Mapping[str, str], indexes: Sequence[IndexAddress], find_links: Sequence[str]) -> Sources:
    """Return what the settings say; how an index is reached is read when it is asked, where something may say so."""
    if not _may_know_ways(environ):
        return _discovered(environ, indexes, find_links)
    return _with_settings(Sources(), environ, indexes, find_links)._replace(
        recover=lambda: _discovered(environ, indexes, find_links)
    )


def _may_know_ways(environ: Mapping[str, str]) -> bool:
    """Say whether variables or files may name a proxy, certificates or logins for indexes."""
    if any(environ.get(name) for name in _WAYS) or any(_LOGIN.fullmatch(name) for name in environ):
        return True
    return any(path.is_file() for path in pip_files(environ))


def _discovered(
    environ: Mapping[str, str], indexes: Sequence[IndexAddress] | None, find_links: Sequence[str] | None
) -> Sources:
    if indexes is not None and find_links is not None:
        found = _ways_of_pip(environ)
    elif _uv_is_configured(environ):
        found = _from_uv(environ)
        if indexes is not None:
            ways = _ways_of_pip(environ)
            found = found._replace(certificates=ways.certificates, proxy=ways.proxy)
    else:
        found = _from_pip(environ, warns_of_indexes=indexes is None)
    return _with_settings(found, environ, indexes, find_links)


def _with_settings(
    found: Sources,
    environ: Mapping[str, str],
    indexes: Sequence[IndexAddress] | None,
    find_links: Sequence[str] | None,
) -> Sources:
    if indexes is not None:
        found = found._replace(indexes=tuple(indexes))
    if find_links is not None:
        folders, warnings = _folders(find_links, "`pm.find_links`")
        found = found._replace(folders=folders, warnings=(*found.warnings, *warnings))
    if environ.get("PIP_NO_INDEX", "").lower() in _TRUE:
        found = found._replace(indexes=())
    return found._replace(indexes=tuple(_logged_in(index, environ) for index in found.indexes))


def _logged_in(index: IndexAddress, environ: Mapping[str, str]) -> IndexAddress:
    """Return an index with the login that uv's variables for its name have; what its address says counts first."""
    if index.userinfo is not None or not index.name:
        return index
    name = re.sub(r"[^A-Z0-9]", "_", index.name.upper())
    user, password = (environ.get(f"UV_INDEX_{name}_{part}", "") for part in ("USERNAME", "PASSWORD"))
    if not user and not password:
        return index
    return index._replace(userinfo=Secret(f"{quote(user, safe='')}:{quote(password, safe='')}"))


def _uv_is_configured(environ: Mapping[str, str]) -> bool:
    if any(environ.get(name) for name in _UV_VARIABLES):
        return True
    return not environ.get("UV_NO_CONFIG") and any(path.is_file() for path in uv_files(environ))


def _from_uv(environ: Mapping[str, str]) -> Sources:
    passed = {name: environ[name] for name in (*_UV_VARIABLES, *_SURROUNDINGS) if environ.get(name)}
    for name in ("UV_INDEX", "UV_EXTRA_INDEX_URL"):
        if len(passed.get(name, "").split()) > len(_separated(passed.get(name, ""))):
            message = f"it is not clear which addresses {shown(passed[name])} in `{name}` holds"
            raise PmError("config-unreadable", message, hint=HOW_TO_WRITE_PASSWORDS)
    default, others, links = "", [], []
    for line in _ask_uv(environ, passed).splitlines():
        option, _, value = line.partition(" ")
        if option == "--index-url":
            default = value
        elif option == "--extra-index-url":
            others.append(value)
        elif option == "--find-links":
            links.append(value)
    folders, warnings = _folders(links, "uv's configuration")
    # uv asks the default index last.
    names = _names_for_uv(environ)
    indexes = tuple(index_address(url, names.get(url.rstrip("/"), "")) for url in (*others, default) if url)
    return Sources(indexes=indexes, folders=folders, warnings=warnings)


def _names_for_uv(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the names of uv's indexes by their addresses, where a login may be kept under a name."""
    if not any(map(_LOGIN.fullmatch, environ)):
        return {}
    entries = [*environ.get("UV_INDEX", "").split(), environ.get("UV_DEFAULT_INDEX", "")]
    written = [match.groups() for entry in entries if (match := _NAMED_INDEX.fullmatch(entry))]
    return {url.rstrip("/"): name for name, url in (*_indexes_in_files(environ), *written)}


_NAMED_INDEX = re.compile(r"([A-Za-z0-9._-]+)=(\S+)")


def _indexes_in_files(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield names and addresses of the indexes in uv's files; uv itself has said what is wrong with them."""
    import tomllib

    named = environ.get("UV_CONFIG_FILE")
    for path in [Path(named)] if named else uv_files(environ):
        try:
            entries = tomllib.loads(path.read_text(encoding="utf-8")).get("index", [])
            yield from ((entry["name"], entry["url"]) for entry in entries if "name" in entry)
        except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
            continue


def _ask_uv(environ: Mapping[str, str], passed: Mapping[str, str]) -> str:
    """Have uv print the options that its configuration amounts to; from `/`, so that no project around us has a say."""
    from uv import find_uv_bin

    from pm.system.files import existing
    from pm.system.processes import run, scrubbed_environment

    require_file_of_uv(environ)
    # an interpreter that it need not look for: where the surroundings have none it would fail for that
    command = [find_uv_bin(), "pip", "compile", "--quiet", "--offline", "--no-header", "--no-progress"]
    command += ["--python", sys.executable]
    if not os.access(existing(Path(environ[_CACHE])), os.W_OK):
        command.append("--no-cache")
    done = run(
        [*command, "--emit-index-url", "--emit-find-links", "-"],
        environment=scrubbed_environment(environ, **passed, **{_CACHE: environ[_CACHE]}),
        directory=Path(os.sep),
        stdin="",
        seconds=60,
    )
    if done.status:
        raise PmError("config-unreadable", f"uv cannot read its configuration:{marked_lines(done.stderr)}")
    return done.stdout


def _separated(text: str) -> list[str]:
    """Return the addresses that blanks separate; one that has a blank in its password stays whole."""
    words = text.split()
    return words if redact(" ".join(words)) == " ".join(map(redact, words)) else [text]


def _from_pip(environ: Mapping[str, str], *, warns_of_indexes: bool) -> Sources:
    """Return what pip is configured to use; of further indexes it is only warned where they would be used at all."""
    options = pip_options(environ)
    folders, warnings = _folders(_separated(options.get("find-links", "")), "pip's configuration")
    if options.get("no-index", "").lower() in _TRUE:
        indexes: tuple[IndexAddress, ...] = ()
    elif url := options.get("index-url", ""):
        indexes = (index_address(url),)
    else:
        indexes = _default_index(environ)
    ways = _ways(options, environ)
    return ways._replace(
        indexes=indexes,
        folders=folders,
        warnings=(*warnings, *(_unused_indexes(options, indexes) if warns_of_indexes else ()), *_unused(options)),
    )


def _ways_of_pip(environ: Mapping[str, str]) -> Sources:
    return _ways(pip_options(environ), environ)


def _ways(options: Mapping[str, str], environ: Mapping[str, str]) -> Sources:
    """Return how indexes are reached: by which certificates, through which proxy."""
    bundle = options.get("cert") or environ.get("REQUESTS_CA_BUNDLE") or environ.get("CURL_CA_BUNDLE") or ""
    return Sources(certificates=bundle, proxy=Secret(options["proxy"]) if options.get("proxy") else None)


def _default_index(environ: Mapping[str, str]) -> tuple[IndexAddress, ...]:
    """Learn the default index from uv, so that its address is written down nowhere else."""
    first, _, url = _ask_uv(environ, {"UV_NO_CONFIG": "1"}).partition("\n")[0].partition(" ")
    return (index_address(url),) if first == "--index-url" else ()


def _unused_indexes(options: Mapping[str, str], indexes: tuple[IndexAddress, ...]) -> Iterator[Notice]:
    """Name the further indexes of pip, which are not used, and what to write instead."""
    if extra := redact(options.get("extra-index-url", "")).split():
        entries = ", ".join(f"{{url: {url}}}" for url in [*(index.url for index in indexes), *extra])
        message = (
            f"pip's `extra-index-url` ({', '.join(f'`{url}`' for url in extra)}) is not used, since pip mixes its "
            f"indexes and here the first index that knows a name has it; to use it, write `pm.indexes: [{entries}]`"
        )
        yield Notice("extra-index-unused", message)


def _unused(options: Mapping[str, str]) -> Iterator[Notice]:
    """Name the other options of pip that are not followed, and what to write instead."""
    if constraint := options.get("constraint", ""):
        message = (
            f"pip's `constraint` ({shown(constraint)}) is not used; its bounds belong into a declaration, "
            "and if it names an index, that belongs into `pm.indexes: [{url: …}]`"
        )
        yield Notice("constraint-unused", message)


def _folders(links: Iterable[str], origin: str) -> tuple[tuple[Path, ...], tuple[Notice, ...]]:
    folders: list[Path] = []
    notices = []
    for link in links:
        if ("://" in link and not link.startswith("file:")) or not is_readable(link):
            message = f"{origin} names {shown(link)} for find-links, and only folders are read"
            notices.append(Notice("find-links-unused", message))
            continue
        text = unquote(urlsplit(link).path) if link.startswith("file:") else link
        folders.append(expanded(text).absolute())
    return tuple(dict.fromkeys(folders)), tuple(notices)


def _digest(
    environ: Mapping[str, str], indexes: Sequence[IndexAddress] | None, find_links: Sequence[str] | None
) -> str:
    """Digest what the answer depends on; credentials are left out, so that nothing of them is kept."""
    variables = [
        (name, redact(environ[name])) for name in (*_UV_VARIABLES, *PIP_VARIABLES, *_SURROUNDINGS) if name in environ
    ]
    logins = sorted(name for name in environ if _LOGIN.fullmatch(name))
    files = [_seen(path) for path in consulted_files(environ)]
    settings = [
        None if indexes is None else [[index.name, index.url, index.packages] for index in indexes],
        find_links and list(find_links),
    ]
    text = json.dumps([_FORM, sys.prefix, variables, logins, files, settings], ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _seen(path: Path) -> tuple[str, int, int]:
    try:
        status = path.stat()
    except OSError:
        return str(path), 0, -1
    return str(path), status.st_mtime_ns, status.st_size


def _kept(path: Path, digest: str) -> tuple[Sources, bool] | None:
    """Return what was kept and whether it is everything; nothing if it belongs to other settings or is damaged."""
    try:
        value = json.loads(path.read_bytes())
        if value["digest"] != digest:
            return None
        sources = Sources(
            indexes=tuple(IndexAddress(name, url, None, tuple(names)) for name, url, names in value["indexes"]),
            folders=tuple(Path(folder) for folder in value["folders"]),
            certificates=value["certificates"],
            warnings=tuple(Notice(*notice) for notice in value["warnings"]),
        )
        return sources, value["is_complete"] is True
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _keep(path: Path, digest: str, sources: Sources) -> None:
    """Keep the answer; a cache that cannot be written costs time and nothing else."""
    from contextlib import suppress

    from pm.system.files import write_bytes

    value = {
        "digest": digest,
        "indexes": [[index.name, index.url, index.packages] for index in sources.indexes],
        "folders": [str(folder) for folder in sources.folders],
        "certificates": sources.certificates,
        "warnings": sources.warnings,
        "is_complete": sources.proxy is None and not any(index.userinfo for index in sources.indexes),
    }
    with suppress(PmError):
        write_bytes(path, json.dumps(value, ensure_ascii=True).encode())
