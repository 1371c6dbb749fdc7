"""Take credentials out of every text before it reaches a person, a log, a receipt or a lock."""

from __future__ import annotations

import re

# user, user:password or token before the host of any address, also of `git+https://…`; a bare token is a credential too
_USERINFO = r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)(?P<userinfo>[^/\s?#@]*(?:@[^/\s?#@]*)*)@"
_QUERY = (
    r"(?P<key>[?&](?:access_token|api_key|apikey|auth|key|password|private_token"
    r"|secret|sig|signature|token|x-amz-[a-z-]+)=)[^&\s#]+"
)
_HEADER = r"(?P<key>authorization:\s*(?:basic|bearer|token)\s+)\S+"


def redact(text: str) -> str:
    """Return the text with the user part of addresses, secret query values and authorization headers taken out."""
    # nearly every text lacks the characters of a credential, and needs no pattern to be compiled
    if "@" in text:
        text = re.sub(_USERINFO, lambda match: f"{match['scheme']}****@", text)
    if "=" in text and ("?" in text or "&" in text):
        text = re.sub(_QUERY, lambda match: f"{match['key']}****", text, flags=re.IGNORECASE)
    if "authorization:" in text.lower():
        text = re.sub(_HEADER, lambda match: f"{match['key']}****", text, flags=re.IGNORECASE)
    return text


def without_credentials(url: str) -> str:
    """Return an address without its user part: the spelling that locks and fingerprints use."""
    return re.sub(_USERINFO, lambda match: match["scheme"], url) if "@" in url else url
