"""What processes aside do for the engine: they take the text from PDFs, and compare pictures."""

# Both read foreign bytes with libraries in C that may hang, crash or take any memory, while assessing is pure and runs
# in the loop. So a PDF becomes text right after it was received, in the process that received it: each such process has
# a process aside of its own, which starts with the first PDF. One for all would take the bytes of every document
# through the main process.

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, Self

import msgspec
from msgspec.structs import replace

from tocsin.adapters.processes.aside import SingleAside
from tocsin.errors import FetchFailed, FetchRefused, ProcessError
from tocsin.model import FailureKind, HopResponse, PictureDifference
from tocsin.spec.documents import PDF_TYPE, is_pdf, read_document

if TYPE_CHECKING:
    from tocsin.engine.rendering.pictures import PictureComparison

_PDF_S: Final = 10.0
_PICTURES_S: Final = 20.0


class DocumentReader:
    """Implements `ports.Documents`; without the extra tocsin[pdf] it gives everything back as it is.

    module    that the process aside runs
    within_s  that one document may take
    """

    def __init__(self, module: str = "tocsin.app.pdf", within_s: float = _PDF_S) -> None:
        self._aside, self._within_s = SingleAside(module, within_s), within_s

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._aside.close()

    async def read(self, response: HopResponse) -> HopResponse:
        """Put the text of a PDF in place of its bytes; see `ports.Documents`."""
        if not is_pdf(response.body) or find_spec("pypdfium2") is None:
            return response
        url, status = response.url, response.status
        try:
            found = await self._aside.ask(response.body)
        except TimeoutError as exc:
            detail = f"its PDF takes longer than {self._within_s:g} s to be read"
            raise FetchRefused(url, FailureKind.TOO_COMPLEX, detail, status=status) from exc
        except ProcessError as exc:
            detail = f"its PDF takes too much memory, or the library that reads it crashed: {exc}"
            raise FetchFailed(url, FailureKind.CRASHED, detail, status=status) from exc
        if read_document(found) is None:
            detail = f"its PDF cannot be read: {found.decode(errors='replace')}"
            raise FetchRefused(url, FailureKind.TOO_COMPLEX, detail, status=status)
        others = [(name, value) for name, value in response.headers if name != "content-type"]
        return replace(response, body=found, headers=(("content-type", PDF_TYPE), *others))


class PictureComparer:
    """Compares pictures of pages, which needs the extra tocsin[pictures].

    module  that the process aside runs
    """

    def __init__(self, module: str = "tocsin.app.picture_difference", within_s: float = _PICTURES_S) -> None:
        self._aside = SingleAside(module, within_s)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._aside.close()

    @property
    def comparison(self) -> PictureComparison | None:
        """What compares pictures; None without the extra."""
        return self.compare if find_spec("PIL") is not None else None

    async def compare(self, before: bytes, latest: bytes) -> PictureDifference | None:
        """Say where two pictures (PNG) differ; None where they cannot be compared in time and memory."""
        try:
            found = await self._aside.ask(msgspec.msgpack.encode((before, latest)))
        except (ProcessError, TimeoutError):
            return None
        return msgspec.msgpack.decode(found, type=PictureDifference | None)
