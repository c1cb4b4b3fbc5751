-- A million pages: short rows, small indexes, leaves that stay full.

-- The table of pages, anew. Its URL is found by `key`, which is url_key(url): 32 bits of a hash, in an index an eighth as
-- large as one of the URLs; two URLs with one key are told apart by themselves. Whoever adds pages sees to it that no
-- URL is there twice.
create table pages_new (
  id               integer primary key autoincrement,  -- never used again: alerts name it
  key              integer not null,             -- url_key(url)
  url              text not null,
  given            text,                         -- the spelling that was typed, where it differs
  host_id          integer not null references hosts (id),
  group_id         integer not null default 1 references groups (id),
  settings         text,                         -- overrides of this page, JSON
  secrets          text,                         -- credentials, JSON
  text             text,                         -- the user's own words
  paused           integer not null default 0,
  added_at         integer not null,
  next_at          integer,                      -- due; null: not until somebody says so
  next_why         text,                         -- as packing.pack_why shortens it
  request_id       integer,                      -- a request that wants a check now
  state_id         integer,                      -- the latest state
  stored_at        integer,                      -- its last storing
  storings         integer not null default 0,   -- how often it was stored in a row
  last_set_at      integer,                      -- start of the last set that received the page
  last_checked_at  integer,
  last_changed_at  integer,
  last_report      text,                         -- the last check, as packing.pack_report shortens it
  outcome          any,                          -- of the last check, as packing.pack_outcome has it
  etag             text,
  last_modified    text,
  validators_hop   text,                         -- which hop sent them; null: the page's own URL
  conditional_run  integer not null default 0,   -- checks since the page was last asked for without conditions
  body_digest      any,                          -- text, or as packing.pack_digest shortens it
  body_bytes       integer not null default 0,   -- on the wire, of the answer last stored
  saved_bytes      integer not null default 0,   -- not sent again: the sum over all 304
  attempts         text,                         -- tries already spent of a set that goes on later, JSON
  flags            integer not null default 0,   -- 1 disallowed and told, 2 not HTML, 4 a rendering is owed, 8 noindex,
                                                 -- 16 nofollow
  question_id      integer,
  rule             text,                         -- an instruction given for this page's next occasion, JSON
  rule_id          integer,                      -- the rule in force that applies to it
  room             blob                          -- zeros until the first state: what that writes then finds its place
                                                 -- in the leaf, where leaves that split stay a third empty for ever
) strict;

insert into pages_new
select id, url_key(url), url, given, host_id, group_id, settings, secrets, text, paused, added_at, next_at,
  iif(next_why glob 'every *, at its own time', '~' || substr(next_why, 7, length(next_why) - 23), next_why),
  request_id, state_id, stored_at, storings, last_set_at, last_checked_at, last_changed_at, short_report(last_report, url, outcome),
  outcome_code(outcome), etag, last_modified, nullif(validators_hop, url), conditional_run, short_digest(body_digest), body_bytes, saved_bytes,
  attempts, flags, question_id, rule, rule_id, iif(state_id is null, zeroblob(64), null)
from pages order by id;

insert into sqlite_sequence (name, seq)
select 'pages_new', 0 where not exists (select 1 from sqlite_sequence where name = 'pages_new');
update sqlite_sequence set seq = coalesce((select seq from sqlite_sequence where name = 'pages'), 0)
where name = 'pages_new';

drop table pages;
alter table pages_new rename to pages;

create index pages_by_key on pages (key);
create index pages_of_host on pages (host_id);
-- The one schedule index. A page with nothing due has no entry.
create index pages_due on pages (host_id, next_at) where next_at is not null and paused = 0;
-- Pages that are off, looked for wherever settings may have turned them on.
create index pages_off on pages (id) where next_at is null and next_why = 'off';
create index pages_requested on pages (host_id, request_id) where request_id is not null;
-- The same by request: what one wants is counted, and dropped, a step at a time.
create index pages_wanted on pages (request_id) where request_id is not null;
create index pages_asked_about on pages (question_id) where question_id is not null;
create index pages_ruled on pages (rule_id) where rule_id is not null;

-- The table of states, anew. The latest run of a page has no end here (its last storing stands in pages.stored_at) and
-- no entry in the index: pages.state_id leads to it.
create table states_new (
  id          integer primary key,
  page_id     integer not null,                  -- no reference: it would need an index of all; a trigger stands for it
  first_at    integer not null,
  last_at     integer,                           -- null: the page's latest run
  storings    integer not null default 1,
  fields      blob not null,                     -- the twelve, as codec.write_fields packs them
  signals     integer,
  in_table    integer not null default 1,        -- only these are compared and exported
  table_from  integer                            -- the earliest storing that is still a record; null: the first
) strict;

insert into states_new
select s.id, s.page_id, s.first_at, iif(s.id is p.state_id, null, s.last_at), s.storings, packed_fields(s.fields), s.signals, s.in_table,
  nullif(s.table_from, s.first_at)
from states s join pages p on p.id = s.page_id order by s.id;

drop table states;
alter table states_new rename to states;

create index states_before on states (page_id, id) where last_at is not null;
create index states_of_the_past on states (last_at) where in_table = 0;

-- Hosts that nothing is watched of any more are found without a look at all hosts.
alter table hosts add column empty integer not null default 0;
update hosts set empty = 1 where not exists (select 1 from pages where host_id = hosts.id);
create index hosts_empty on hosts (id) where empty = 1;
create index hosts_gated on hosts (gate_at) where gate_at is not null;

create trigger pages_gone after delete on pages begin
  delete from states where id = old.state_id;
  delete from states where page_id = old.id and last_at is not null;
  update hosts set empty = 1 where id = old.host_id and not exists (select 1 from pages where host_id = old.host_id);
end;
