"""Start other programs: the only importer of `subprocess`, with a scrubbed environment, a time limit and redaction."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pm.errors import PmError
from pm.redaction import redact

# What a program that we start may know of its surroundings. Index, proxy and certificate settings pass; everything that
# could change which interpreter or environment is used (VIRTUAL_ENV, PYTHONPATH, UV_*, PIP_*) does not.
_PASSED = (
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TMPDIR", "TZ", "SYSTEMROOT",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NETRC",
    "UV_NATIVE_TLS", "UV_SYSTEM_CERTS", "UV_INSECURE_HOST", "UV_HTTP_TIMEOUT", "UV_KEYRING_PROVIDER",
)  # fmt: skip


class Finished(NamedTuple):
    """A program that ended by itself."""

    status: int
    stdout: str
    stderr: str
    """Redacted."""


def scrubbed_environment(environ: Mapping[str, str] | None = None, **extra: str) -> dict[str, str]:
    """Return the variables that a started program gets: the passed ones and `extra`."""
    source = os.environ if environ is None else environ
    return {name: source[name] for name in _PASSED if name in source} | extra


def run(
    command: Sequence[str | Path],
    *,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
    stdin: str | None = None,
    seconds: float = 600.0,
) -> Finished:
    """Run a program to its end and return what it said.

    Raise `PmError` (`interrupted`) after `seconds`, (`not-writable`) if it cannot be started at all.
    """
    try:
        done = subprocess.run(
            [str(part) for part in command],
            env=dict(environment) if environment is not None else scrubbed_environment(),
            cwd=directory,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        name = Path(command[0]).name
        raise PmError("interrupted", f"`{name}` did not end within {seconds:g} seconds and was stopped") from error
    except OSError as error:
        text = f"`{command[0]}` cannot be started: {error.strerror}"
        raise PmError("not-writable", text, file=str(command[0])) from error
    return Finished(done.returncode, done.stdout, redact(done.stderr))
