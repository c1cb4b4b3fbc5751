"""What the small parsers of the draft of 2008 skip and collect."""

from __future__ import annotations

DIGITS = "0123456789"

ZS = " \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
"""Unicode's space separators (class Zs), which no version since 6.3 has changed (NUM-02)."""
