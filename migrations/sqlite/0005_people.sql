-- What people look at, and who may: lists that are found at once, words to search by, tokens, sessions, jobs.

-- A number that grows with each edit by somebody, and with no check. Pages that nobody has edited have no row.
create table edits (
  page_id   integer primary key,
  revision  integer not null
) strict;
alter table groups add column revision integer not null default 0;
-- Of what is set for all pages; `revision` is the engine's.
alter table store add column settings_revision integer not null default 0;

-- How many pages a group has, and a question: nobody can count them each time. Those of groups are kept by whoever adds,
-- removes and moves pages, a step at a time: a trigger for each page would cost half as much as all else of adding it.
create index pages_of_group on pages (group_id);
alter table groups add column pages integer not null default 0;
update groups set pages = (select count(*) from pages where group_id = groups.id);
alter table questions add column pages integer not null default 0;
update questions set pages = (select count(*) from pages where question_id = questions.id);
create index questions_by_size on questions (pages, id) where closed_at is null;
create index questions_ended on questions (closed_at, id) where closed_at is not null;
create index questions_waiting on questions (id) where announced_at is not null and answered_at is null and closed_at is null;
create trigger pages_joined after update of question_id on pages when old.question_id is not new.question_id begin
  update questions set pages = pages - 1 where id = old.question_id;
  update questions set pages = pages + 1 where id = new.question_id;
end;

-- The lists that are offered, each by group and then by id, or by time; a list of all groups merges them. Of a check that
-- found nothing new, none writes an entry: only the conditions on `outcome`, `next_at` and `flags` are looked at.
create index pages_changed on pages (group_id, last_changed_at) where last_changed_at is not null;
create index pages_new on pages (group_id) where outcome is null;
-- As packing numbers them: suspect, unreachable, deferred, disallowed.
create index pages_in_trouble on pages (group_id) where outcome between 5 and 8;
create index pages_asked on pages (group_id) where question_id is not null;
create index pages_paused on pages (group_id) where paused = 1;
drop index pages_off;
create index pages_off on pages (group_id) where next_at is null and next_why = 'off';
-- A bit of pages.flags from here on: 128 its latest state has a topper element.
update pages set flags = flags | 128
where id in (select s.page_id from states s where s.last_at is null and is_declaring(s.fields));
create index pages_declaring on pages (group_id) where flags & 128;

-- Words of URLs and of the user's own texts, of 4,096 pages at once when there are so many; those of the last pages are
-- looked for in the pages themselves. Of a block at most 1,369 rows, each with the words that begin with two letters.
create table words (
  id       integer primary key,                  -- page id / 4096 * 1369 + words.row_of(word)
  entries  blob not null                         -- as words.pack_block has it
) strict;
alter table store add column words_until integer not null default 0;  -- the first page whose words are not kept yet
update store set words_until = coalesce((select (max(id) + 1) >> 12 << 12 from pages), 0);
insert into words (id, entries)
with recursive blocks (block) as (
  select 0 from store where words_until > 0
  union all
  select block + 1 from blocks where block + 1 < (select words_until >> 12 from store)
)
select b.block * 1369 + (w.value ->> 0), unpacked_bytes(w.value ->> 1) from blocks b, json_each((
  select words_of_block(p.id, p.url, p.given, p.text) from pages p
  where p.id >= b.block << 12 and p.id < (b.block + 1) << 12
)) w;

-- What of an alert it is listed by, beside the alerts: to mark a thousand as seen rewrites none of their events.
create table alert_marks (
  position    integer primary key,
  kind        text not null,                     -- of the event, as outbox.kind_of has it
  outcome     text,
  page_group  text,                              -- the page's group when it was told
  seen_at     integer
) strict;
insert into alert_marks (position, kind, outcome, page_group, seen_at)
select position, alert_kind(type), event ->> '$.data.outcome', event ->> '$.data.page.group', coalesce(seen_at, created_at)
from alerts order by position;
create index marks_unseen on alert_marks (position) where seen_at is null;
create index marks_unseen_by_outcome on alert_marks (outcome) where seen_at is null and outcome is not null;
create index marks_by_outcome on alert_marks (outcome) where outcome is not null;
create index marks_by_kind on alert_marks (kind);
create index marks_by_group on alert_marks (page_group) where page_group is not null;
create trigger alerts_gone after delete on alerts begin
  delete from alert_marks where position = old.position;
end;
create index deliveries_dead on deliveries (position) where state = 'dead';

-- What happened, five minutes a row.
create table activity (
  at           integer primary key,
  outcomes     text not null,                    -- JSON {outcome: checks}
  alerts       integer not null,
  rendered     integer not null,
  wire_bytes   integer not null,
  saved_bytes  integer not null
) strict;

-- Who may do what over HTTP. Of secrets only digests are kept.
create table tokens (
  id            integer primary key autoincrement,
  name          text not null,
  scope         text not null check (scope in ('read', 'write', 'admin')),
  digest        blob not null unique,
  created_at    integer not null,
  expires_at    integer,
  last_used_at  integer,
  revoked_at    integer
) strict;
create index tokens_by_name on tokens (name) where revoked_at is null;
create table sessions (
  digest      blob primary key,
  token_id    integer not null references tokens (id) on delete cascade,
  csrf        text not null,
  created_at  integer not null,
  until       integer not null
) strict, without rowid;
create index sessions_of_token on sessions (token_id);
create index sessions_by_end on sessions (until);
create table audit (
  id          integer primary key autoincrement,
  at          integer not null,
  who         text not null,
  what        text not null,
  detail      text not null,                     -- JSON
  request_id  text not null
) strict;
-- What was asked for with an idempotency key, and its answer.
create table answers (
  key           blob primary key,
  fingerprint   blob not null,
  at            integer not null,
  status        integer not null default 0,      -- 0: it is being worked on
  content_type  text not null default '',
  location      text,
  body          blob not null default x''
) strict;
create index answers_by_age on answers (at);
create table jobs (
  id          text primary key,
  kind        text not null,
  who         text not null,
  started_at  integer not null,
  state       text not null check (state in ('running', 'done', 'failed', 'cancelled', 'interrupted')),
  done        integer not null,
  total       integer,
  ended_at    integer,
  result      text,                              -- JSON
  error       text
) strict, without rowid;
create index jobs_by_age on jobs (started_at, id);
create index jobs_running on jobs (started_at) where state = 'running';

drop trigger pages_gone;
create trigger pages_gone after delete on pages begin
  delete from states where id = old.state_id;
  delete from states where page_id = old.id and last_at is not null;
  update hosts set empty = 1 where id = old.host_id and not exists (select 1 from pages where host_id = old.host_id);
  delete from learnt where page_id = old.id;
  delete from snapshots where page_id = old.id;
  update listings set entries = null, to_do = 1 where page_id = old.id;
  delete from edits where page_id = old.id;
  update questions set pages = pages - 1 where id = old.question_id;
end;
