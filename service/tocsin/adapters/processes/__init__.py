"""Fetcher processes: started, spoken with over socket pairs, watched, ended."""
