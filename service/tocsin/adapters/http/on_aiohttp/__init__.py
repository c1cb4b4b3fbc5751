"""Requests on aiohttp: what goes through a proxy, and what sinks send; every address is judged as it is dialled."""
