"""Signatures of audio and video that no mask can tell.

Source  MIME Sniffing, signatures for MP4, WebM and MP3 without ID3.
"""

from __future__ import annotations

_WEBM_HEADER = b"\x1a\x45\xdf\xa3"
_WEBM_REACH = 38  # bytes within which the document type must begin
_SHORTEST_MP4 = 12
_HEADER_BYTES = 4  # of an MP3 frame
# Bits per second by the index in a frame's header; the first of MPEG 1, the second of MPEG 2 and 2.5.
_RATES = (
    (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
)
_SAMPLES_PER_S = (44100, 48000, 32000)
_RESERVED, _LAYER_3, _NO_RATE, _NO_SAMPLES = 1, 1, 15, 3


def is_mp4(head: bytes) -> bool:
    """Say whether the bytes begin as MP4 does: a box `ftyp` that names a brand of it."""
    box = int.from_bytes(head[:4], "big")
    if len(head) < max(_SHORTEST_MP4, box) or box % 4 or head[4:8] != b"ftyp":
        return False
    return head[8:11] == b"mp4" or any(head[place : place + 3] == b"mp4" for place in range(16, box, 4))


def is_webm(head: bytes) -> bool:
    """Say whether the bytes begin as WebM does: EBML of the document type `webm`."""
    if not head.startswith(_WEBM_HEADER):
        return False
    kind = head.find(b"\x42\x82", len(_WEBM_HEADER), _WEBM_REACH + 1)
    if kind < 0 or kind + 2 >= len(head):
        return False
    # The length of the name is a number of as many bytes as its first byte has leading zeros, and one.
    name = kind + 2 + 9 - max(head[kind + 2].bit_length(), 1)
    return head[name:].lstrip(b"\0").startswith(b"webm")


def is_mp3(head: bytes) -> bool:
    """Say whether the bytes begin with two frames of MP3, without an ID3 tag before them."""
    size = _frame_bytes(head, 0)
    return size is not None and _HEADER_BYTES <= size <= len(head) and _frame_bytes(head, size) is not None


def _frame_bytes(head: bytes, place: int) -> int | None:
    """Give the length of the MP3 frame whose header is at this place; None if there is none."""
    header = head[place : place + _HEADER_BYTES]
    if len(header) < _HEADER_BYTES or header[0] != 0xFF or header[1] & 0xE0 != 0xE0:  # noqa: PLR2004 - eleven set bits
        return None
    version, layer, rate, samples = header[1] >> 3 & 3, header[1] >> 1 & 3, header[2] >> 4, header[2] >> 2 & 3
    if layer != _LAYER_3 or rate == _NO_RATE or samples == _NO_SAMPLES:
        return None
    bits_per_s = _RATES[0 if version & 1 else 1][rate] * 1000
    scale = 72 if version == _RESERVED else 144
    return bits_per_s * scale // _SAMPLES_PER_S[samples] + (header[2] >> 1 & 1)
