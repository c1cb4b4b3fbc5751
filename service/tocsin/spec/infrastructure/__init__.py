"""HTML's common infrastructure as the draft of 2008 defined it, and today's readings beside it.

Numbers, dates, tokens, keywords, references and URLs: what the attributes of all elements are made of. The readings
of 2008 say what a text of that time promises and what a checker reports; what is fetched or compared is read as
browsers read it today.
"""
