"""What went wrong, as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.server.web.rendering import plain_page

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from tocsin.server.problems import Problem


def error_page(request: Request, problem: Problem, request_id: str) -> Response:
    """Answer a person with what went wrong and the mend; it asks nothing of the store, which may be what is broken."""
    answer = plain_page(
        request,
        "error.html",
        status=problem.status,
        title=problem.title,
        detail=problem.detail,
        mend=problem.mend,
        request_id=request_id,
    )
    answer.headers.update(problem.headers)
    return answer
