"""Pages that stand where another page was: challenges, consent and login forms, errors that come as 200."""
