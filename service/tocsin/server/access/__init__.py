"""Authentication and authorisation: tokens, browser sessions, scopes, and limits on requests."""
