"""Requests on aiohttp: what goes through a proxy, and what channels send; every address is judged as it is dialled."""
