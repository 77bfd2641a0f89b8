"""The page to try a model: one file, which asks this server only."""

import base64
import hashlib
import re
from pathlib import Path

from starlette.responses import HTMLResponse

_TEXT = (Path(__file__).parent / "page.html").read_text(encoding="utf-8")


def _digest(tag):
    """What lets a browser use the element, and no other one of its kind."""
    [content] = re.findall(f"<{tag}>(.*?)</{tag}>", _TEXT, re.S)
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


_HEADERS = {
    "content-security-policy": f"default-src 'none'; script-src {_digest('script')}; style-src {_digest('style')}; "
                               "img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
                               "frame-ancestors 'none'",
    "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cache-control": "no-cache"}


async def answer_page(request):
    return HTMLResponse(_TEXT, headers=_HEADERS)
