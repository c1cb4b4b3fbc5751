-- Digests of rows that are written once: what a fault of the disk or of memory falsified is told from what was written.

-- As packing.row_digest has it, of page_id, first_at and fields. The column was there, and always empty: a new one would
-- cost a byte of every row. Rows of earlier versions have none.
alter table states rename column signals to digest;
-- Of page_id, at, outcome, reason, rule, basis and data.
alter table verdicts add column digest integer;
-- Of id, position, page_id, type, created_at and event.
alter table alerts add column digest integer;
