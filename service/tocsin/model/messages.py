"""Messages for people."""

from msgspec import Struct


class Message(Struct, frozen=True, gc=False):
    """An alert or a digest as a person reads it; nothing in it can be taken for markup or for a header.

    id        the alert's, or the digest's: the same at every try
    subject   one line without control characters
    markdown  without HTML; what pages say is escaped
    short     at most 280 letters
    body      what a template of the user's own made for a channel that sends it as it is; None for other channels
    failed    why that template made nothing
    thread    id of the page's message thread; None where the message belongs to no page, as a digest
    link      to the page or the instance's web pages, http or https only
    """

    id: str
    subject: str
    text: str
    html: str
    markdown: str
    short: str
    thread: str | None = None
    link: str | None = None
    body: str | None = None
    failed: str = ""


class MessagePreview(Struct, frozen=True):
    """What a channel would send of an alert.

    body   as it goes to the channel's service; "" where another program writes it
    error  why it could not be sent
    """

    message: Message
    content_type: str = ""
    body: str = ""
    error: str = ""
