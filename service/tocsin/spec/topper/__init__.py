"""The awareness specification: states, dates, comparison, policy, the table, and the author's tools."""
