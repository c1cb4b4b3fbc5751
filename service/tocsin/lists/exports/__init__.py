"""Exports of other programs: their pages are imported; settings without a counterpart here are reported."""
