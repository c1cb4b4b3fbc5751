CREATE TRIGGER alerts_gone after delete on alerts begin
  delete from alert_marks where position = old.position;
end;
CREATE TRIGGER deliveries_back after update of state on deliveries
when old.state <> 'waiting' and new.state = 'waiting' and new.page_id is not null begin
  update deliveries set is_first = position = (
    select min(e.position) from deliveries e indexed by deliveries_of_page
    where e.channel = new.channel and e.page_id = new.page_id and e.state = 'waiting'
  )
  where channel = new.channel and position in (
    select new.position
    union all
    select * from (
      select e.position from deliveries e indexed by deliveries_of_page
      where e.channel = new.channel and e.page_id = new.page_id and e.state = 'waiting' order by e.position limit 2
    )
  );
end;
CREATE TRIGGER deliveries_gone after delete on deliveries
when old.state = 'waiting' and old.is_first = 1 and old.page_id is not null begin
  update deliveries set is_first = 1
  where channel = old.channel and position = (
    select min(e.position) from deliveries e indexed by deliveries_of_page
    where e.channel = old.channel and e.page_id = old.page_id and e.state = 'waiting'
  );
end;
CREATE TRIGGER deliveries_left after update of state on deliveries
when old.state = 'waiting' and old.is_first = 1 and new.state <> 'waiting' and exists (
  select 1 from deliveries e indexed by deliveries_of_page
  where e.channel = new.channel and e.page_id = new.page_id and e.state = 'waiting'
) begin
  update deliveries
  set is_first = 1, next_at = max(min(next_at, coalesce(new.last_try_at, next_at)), coalesce(held_until, 0))
  where channel = new.channel and position = (
    select min(e.position) from deliveries e indexed by deliveries_of_page
    where e.channel = new.channel and e.page_id = new.page_id and e.state = 'waiting'
  );
end;
CREATE TRIGGER gathered_gone after delete on gathered begin
  update bundles set alerts = alerts - 1 where id = old.bundle and state in ('open', 'sealed');
end;
CREATE TRIGGER pages_gone after delete on pages begin
  delete from states where id = old.state_id;
  delete from states where page_id = old.id and last_at is not null;
  update hosts set empty = 1 where id = old.host_id and not exists (select 1 from pages where host_id = old.host_id);
  delete from learnt where page_id = old.id;
  delete from snapshots where page_id = old.id;
  update listings set entries = null, to_do = 1 where page_id = old.id;
  delete from edits where page_id = old.id;
  update questions set pages = pages - 1 where id = old.question_id;
  delete from items where page_id = old.id;
  delete from summaries where page_id = old.id;
  delete from retitled where page_id = old.id;
end;
CREATE TRIGGER pages_joined after update of question_id on pages when old.question_id is not new.question_id begin
  update questions set pages = pages - 1 where id = old.question_id;
  update questions set pages = pages + 1 where id = new.question_id;
end;
CREATE TRIGGER silences_added after insert on silences begin update store set silences = silences + 1; end;
CREATE TRIGGER silences_changed after update on silences begin update store set silences = silences + 1; end;
CREATE TRIGGER silences_deleted after delete on silences begin update store set silences = silences + 1; end;
CREATE TRIGGER snapshots_gone after delete on snapshots begin
  delete from texts where id = old.text_id and not exists (select 1 from snapshots where text_id = old.text_id);
end;
CREATE TRIGGER texts_gone after delete on texts begin
  update store set text_bytes = text_bytes - length(old.packed);
end;
CREATE TRIGGER texts_kept after insert on texts begin
  update store set text_bytes = text_bytes + length(new.packed);
end;
CREATE TRIGGER titles_change after update of title on summaries
when old.title is not new.title and new.page_id < (select words_until from store) begin
  insert into retitled (page_id, title) values (new.page_id, old.title) on conflict do nothing;
end;
CREATE TRIGGER titles_come after insert on summaries
when new.title is not null and new.page_id < (select words_until from store) begin
  insert into retitled (page_id) values (new.page_id) on conflict do nothing;
end;
CREATE TABLE activity (
  at           integer primary key,
  outcomes     text not null,                    -- JSON {outcome: checks}
  alerts       integer not null,
  rendered     integer not null,
  wire_bytes   integer not null,
  saved_bytes  integer not null,
  delays       text not null default '{}',       -- checks by how late they began, JSON {at most so many ms: checks}
  delivered    integer not null default 0,       -- to one channel each
  late         integer not null default 0        -- of these, later than ten seconds
) strict;
CREATE TABLE alert_marks (
  position    integer primary key,
  kind        text not null,                     -- of the event, as kind_of names it
  outcome     text,
  page_group  text,                              -- the page's group when the alert was written
  seen_at     integer
) strict;
CREATE TABLE alerts (
  id          text primary key,                  -- ULID
  position    integer not null unique,
  page_id     integer,                           -- the page in whose order it is delivered; it may outlive the page
  type        text not null,
  created_at  integer not null,
  event       text not null,                     -- JSON
  seen_at     integer,
  digest      integer                            -- row_digest of id, position, page_id, type, created_at, event
) strict, without rowid;
CREATE TABLE answers (
  key           blob primary key,
  fingerprint   blob not null,
  at            integer not null,
  status        integer not null default 0,      -- 0: the request is being worked on
  content_type  text not null default '',
  location      text,
  body          blob not null default x'',
  node          text not null default ''         -- that works on it
) strict;
CREATE TABLE audit (
  id          integer primary key autoincrement,
  at          integer not null,
  who         text not null,
  what        text not null,
  detail      text not null,                     -- JSON
  request_id  text not null
) strict;
CREATE TABLE bundles (
  id               integer primary key autoincrement,  -- people name it
  channel          text not null,
  route            text not null,
  key              text not null,                -- values of group_by
  -- open: alerts join it. sealed: none does any more; it is given to its channel, the same each time.
  state            text not null default 'open' check (state in ('open', 'sealed', 'accepted', 'dead')),
  opened_at        integer not null,
  due_at           integer not null,
  alerts           integer not null default 0,   -- how many joined it
  sealed_at        integer,
  sealed_position  integer,                      -- of the latest alert when it was sealed
  silenced         integer not null default 0,   -- alerts of its route that silences held back since the last digest
  -- As in deliveries.
  next_at          integer,
  tries            integer not null default 0,
  first_try_at     integer,
  last_try_at      integer,
  tried_us         integer not null default 0,
  error            text
) strict;
CREATE TABLE channel_mutes (
  channel   text primary key,
  until_at  integer,                             -- null: until it is ended
  at        integer not null,
  who       text not null
) strict, without rowid;
CREATE TABLE channel_tests (
  id        integer primary key autoincrement,
  channel   text not null,
  asked_at  integer not null,
  begun_at  integer,
  ended_at  integer,
  blames    text,                                -- what was at fault; null: the test alert was accepted
  error     text
) strict;
CREATE TABLE channels (
  name       text primary key,
  failures   integer not null default 0,
  next_at    integer,                            -- end of a pause after failures
  disabled   integer not null default 0,
  error      text,
  failed_at  integer,                            -- tells a pause apart from a clock that was set back since
  since      integer                             -- of the first failure in a row
) strict, without rowid;
CREATE TABLE copies (
  page_id   integer not null references pages (id) on delete cascade,
  target    text not null,                       -- the URL of the copied page, without fragment
  url       text not null,
  datetime  text,                                -- when the copy was made, in the page's words
  made_at   integer,                             -- the same as an instant
  rel       text,
  kind      text not null,                       -- how the page names it: mset, memento, timemap
  seen_at   integer not null,
  primary key (page_id, target, url)
) strict, without rowid;
CREATE TABLE deliveries (
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
  -- 1: the oldest waiting delivery of its channel and page, the only one of them that may be tried, so that alerts of a
  -- page arrive in order. Alerts of no page do not wait for each other: all have 1.
  is_first      integer not null default 0,
  -- Microseconds of waiting between tries so far, counted only once the next try was made: a clock that was set forward,
  -- or a service that was stopped, brings no alert nearer to being given up.
  tried_us      integer not null default 0,
  held_until    integer,                         -- the end of the quiet hours in which it was written; null: none
  route         text,                            -- that sent it; null: there were no routes
  primary key (channel, position)
) strict, without rowid;
CREATE TABLE digests (
  bundle      integer primary key references bundles (id) on delete cascade,
  message_id  text not null,                     -- ULID; of its event and its message
  event       text not null,                     -- JSON
  message     text                               -- for people, JSON; null: its channel takes none
) strict;
CREATE TABLE edits (
  page_id   integer primary key,
  revision  integer not null
) strict;
CREATE TABLE findings (
  one    integer primary key check (one = 1),
  value  text not null                           -- JSON
) strict;
CREATE TABLE gathered (
  position  integer not null references alerts (position) on delete cascade,
  channel   text not null,
  bundle    integer not null references bundles (id) on delete cascade,
  page_id   integer not null,                    -- as in deliveries; -1 for null
  primary key (position, channel)
) strict, without rowid;
CREATE TABLE groups (
  id        integer primary key,
  name      text not null unique,
  settings  text not null default '{}',          -- JSON
  revision  integer not null default 0,          -- grows with every edit of the settings
  -- How many pages it has. The statements that add, move and remove pages keep it, once per batch: a trigger for each
  -- page would add half to the cost of adding one.
  pages     integer not null default 0
) strict;
CREATE TABLE hosts (
  id        integer primary key,
  name      text not null unique,
  shard     integer not null,
  revision  integer not null default 0,          -- of the last edit that the engine did not make
  gate_at   integer,                             -- no request before: a Retry-After must outlive the process
  robots    text,                                -- what robots.txt said and until when, by origin, JSON
  empty     integer not null default 0,          -- 1: no page of it is watched
  noise     blob                                 -- what is muted on its pages, as write_host_noise packs it
) strict;
CREATE TABLE item_changes (
  id       integer primary key references renderings (id) on delete cascade,
  page_id  integer not null,
  at       integer not null,
  changes  text not null                         -- JSON
) strict;
CREATE TABLE items (
  page_id  integer primary key,
  first_at integer not null,                     -- when these items were first read
  at       integer not null,                     -- when they were last read
  count    integer not null,
  is_cut   integer not null default 0,           -- 1: the page had more items than are kept
  digest   blob not null,                        -- of all items, those not kept included: equal items, equal digest
  packed   blob not null                         -- as spec.microdata.packing writes it
) strict;
CREATE TABLE jobs (
  id          text primary key,
  kind        text not null,
  who         text not null,
  started_at  integer not null,
  state       text not null check (state in ('running', 'done', 'failed', 'cancelled', 'interrupted')),
  done        integer not null,
  total       integer,
  ended_at    integer,
  result      text,                              -- JSON
  error       text,
  node        text not null default '',          -- that runs it
  cancelling  integer not null default 0         -- 1: its node is asked to end it
) strict, without rowid;
CREATE TABLE learnt (
  page_id  integer primary key,
  known    blob,                                 -- as write_known packs it
  listed   text,                                 -- JSON {signal: {id of the page that lists it: value}}
  heard    text                                  -- keys of noise that the user wants to hear of, a JSON array
) strict;
CREATE TABLE leases (
  name   text primary key,
  node   text not null,
  epoch  integer not null,                            -- as that of parts
  until  integer not null
) strict;
CREATE TABLE listings (
  page_id  integer primary key,
  name     text not null,                        -- of the signal: feed or sitemap
  at       integer not null,                     -- when it was read
  entries  blob,                                 -- what is to be copied, as write_entries packs it
  to_do    integer not null default 1            -- 1: entries are to be copied, or its page was removed
) strict;
CREATE TABLE logins (
  page_id  integer primary key references pages (id) on delete cascade,
  cookies  text not null,                        -- JSON
  kept_at  integer not null                      -- when the browser gave them
) strict;
CREATE TABLE nodes (
  node         text primary key,
  incarnation  integer not null,                      -- when its process entered, which tells it from others of that name
  until        integer not null,                      -- the end of its lease
  draining     integer not null default 0,            -- 1: it gives its parts back, and takes none
  said         text not null default '{}'             -- of itself: version, address, counts, JSON
) strict;
CREATE TABLE pages (
  id               integer primary key autoincrement,  -- never used again: alerts name it
  -- url_key(url), 32 bits of a hash. Its index is an eighth of the size of one of URLs. Two URLs may share a key,
  -- so every search compares the URL too; the statements that add pages keep URLs unique.
  key              integer not null,
  url              text not null,
  given            text,                         -- the spelling that was typed, where it differs
  host_id          integer not null references hosts (id),
  group_id         integer not null default 1 references groups (id),
  settings         text,                         -- overrides of this page, JSON
  secrets          text,                         -- credentials, JSON
  text             text,                         -- the user's note
  paused           integer not null default 0,
  added_at         integer not null,
  next_at          integer,                      -- when it is due; null: not until an edit or an answer says so
  next_why         text,                         -- as pack_why shortens it
  request_id       integer,                      -- a request that waits for a check of it
  state_id         integer,                      -- the latest state
  stored_at        integer,                      -- when that was stored last
  storings         integer not null default 0,   -- how often it was stored in a row
  last_set_at      integer,                      -- start of the last set of tries that received the page
  last_checked_at  integer,
  last_changed_at  integer,
  last_report      text,                         -- of the last check, as pack_report shortens it
  outcome          any,                          -- of the last check, as pack_outcome numbers it
  etag             text,
  last_modified    text,
  validators_hop   text,                         -- the URL that sent the validators; null: the page's own
  conditional_run  integer not null default 0,   -- checks since the last one without conditions
  body_digest      blob,                         -- as pack_digest shortens it
  body_bytes       integer not null default 0,   -- on the wire, of the answer stored last
  saved_bytes      integer not null default 0,   -- not sent again thanks to 304, the sum of all
  attempts         text,                         -- tries already made of a set that goes on later, JSON
  -- 1 disallowed by robots and reported, 2 not HTML, 4 a rendering is owed, 8 noindex, 16 nofollow, 32 other content was
  -- in the page's place and was reported, 64 it has a row in `learnt`, 256 it had no items when first received (and no row
  -- in `items`). 128 is free.
  flags            integer not null default 0,
  question_id      integer,
  rule             text,                         -- an instruction for this page's next occasion, JSON
  standing_answer_id integer,                    -- the one in force for it
  -- Zeros until the first state is stored, which then fits into the same leaf. Leaves that split stay a third empty.
  room             blob,
  declares         integer not null default 0    -- 1: the latest state has a topper element
) strict;
CREATE TABLE parts (
  part     integer primary key,
  node     text,                                      -- null: none
  epoch    integer not null default 0,                -- grows with each change of its node; fences what the one before writes
  left_at  integer not null default 0                 -- since when the node before was gone; 0: spread what is overdue
) strict;
CREATE TABLE pictures (
  id          integer primary key,
  page_id     integer not null references pages (id) on delete cascade,
  at          integer not null,                  -- when the rendering began, or the check's state was stored
  by_check    integer not null,                  -- 1: of a check, else of a rendering
  digest      text not null,                     -- SHA-256 of the file, in hexadecimal: its name
  width       integer not null,                  -- px
  height      integer not null,
  bytes       integer not null,
  before      text,                              -- digest of the picture that it was compared with
  difference  text                               -- PictureDifference as JSON; null: they were not compared
) strict;
CREATE TABLE positions (
  one       integer primary key check (one = 1),
  position  integer not null default 0
) strict;
CREATE TABLE questions (
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
  pending_change text,                           -- the verdict whose rendering failed, JSON
  pages          integer not null default 0      -- how many; the trigger pages_joined keeps it
) strict;
CREATE TABLE rate_windows (
  channel   text not null,
  route     text not null,
  start_at  integer not null,
  taken     integer not null,
  primary key (channel, route)
) strict, without rowid;
CREATE TABLE renderings (
  id            integer primary key,
  page_id       integer not null references pages (id) on delete cascade,
  started_at    integer not null,
  rendering     text not null,                   -- as the event shows it, JSON
  digest        integer                          -- row_digest of page_id, started_at and rendering
) strict;
CREATE TABLE renders (
  page_id     integer primary key references pages (id) on delete cascade,
  major       integer not null,
  since       integer not null,                  -- instant of its oldest verdict
  not_before  integer,                           -- end of a pause between tries
  part        integer,
  epoch       integer,
  owed        integer not null default 0,
  copy_url    text,
  attempts    text                               -- JSON
) strict;
CREATE TABLE request_reports (
  request_id  integer not null references requests (id) on delete cascade,
  position    integer not null,                  -- in order of completion, from 1
  report      text not null,
  primary key (request_id, position)
) strict, without rowid;
CREATE TABLE requests (
  id          integer primary key autoincrement,
  created_at  integer not null,
  pages       integer not null,
  done        integer not null default 0,
  reported    integer not null default 1         -- 0: further reports are not stored
) strict;
CREATE TABLE retitled (
  page_id  integer primary key,
  title    text                                  -- the one that is there; null: none
) strict;
CREATE TABLE saved_entries (
  kind      text not null check (kind in ('channel', 'route')),
  name      text not null,
  place     integer not null,                    -- of a route: its order
  settings  text not null,                       -- as in the configuration file, JSON
  revision  integer not null,
  at        integer not null,                    -- of its latest change, and
  who       text not null,                       -- who made that
  primary key (kind, name)
) strict, without rowid;
CREATE TABLE sessions (
  digest      blob primary key,
  token_id    integer not null references tokens (id) on delete cascade,
  csrf        text not null,
  created_at  integer not null,
  until       integer not null
) strict, without rowid;
CREATE TABLE sightings (
  host_id     integer not null,
  key         blob not null,
  page_id     integer not null,
  at          integer not null,
  runs_until  integer not null,
  verdict_id  integer not null,
  primary key (host_id, key, page_id)
) strict, without rowid;
CREATE TABLE silenced (
  position  integer not null references alerts (position) on delete cascade,
  channel   text not null,
  route     text not null,
  silence   integer not null,
  primary key (position, channel)
) strict, without rowid;
CREATE TABLE silences (
  id        integer primary key autoincrement,   -- people name it
  match     text not null,                       -- JSON
  from_at   integer not null,
  until_at  integer,
  reason    text not null default '',
  who       text not null default '',
  ended_at  integer
) strict;
CREATE TABLE snapshots (
  id       integer primary key,
  page_id  integer not null,
  at       integer not null,
  text_id  integer not null references texts (id)
) strict;
CREATE TABLE sqlite_sequence(name,seq);
CREATE TABLE standing_answers (
  id           integer primary key autoincrement,
  scope        text not null check (scope in ('page', 'host-cause', 'host', 'cause')),
  page_id      integer references pages (id) on delete cascade,
  host_id      integer references hosts (id),
  cause        text,
  instruction  text not null,                    -- JSON
  created_at   integer not null
) strict;
CREATE TABLE states (
  id          integer primary key,
  page_id     integer not null,                  -- no reference, which would need an index of all rows; see pages_gone
  first_at    integer not null,
  last_at     integer,                           -- null: the page's latest run
  storings    integer not null default 1,
  fields      blob not null,                     -- the twelve fields, as write_fields packs them
  digest      integer,                           -- row_digest of page_id, first_at and fields
  in_table    integer not null default 1,        -- 1: it is compared and exported
  table_from  integer                            -- the earliest storing that is still a record; null: the first
) strict;
CREATE TABLE store (
  one                integer primary key check (one = 1),
  revision           integer not null default 0,      -- grows with every edit that the engine must notice
  settings           text not null default '{}',      -- for all pages, set at run time, JSON
  channels           text not null default '[]',      -- names of the channels that alerts are written for, JSON
  silences           integer not null default 0,      -- grows with every silence that is added, changed or deleted
  saved              integer not null default 0,      -- grows with every change of saved_entries and channel_mutes
  installed_at       integer not null,
  text_bytes         integer not null default 0,      -- the packed size of all texts; adding them up would read them all
  text_limit         integer,                         -- of text_bytes, as the engine has it; null: no engine has run
  settings_revision  integer not null default 0,      -- grows with every edit of `settings`
  words_until        integer not null default 0,      -- pages from this id on are not in `words` yet
  pruned_at          integer                          -- the time by which pages were last pruned; see begin_pruning
) strict;
CREATE TABLE storms (
  id            integer primary key autoincrement,
  host_id       integer not null references hosts (id),
  key           blob not null,                   -- names the change
  outcome       text not null,                   -- of the verdict that made it a storm
  basis         text not null,
  excerpt       text,                            -- what changed, as it was reported, JSON
  opened_at     integer not null,
  runs_until    integer not null,                -- a verdict of the same key belongs to it until then
  announce_at   integer not null,
  announced_at  integer,
  released_at   integer                          -- the user asked for an alert for each of its pages
) strict;
CREATE TABLE summaries (
  page_id  integer primary key,
  title    text,                                 -- when it was last received as a whole, at most 160 characters
  outcome  text,                                 -- of the last change: minor or major
  short    text,                                 -- that change in at most 60 letters; null: it is not reported yet
  day      integer,                              -- the latest day in `days`, counted from the epoch, in UTC
  days     blob                                  -- what was found on that day and those before, as DayMarks packs it
) strict;
CREATE TABLE texts (
  id      integer primary key,
  digest  blob not null unique,
  packed  blob not null
) strict;
CREATE TABLE tokens (
  id            integer primary key autoincrement,
  name          text not null,
  scope         text not null check (scope in ('read', 'write', 'admin')),
  digest        blob not null unique,
  created_at    integer not null,
  expires_at    integer,
  last_used_at  integer,
  revoked_at    integer,
  declared      integer not null default 0       -- 1 while the configuration declares it, 2 once it no longer does
) strict;
CREATE TABLE unrouted (
  position  integer primary key references alerts (position) on delete cascade,
  at        integer not null
) strict;
CREATE TABLE verdicts (
  id         integer primary key,
  page_id    integer not null references pages (id) on delete cascade,
  state_id   integer,
  at         integer not null,
  outcome    text not null,
  reason     text,
  rule       text not null,
  basis      text not null,
  data       text not null,                      -- the event's data without the rendering, JSON
  awareness  integer not null,                   -- 1: an alert is due
  alert_id   text,                               -- the alert that was given
  storm_id   integer,                            -- the storm that is reported instead of it
  digest     integer                             -- row_digest of page_id, at, outcome, reason, rule, basis, data
) strict;
CREATE TABLE words (
  id       integer primary key,                  -- page id / 4096 * 1369 + row_of(word)
  entries  blob not null                         -- as pack_block writes it
) strict;
CREATE INDEX alerts_by_page on alerts (page_id, position);
CREATE INDEX alerts_of_outages on alerts (position) where type in ('tocsin.outage.began.v1', 'tocsin.outage.ended.v1');
CREATE INDEX answers_by_age on answers (at);
CREATE INDEX bundles_by_state on bundles (channel, state, id, alerts);
CREATE INDEX bundles_dead on bundles (id) where state = 'dead';
CREATE INDEX bundles_due on bundles (channel, due_at) where state = 'open';
CREATE INDEX bundles_of_route on bundles (channel, route, key, id);
CREATE UNIQUE INDEX bundles_open on bundles (channel, route, key) where state = 'open';
CREATE INDEX bundles_sealed on bundles (channel, route, key, id) where state = 'sealed';
CREATE INDEX channel_tests_open on channel_tests (id) where begun_at is null;
CREATE INDEX copies_by_target on copies (target, made_at desc, url);
CREATE INDEX deliveries_by_alert on deliveries (alert_id);
CREATE INDEX deliveries_by_state on deliveries (channel, state, position);
CREATE INDEX deliveries_dead on deliveries (position) where state = 'dead';
CREATE INDEX deliveries_of_page on deliveries (channel, page_id, position) where state = 'waiting';
CREATE INDEX deliveries_ready on deliveries (channel, next_at) where state = 'waiting' and is_first = 1;
CREATE INDEX gathered_in_bundle on gathered (bundle, position);
CREATE INDEX gathered_of_bundle on gathered (bundle, page_id);
CREATE INDEX hosts_by_revision on hosts (revision);
CREATE INDEX hosts_empty on hosts (id) where empty = 1;
CREATE INDEX hosts_gated on hosts (gate_at) where gate_at is not null;
CREATE INDEX hosts_noisy on hosts (id) where noise is not null;
CREATE INDEX item_changes_of_page on item_changes (page_id, id);
CREATE INDEX jobs_by_age on jobs (started_at, id);
CREATE INDEX jobs_running on jobs (started_at) where state = 'running';
CREATE INDEX learnt_listed on learnt (page_id) where listed is not null;
CREATE INDEX listings_to_do on listings (page_id) where to_do = 1;
CREATE INDEX marks_by_group on alert_marks (page_group) where page_group is not null;
CREATE INDEX marks_by_kind on alert_marks (kind);
CREATE INDEX marks_by_outcome on alert_marks (outcome) where outcome is not null;
CREATE INDEX marks_of_problems on alert_marks (position) where kind in ('unreachable', 'disallowed', 'suspect', 'outage');
CREATE INDEX marks_unseen on alert_marks (position) where seen_at is null;
CREATE INDEX marks_unseen_by_group on alert_marks (page_group) where seen_at is null and page_group is not null;
CREATE INDEX marks_unseen_by_outcome on alert_marks (outcome) where seen_at is null and outcome is not null;
CREATE INDEX marks_unseen_problems on alert_marks (position)
where seen_at is null and kind in ('unreachable', 'disallowed', 'suspect', 'outage');
CREATE INDEX pages_asked on pages (group_id) where question_id is not null;
CREATE INDEX pages_asked_about on pages (question_id) where question_id is not null;
CREATE INDEX pages_by_key on pages (key);
CREATE INDEX pages_by_standing_answer on pages (standing_answer_id) where standing_answer_id is not null;
CREATE INDEX pages_changed on pages (group_id, last_changed_at) where last_changed_at is not null;
CREATE INDEX pages_declaring on pages (group_id) where declares = 1;
CREATE INDEX pages_due on pages (host_id, next_at) where next_at is not null and paused = 0;
CREATE INDEX pages_in_trouble on pages (group_id) where outcome between 5 and 8;
CREATE INDEX pages_new on pages (group_id) where outcome is null;
CREATE INDEX pages_of_group on pages (group_id);
CREATE INDEX pages_of_host on pages (host_id);
CREATE INDEX pages_off on pages (group_id) where next_at is null and next_why = 'off';
CREATE INDEX pages_paused on pages (group_id) where paused = 1;
CREATE INDEX pages_requested on pages (host_id, request_id) where request_id is not null;
CREATE INDEX pages_wanted on pages (request_id) where request_id is not null;
CREATE INDEX pictures_by_digest on pictures (digest);
CREATE INDEX pictures_of_page on pictures (page_id, id);
CREATE INDEX questions_by_size on questions (pages, id) where closed_at is null;
CREATE INDEX questions_ended on questions (closed_at, id) where closed_at is not null;
CREATE INDEX questions_of_host on questions (host_id);
CREATE INDEX questions_open on questions (host_id, cause) where closed_at is null;
CREATE INDEX questions_unasked on questions (announce_at) where announced_at is null and closed_at is null;
CREATE INDEX questions_waiting on questions (id) where announced_at is not null and answered_at is null and closed_at is null;
CREATE INDEX renderings_by_page on renderings (page_id, id);
CREATE INDEX renders_by_age on renders (since);
CREATE INDEX renders_in_turn on renders (major desc, since);
CREATE INDEX sessions_by_end on sessions (until);
CREATE INDEX sessions_of_token on sessions (token_id);
CREATE INDEX sightings_by_end on sightings (runs_until);
CREATE INDEX silenced_of_route on silenced (channel, route, position);
CREATE INDEX silences_in_force on silences (id) where ended_at is null;
CREATE INDEX snapshots_by_age on snapshots (at);
CREATE INDEX snapshots_of_page on snapshots (page_id, at);
CREATE INDEX snapshots_of_text on snapshots (text_id);
CREATE INDEX standing_answers_by_page on standing_answers (page_id) where page_id is not null;
CREATE INDEX standing_answers_of_cause on standing_answers (cause) where scope = 'cause';
CREATE INDEX standing_answers_of_host on standing_answers (host_id) where host_id is not null;
CREATE INDEX states_before on states (page_id, id) where last_at is not null;
CREATE INDEX states_of_the_past on states (last_at) where in_table = 0;
CREATE INDEX storms_of_host on storms (host_id, key, runs_until);
CREATE INDEX storms_unannounced on storms (announce_at) where announced_at is null;
CREATE INDEX summaries_by_title on summaries (lower(substr(title, 1, 16))) where title is not null;
CREATE INDEX tokens_by_name on tokens (name) where revoked_at is null;
CREATE INDEX unrouted_by_age on unrouted (at);
CREATE INDEX verdicts_by_page on verdicts (page_id, id);
CREATE INDEX verdicts_of_storm on verdicts (storm_id, page_id, at) where storm_id is not null;
CREATE INDEX verdicts_pending on verdicts (page_id) where awareness = 1 and alert_id is null;
