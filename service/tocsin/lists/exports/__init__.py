"""What other programs export: their pages taken over, and what has no counterpart here named."""

from tocsin.lists.exports.archive import is_archive, read_archive
from tocsin.lists.exports.reading import read_export

__all__ = ["is_archive", "read_archive", "read_export"]
