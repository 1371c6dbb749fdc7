"""Take credentials out of every text before it reaches a person, a log, a receipt or a lock."""

from __future__ import annotations

import re

# user, user:password or token before the host of any address, also of `git+https://…`; a bare token is a credential too
_USERINFO = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)(?P<userinfo>[^/\s?#@]*(?:@[^/\s?#@]*)*)@")
_QUERY_SECRET = re.compile(
    r"(?P<key>[?&](?:access_token|api_key|apikey|auth|key|password|private_token|secret|sig|signature|token|x-amz-[a-z-]+)=)[^&\s#]+",
    re.IGNORECASE,
)
_HEADER = re.compile(r"(?P<key>authorization:\s*(?:basic|bearer|token)\s+)\S+", re.IGNORECASE)


def redact(text: str) -> str:
    """Return the text with the user part of addresses, secret query values and authorization headers taken out."""
    text = _USERINFO.sub(lambda match: f"{match['scheme']}****@", text)
    text = _QUERY_SECRET.sub(lambda match: f"{match['key']}****", text)
    return _HEADER.sub(lambda match: f"{match['key']}****", text)


def without_credentials(url: str) -> str:
    """Return an address without its user part: the spelling that locks and fingerprints use."""
    return _USERINFO.sub(lambda match: match["scheme"], url)
