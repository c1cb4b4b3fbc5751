"""Pure: from bytes to states, verdicts, events and due times."""
