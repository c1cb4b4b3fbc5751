-- What lists show of pages beside their rows: titles, the last change, days.

-- name: mark_days
insert into summaries (page_id, day, days) values (?, ?, ?)
on conflict (page_id) do update set day = excluded.day, days = excluded.days;

-- Words come with the alert.
-- name: mark_change
insert into summaries (page_id, day, days, outcome) values (?, ?, ?, ?)
on conflict (page_id) do update set day = excluded.day, days = excluded.days, outcome = excluded.outcome, short = null;

-- name: note_short
update summaries set short = ? where page_id = ? and outcome is not null;
