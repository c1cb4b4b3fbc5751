-- The first schema. Instants are microseconds since the epoch, UTC; spans too; JSON is text.

-- One row: what holds for the whole store.
create table store (
  one           integer primary key check (one = 1),
  revision      integer not null default 0,      -- grows with every edit that the engine must notice
  position      integer not null default 0,      -- of the alert last published
  settings      text not null default '{}',      -- set at run time for all pages
  channels      text not null default '[]',      -- names of the channels that alerts are written for
  installed_at  integer not null
) strict;
insert into store (one, installed_at) values (1, unixepoch() * 1000000);

-- Who may work on which shards. Rows that were claimed under an older epoch are free.
create table claims (
  id           integer primary key,
  first_shard  integer not null,
  last_shard   integer not null,
  holder       text not null,
  epoch        integer not null,
  until        integer not null
) strict;

create table groups (
  id        integer primary key,
  name      text not null unique,
  settings  text not null default '{}'
) strict;
insert into groups (id, name) values (1, 'main');

create table hosts (
  id        integer primary key,
  name      text not null unique,
  shard     integer not null,
  revision  integer not null default 0,          -- of the last edit by somebody other than the engine
  gate_at   integer,                             -- not before: a Retry-After that outlives the process
  robots    text                                 -- JSON by origin: what robots.txt said, and until when
) strict;
create index hosts_by_shard on hosts (shard);
create index hosts_by_revision on hosts (revision);

create table pages (
  id               integer primary key autoincrement,  -- never used again: alerts name it
  url              text not null unique,
  given            text,                         -- the spelling that was typed, where it differs
  host_id          integer not null references hosts (id),
  group_id         integer not null default 1 references groups (id),
  settings         text,                         -- overrides of this page, JSON
  secrets          text,                         -- credentials, JSON
  text             text,                         -- the user's own words
  paused           integer not null default 0,
  added_at         integer not null,
  next_at          integer,                      -- due; null: not until somebody says so
  next_why         text,
  request_id       integer,                      -- a request that wants a check now
  state_id         integer,                      -- the latest state
  stored_at        integer,                      -- its last storing
  storings         integer not null default 0,   -- how often it was stored in a row
  last_set_at      integer,                      -- start of the last set that received the page
  last_checked_at  integer,
  last_changed_at  integer,
  last_report      text,                         -- the last check, JSON
  outcome          text,                         -- of the last check
  etag             text,
  last_modified    text,
  validators_hop   text,
  conditional_run  integer not null default 0,   -- checks since the page was last asked for without conditions
  body_digest      text,
  attempts         text,                         -- tries already spent of a set that goes on later, JSON
  flags            integer not null default 0,   -- 1 disallowed and told, 2 not HTML, 4 a rendering is owed
  question_id      integer,
  rule             text,                         -- an instruction given for this page's next occasion, JSON
  rule_id          integer                       -- the rule in force that applies to it
) strict;
create index pages_of_host on pages (host_id);
-- The one schedule index. A page with nothing due has no entry.
create index pages_due on pages (host_id, next_at) where next_at is not null and paused = 0;
create index pages_requested on pages (host_id, request_id) where request_id is not null;
create index pages_asked_about on pages (question_id) where question_id is not null;
create index pages_ruled on pages (rule_id) where rule_id is not null;

-- A run of equal states: its first storing, and its last one. The last storing of a page's latest state stands in
-- pages.stored_at, so that an unchanged page costs one row.
create table states (
  id          integer primary key,
  page_id     integer not null references pages (id) on delete cascade,
  first_at    integer not null,
  last_at     integer not null,
  storings    integer not null default 1,
  fields      text not null,                     -- JSON array of twelve
  signals     text,
  in_table    integer not null default 1,        -- only these are compared and exported
  table_from  integer not null                   -- the earliest storing of this run that is still a record
) strict;
create index states_by_page on states (page_id, id);
create index states_of_the_past on states (last_at) where in_table = 0;

create table verdicts (
  id         integer primary key,
  page_id    integer not null references pages (id) on delete cascade,
  state_id   integer,
  at         integer not null,
  outcome    text not null,
  reason     text,
  rule       text not null,
  basis      text not null,
  data       text not null,                      -- the event's data but for the rendering, JSON
  awareness  integer not null,                   -- an alert is due
  alert_id   text                                -- the alert that was given
) strict;
create index verdicts_by_page on verdicts (page_id, id);
create index verdicts_pending on verdicts (page_id) where awareness = 1 and alert_id is null;

-- The render queue: pages that are due for awareness. A row with the current epoch holds a slot.
create table renders (
  page_id     integer primary key references pages (id) on delete cascade,
  major       integer not null,
  since       integer not null,                  -- its oldest verdict
  not_before  integer,                           -- a pause between tries
  claim_id    integer,
  epoch       integer,
  owed        integer not null default 0,
  copy_url    text,
  attempts    text
) strict;
create index renders_in_turn on renders (major desc, since);
create index renders_by_age on renders (since);

create table renderings (
  id            integer primary key,
  page_id       integer not null references pages (id) on delete cascade,
  started_at    integer not null,
  rendering     text not null                    -- as the event shows it, JSON
) strict;
create index renderings_by_page on renderings (page_id, id);

-- The outbox.
create table alerts (
  id          text primary key,                  -- ULID
  position    integer not null unique,
  page_id     integer,                           -- whose order it belongs to; no reference: it outlives the page
  type        text not null,
  created_at  integer not null,
  event       text not null,
  seen_at     integer
) strict, without rowid;
create index alerts_by_page on alerts (page_id, position);
create index alerts_of_outages on alerts (position) where type in ('tocsin.outage.began.v1', 'tocsin.outage.ended.v1');

create table deliveries (
  channel       text not null,
  position      integer not null,
  alert_id      text not null references alerts (id) on delete cascade,
  page_id       integer,
  state         text not null default 'waiting' check (state in ('waiting', 'accepted', 'dead')),
  tries         integer not null default 0,
  first_try_at  integer,
  last_try_at   integer,
  next_at       integer not null,
  error         text,
  primary key (channel, position)
) strict, without rowid;
create index deliveries_by_state on deliveries (channel, state, position);
create index deliveries_due on deliveries (channel, next_at) where state = 'waiting';
create index deliveries_of_page on deliveries (channel, page_id, position) where state = 'waiting';
create index deliveries_by_alert on deliveries (alert_id);

create table channels (
  name      text primary key,
  failures  integer not null default 0,
  next_at   integer,
  disabled  integer not null default 0,
  error     text
) strict, without rowid;

-- Pages of one host that could not be received for one cause.
create table questions (
  id             integer primary key autoincrement,
  host_id        integer not null references hosts (id),
  cause          text not null,
  opened_at      integer not null,
  announce_at    integer not null,
  announced_at   integer,
  answered_at    integer,
  closed_at      integer,
  instruction    text,                           -- JSON
  during         text not null,
  first_page_id  integer,
  attempts       text not null,                  -- of the first page, JSON
  pending_change text                            -- the verdict whose rendering failed, JSON
) strict;
create index questions_open on questions (host_id, cause) where closed_at is null;
create index questions_unasked on questions (announce_at) where announced_at is null and closed_at is null;
create index questions_of_host on questions (host_id);

create table rules (
  id           integer primary key autoincrement,
  scope        text not null check (scope in ('page', 'host-cause', 'host', 'cause')),
  page_id      integer references pages (id) on delete cascade,
  host_id      integer references hosts (id),
  cause        text,
  instruction  text not null,
  created_at   integer not null
) strict;
create index rules_by_page on rules (page_id) where page_id is not null;
create index rules_of_host on rules (host_id) where host_id is not null;
create index rules_of_cause on rules (cause) where scope = 'cause';

-- Checks asked for by hand, beside or without a running engine.
create table requests (
  id          integer primary key autoincrement,
  created_at  integer not null,
  pages       integer not null,
  done        integer not null default 0
) strict;
create table request_reports (
  request_id  integer not null references requests (id) on delete cascade,
  position    integer not null,                  -- order of completion, from 1
  report      text not null,
  primary key (request_id, position)
) strict, without rowid;
