-- The schema of a store. Instants are microseconds since the epoch, in UTC, and so are time spans. "JSON" marks JSON kept
-- as text. Functions that comments name pack and number values in the store's Python code.

-- ---- The store as a whole ----

-- One row.
create table store (
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
insert into store (one, installed_at) values (1, unixepoch() * 1000000);

-- The position of the latest alert.
create table positions (
  one       integer primary key check (one = 1),
  position  integer not null default 0
) strict;
insert into positions (one) values (1);

-- Processes that work on the store. Times in these three tables are the database's own clock.
create table nodes (
  node         text primary key,
  incarnation  integer not null,                      -- when its process entered, which tells it from others of that name
  until        integer not null,                      -- the end of its lease
  draining     integer not null default 0,            -- 1: it gives its parts back, and takes none
  said         text not null default '{}'             -- of itself: version, address, counts, JSON
) strict;

-- The parts that the shards of hosts are divided into, each with the node that works on it.
create table parts (
  part     integer primary key,
  node     text,                                      -- null: none
  epoch    integer not null default 0,                -- grows with each change of its node; fences what the one before writes
  left_at  integer not null default 0                 -- since when the node before was gone; 0: spread what is overdue
) strict;
insert into parts (part) values (0);

-- What one node at a time does, by name: "leader", "channel:NAME".
create table leases (
  name   text primary key,
  node   text not null,
  epoch  integer not null,                            -- as that of parts
  until  integer not null
) strict;

-- ---- The watch list ----

create table groups (
  id        integer primary key,
  name      text not null unique,
  settings  text not null default '{}',          -- JSON
  revision  integer not null default 0,          -- grows with every edit of the settings
  -- How many pages it has. The statements that add, move and remove pages keep it, once per batch: a trigger for each
  -- page would add half to the cost of adding one.
  pages     integer not null default 0
) strict;
insert into groups (id, name) values (1, 'main');

create table hosts (
  id        integer primary key,
  name      text not null unique,
  shard     integer not null,
  revision  integer not null default 0,          -- of the last edit that the engine did not make
  gate_at   integer,                             -- no request before: a Retry-After must outlive the process
  robots    text,                                -- what robots.txt said and until when, by origin, JSON
  empty     integer not null default 0,          -- 1: no page of it is watched
  noise     blob                                 -- what is muted on its pages, as write_host_noise packs it
) strict;
create index hosts_by_revision on hosts (revision);
create index hosts_empty on hosts (id) where empty = 1;
create index hosts_gated on hosts (gate_at) where gate_at is not null;
create index hosts_noisy on hosts (id) where noise is not null;

create table pages (
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
create index pages_by_key on pages (key);
create index pages_of_host on pages (host_id);
create index pages_of_group on pages (group_id);
-- The one index of the schedule. A page with nothing due has no entry.
create index pages_due on pages (host_id, next_at) where next_at is not null and paused = 0;
create index pages_requested on pages (host_id, request_id) where request_id is not null;
-- The same by request, to count and drop what a request still waits for.
create index pages_wanted on pages (request_id) where request_id is not null;
create index pages_asked_about on pages (question_id) where question_id is not null;
create index pages_by_standing_answer on pages (standing_answer_id) where standing_answer_id is not null;
-- The lists that people look at, each by group and then by id or time; a list of all groups merges them. A check that
-- finds nothing new writes to none of these indexes: of their conditions it only looks at `outcome` and `next_at`.
create index pages_changed on pages (group_id, last_changed_at) where last_changed_at is not null;
create index pages_new on pages (group_id) where outcome is null;
-- As packing numbers outcomes: suspect, unreachable, deferred, disallowed.
create index pages_in_trouble on pages (group_id) where outcome between 5 and 8;
create index pages_asked on pages (group_id) where question_id is not null;
create index pages_paused on pages (group_id) where paused = 1;
create index pages_off on pages (group_id) where next_at is null and next_why = 'off';
create index pages_declaring on pages (group_id) where declares = 1;

-- A number that grows with each edit of a page by a user, and with no check. A page never edited has no row.
create table edits (
  page_id   integer primary key,
  revision  integer not null
) strict;

-- Words of URLs, notes and titles, in blocks of 4,096 pages; the pages after the last full block are searched themselves.
-- A block has at most 1,369 rows, each for the words that begin with the same two letters.
create table words (
  id       integer primary key,                  -- page id / 4096 * 1369 + row_of(word)
  entries  blob not null                         -- as pack_block writes it
) strict;

-- Checks asked for by hand, with or without a running engine.
create table requests (
  id          integer primary key autoincrement,
  created_at  integer not null,
  pages       integer not null,
  done        integer not null default 0,
  reported    integer not null default 1         -- 0: further reports are not stored
) strict;
create table request_reports (
  request_id  integer not null references requests (id) on delete cascade,
  position    integer not null,                  -- in order of completion, from 1
  report      text not null,
  primary key (request_id, position)
) strict, without rowid;

-- ---- States and verdicts ----

-- A run of equal states, with its first and its last storing. The latest run of a page is open: its last storing is
-- pages.stored_at, so that a check of an unchanged page writes one row, and pages.state_id leads to it without an index.
create table states (
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
create index states_before on states (page_id, id) where last_at is not null;
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
  data       text not null,                      -- the event's data without the rendering, JSON
  awareness  integer not null,                   -- 1: an alert is due
  alert_id   text,                               -- the alert that was given
  storm_id   integer,                            -- the storm that is reported instead of it
  digest     integer                             -- row_digest of page_id, at, outcome, reason, rule, basis, data
) strict;
create index verdicts_by_page on verdicts (page_id, id);
create index verdicts_pending on verdicts (page_id) where awareness = 1 and alert_id is null;
create index verdicts_of_storm on verdicts (storm_id, page_id, at) where storm_id is not null;

-- Copies of other pages that a page names: all that it named when it was last read whole.
create table copies (
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
-- Newest first, as copies are offered; those without a date come last.
create index copies_by_target on copies (target, made_at desc, url);

-- ---- What is known of pages beside their states ----

-- A page that nothing is known of has no row. No reference, as in `states`.
create table learnt (
  page_id  integer primary key,
  known    blob,                                 -- as write_known packs it
  listed   text,                                 -- JSON {signal: {id of the page that lists it: value}}
  heard    text                                  -- keys of noise that the user wants to hear of, a JSON array
) strict;
-- Where entries of a feed or sitemap that is no longer watched are found.
create index learnt_listed on learnt (page_id) where listed is not null;

-- Watched feeds and sitemaps, each with what it says of other pages until that has been copied to `learnt`.
create table listings (
  page_id  integer primary key,
  name     text not null,                        -- of the signal: feed or sitemap
  at       integer not null,                     -- when it was read
  entries  blob,                                 -- what is to be copied, as write_entries packs it
  to_do    integer not null default 1            -- 1: entries are to be copied, or its page was removed
) strict;
create index listings_to_do on listings (page_id) where to_do = 1;

-- Texts of pages, each stored once for all pages that have it.
create table texts (
  id      integer primary key,
  digest  blob not null unique,
  packed  blob not null
) strict;
-- A page's text at one instant.
create table snapshots (
  id       integer primary key,
  page_id  integer not null,
  at       integer not null,
  text_id  integer not null references texts (id)
) strict;
create index snapshots_of_page on snapshots (page_id, at);
create index snapshots_by_age on snapshots (at);
create index snapshots_of_text on snapshots (text_id);

-- What lists show of a page beside its row. A check that finds nothing new writes none of it. No reference, as in `states`.
create table summaries (
  page_id  integer primary key,
  title    text,                                 -- when it was last received as a whole, at most 160 characters
  outcome  text,                                 -- of the last change: minor or major
  short    text,                                 -- that change in at most 60 letters; null: it is not reported yet
  day      integer,                              -- the latest day in `days`, counted from the epoch, in UTC
  days     blob                                  -- what was found on that day and those before, as DayMarks packs it
) strict;
create index summaries_by_title on summaries (lower(substr(title, 1, 16))) where title is not null;

-- Cookies of a page whose steps log in, for its next visit; a secret. Few pages have any.
create table logins (
  page_id  integer primary key references pages (id) on delete cascade,
  cookies  text not null,                        -- JSON
  kept_at  integer not null                      -- when the browser gave them
) strict;

-- Pages that have another title than the one among their `words`. Searches look through these pages themselves, until a
-- background task puts the new titles there, many at a time.
create table retitled (
  page_id  integer primary key,
  title    text                                  -- the one that is there; null: none
) strict;

-- The latest microdata of each page. No reference, as in `states`. A page that had none when it was first checked has bit
-- 256 of pages.flags instead of a row.
create table items (
  page_id  integer primary key,
  first_at integer not null,                     -- when these items were first read
  at       integer not null,                     -- when they were last read
  count    integer not null,
  is_cut   integer not null default 0,           -- 1: the page had more items than are kept
  digest   blob not null,                        -- of all items, those not kept included: equal items, equal digest
  packed   blob not null                         -- as spec.microdata.packing writes it
) strict;

-- ---- Awareness: renderings, alerts and their delivery ----

-- The render queue: pages that are due for awareness. A row with the current epoch of its
-- part holds a slot.
create table renders (
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
create index renders_in_turn on renders (major desc, since);
create index renders_by_age on renders (since);

create table renderings (
  id            integer primary key,
  page_id       integer not null references pages (id) on delete cascade,
  started_at    integer not null,
  rendering     text not null,                   -- as the event shows it, JSON
  digest        integer                          -- row_digest of page_id, started_at and rendering
) strict;
create index renderings_by_page on renderings (page_id, id);

-- How the items of a page changed, as the event of the rendering with the same id reported it.
create table item_changes (
  id       integer primary key references renderings (id) on delete cascade,
  page_id  integer not null,
  at       integer not null,
  changes  text not null                         -- JSON
) strict;
create index item_changes_of_page on item_changes (page_id, id);

-- Pictures of pages: of renderings, and of checks that compare them. The file is in the store's folder of pictures:
-- written before this row, and removed after the last row that names it.
create table pictures (
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
create index pictures_of_page on pictures (page_id, id);
create index pictures_by_digest on pictures (digest);

-- The outbox.
create table alerts (
  id          text primary key,                  -- ULID
  position    integer not null unique,
  page_id     integer,                           -- the page in whose order it is delivered; it may outlive the page
  type        text not null,
  created_at  integer not null,
  event       text not null,                     -- JSON
  seen_at     integer,
  digest      integer                            -- row_digest of id, position, page_id, type, created_at, event
) strict, without rowid;
create index alerts_by_page on alerts (page_id, position);
create index alerts_of_outages on alerts (position) where type in ('tocsin.outage.began.v1', 'tocsin.outage.ended.v1');

-- What alerts are listed by, apart from them: marking a thousand alerts as seen rewrites none of their events.
create table alert_marks (
  position    integer primary key,
  kind        text not null,                     -- of the event, as kind_of names it
  outcome     text,
  page_group  text,                              -- the page's group when the alert was written
  seen_at     integer
) strict;
create index marks_unseen on alert_marks (position) where seen_at is null;
create index marks_unseen_by_outcome on alert_marks (outcome) where seen_at is null and outcome is not null;
create index marks_unseen_by_group on alert_marks (page_group) where seen_at is null and page_group is not null;
create index marks_by_outcome on alert_marks (outcome) where outcome is not null;
create index marks_by_kind on alert_marks (kind);
create index marks_by_group on alert_marks (page_group) where page_group is not null;
-- Alerts about what keeps pages from being checked.
create index marks_of_problems on alert_marks (position) where kind in ('unreachable', 'disallowed', 'suspect', 'outage');
create index marks_unseen_problems on alert_marks (position)
where seen_at is null and kind in ('unreachable', 'disallowed', 'suspect', 'outage');

create table channels (
  name       text primary key,
  failures   integer not null default 0,
  next_at    integer,                            -- end of a pause after failures
  disabled   integer not null default 0,
  error      text,
  failed_at  integer,                            -- tells a pause apart from a clock that was set back since
  since      integer                             -- of the first failure in a row
) strict, without rowid;

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
create index deliveries_by_state on deliveries (channel, state, position);
create index deliveries_ready on deliveries (channel, next_at) where state = 'waiting' and is_first = 1;
create index deliveries_of_page on deliveries (channel, page_id, position) where state = 'waiting';
create index deliveries_by_alert on deliveries (alert_id);
create index deliveries_dead on deliveries (position) where state = 'dead';

-- Digests. Each alert has one row for each channel that routes gave it: in `deliveries`, `gathered` or `silenced`. A row
-- of `gathered` is never moved: what its bundle is (waiting, accepted, dead), its alerts are, so that a digest of 100,000
-- alerts is sealed, and ends, by one row.
create table bundles (
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
create unique index bundles_open on bundles (channel, route, key) where state = 'open';
create index bundles_due on bundles (channel, due_at) where state = 'open';
create index bundles_sealed on bundles (channel, route, key, id) where state = 'sealed';
create index bundles_of_route on bundles (channel, route, key, id);
create index bundles_by_state on bundles (channel, state, id, alerts);
create index bundles_dead on bundles (id) where state = 'dead';

-- What a sealed bundle is given as: written before it is first given, and never again.
create table digests (
  bundle      integer primary key references bundles (id) on delete cascade,
  message_id  text not null,                     -- ULID; of its event and its message
  event       text not null,                     -- JSON
  message     text                               -- for people, JSON; null: its channel takes none
) strict;

create table gathered (
  position  integer not null references alerts (position) on delete cascade,
  channel   text not null,
  bundle    integer not null references bundles (id) on delete cascade,
  page_id   integer not null,                    -- as in deliveries; -1 for null
  primary key (position, channel)
) strict, without rowid;
create index gathered_of_bundle on gathered (bundle, page_id);
create index gathered_in_bundle on gathered (bundle, position);

create table silences (
  id        integer primary key autoincrement,   -- people name it
  match     text not null,                       -- JSON
  from_at   integer not null,
  until_at  integer,
  reason    text not null default '',
  who       text not null default '',
  ended_at  integer
) strict;
create index silences_in_force on silences (id) where ended_at is null;

create table silenced (
  position  integer not null references alerts (position) on delete cascade,
  channel   text not null,
  route     text not null,
  silence   integer not null,
  primary key (position, channel)
) strict, without rowid;
create index silenced_of_route on silenced (channel, route, position);

-- How many alerts of a route went alone to a channel in the latest window of its `at_most`.
create table rate_windows (
  channel   text not null,
  route     text not null,
  start_at  integer not null,
  taken     integer not null,
  primary key (channel, route)
) strict, without rowid;

-- Alerts that no route takes.
create table unrouted (
  position  integer primary key references alerts (position) on delete cascade,
  at        integer not null
) strict;
create index unrouted_by_age on unrouted (at);

-- Channels and routes that were made at run time, beside those of the configuration file. Secrets are in clear: the file of
-- the store is readable by its owner alone.
create table saved_entries (
  kind      text not null check (kind in ('channel', 'route')),
  name      text not null,
  place     integer not null,                    -- of a route: its order
  settings  text not null,                       -- as in the configuration file, JSON
  revision  integer not null,
  at        integer not null,                    -- of its latest change, and
  who       text not null,                       -- who made that
  primary key (kind, name)
) strict, without rowid;

create table channel_mutes (
  channel   text primary key,
  until_at  integer,                             -- null: until it is ended
  at        integer not null,
  who       text not null
) strict, without rowid;

-- Tests of channels that the command line asks a running service for: its network, secrets and state are those in force.
create table channel_tests (
  id        integer primary key autoincrement,
  channel   text not null,
  asked_at  integer not null,
  begun_at  integer,
  ended_at  integer,
  blames    text,                                -- what was at fault; null: the test alert was accepted
  error     text
) strict;
create index channel_tests_open on channel_tests (id) where begun_at is null;

-- ---- Attention: questions, rules and storms ----

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
  pending_change text,                           -- the verdict whose rendering failed, JSON
  pages          integer not null default 0      -- how many; the trigger pages_joined keeps it
) strict;
create index questions_open on questions (host_id, cause) where closed_at is null;
create index questions_unasked on questions (announce_at) where announced_at is null and closed_at is null;
create index questions_of_host on questions (host_id);
create index questions_by_size on questions (pages, id) where closed_at is null;
create index questions_ended on questions (closed_at, id) where closed_at is not null;
create index questions_waiting on questions (id) where announced_at is not null and answered_at is null and closed_at is null;

create table standing_answers (
  id           integer primary key autoincrement,
  scope        text not null check (scope in ('page', 'host-cause', 'host', 'cause')),
  page_id      integer references pages (id) on delete cascade,
  host_id      integer references hosts (id),
  cause        text,
  instruction  text not null,                    -- JSON
  created_at   integer not null
) strict;
create index standing_answers_by_page on standing_answers (page_id) where page_id is not null;
create index standing_answers_of_host on standing_answers (host_id) where host_id is not null;
create index standing_answers_of_cause on standing_answers (cause) where scope = 'cause';

-- The same change on many pages of a host, reported once.
create table storms (
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
create index storms_of_host on storms (host_id, key, runs_until);
create index storms_unannounced on storms (announce_at) where announced_at is null;

-- Changes that may become a storm, until they no longer count.
create table sightings (
  host_id     integer not null,
  key         blob not null,
  page_id     integer not null,
  at          integer not null,
  runs_until  integer not null,
  verdict_id  integer not null,
  primary key (host_id, key, page_id)
) strict, without rowid;
create index sightings_by_end on sightings (runs_until);

-- ---- Access over HTTP ----

-- Only digests of secrets are kept.
create table tokens (
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

-- Requests that came with an idempotency key, and their answers.
create table answers (
  key           blob primary key,
  fingerprint   blob not null,
  at            integer not null,
  status        integer not null default 0,      -- 0: the request is being worked on
  content_type  text not null default '',
  location      text,
  body          blob not null default x'',
  node          text not null default ''         -- that works on it
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
  error       text,
  node        text not null default '',          -- that runs it
  cancelling  integer not null default 0         -- 1: its node is asked to end it
) strict, without rowid;
create index jobs_by_age on jobs (started_at, id);
create index jobs_running on jobs (started_at) where state = 'running';

-- What the service did, a row for every five minutes.
create table activity (
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

-- What the leader of several nodes found last about the store, for all of them.
create table findings (
  one    integer primary key check (one = 1),
  value  text not null                           -- JSON
) strict;

-- ---- Triggers ----

-- Rows that belong to a page without a reference: a reference would need an index of all of them, or a look for each.
create trigger pages_gone after delete on pages begin
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

-- Titles that are not among the words of their pages: see `retitled`.
create trigger titles_come after insert on summaries
when new.title is not null and new.page_id < (select words_until from store) begin
  insert into retitled (page_id) values (new.page_id) on conflict do nothing;
end;
create trigger titles_change after update of title on summaries
when old.title is not new.title and new.page_id < (select words_until from store) begin
  insert into retitled (page_id, title) values (new.page_id, old.title) on conflict do nothing;
end;

create trigger pages_joined after update of question_id on pages when old.question_id is not new.question_id begin
  update questions set pages = pages - 1 where id = old.question_id;
  update questions set pages = pages + 1 where id = new.question_id;
end;

create trigger texts_kept after insert on texts begin
  update store set text_bytes = text_bytes + length(new.packed);
end;
create trigger texts_gone after delete on texts begin
  update store set text_bytes = text_bytes - length(old.packed);
end;
-- A text goes with its last snapshot.
create trigger snapshots_gone after delete on snapshots begin
  delete from texts where id = old.text_id and not exists (select 1 from snapshots where text_id = old.text_id);
end;

create trigger alerts_gone after delete on alerts begin
  delete from alert_marks where position = old.position;
end;

-- Taken out to go alone, or deleted with age where the channel wants no more.
create trigger gathered_gone after delete on gathered begin
  update bundles set alerts = alerts - 1 where id = old.bundle and state in ('open', 'sealed');
end;

-- The engine reads the silences again when this number has changed.
create trigger silences_added after insert on silences begin update store set silences = silences + 1; end;
create trigger silences_changed after update on silences begin update store set silences = silences + 1; end;
create trigger silences_deleted after delete on silences begin update store set silences = silences + 1; end;

-- When the first delivery of a page stops waiting, the next one becomes the first. It is due at once (but not in quiet
-- hours), also if it was written before the clock was set back. Most have no successor: they cost one look into an index.
create trigger deliveries_left after update of state on deliveries
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

-- A delivery that waits again (a replayed one) may be older than the one that was the first.
create trigger deliveries_back after update of state on deliveries
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

create trigger deliveries_gone after delete on deliveries
when old.state = 'waiting' and old.is_first = 1 and old.page_id is not null begin
  update deliveries set is_first = 1
  where channel = old.channel and position = (
    select min(e.position) from deliveries e indexed by deliveries_of_page
    where e.channel = old.channel and e.page_id = old.page_id and e.state = 'waiting'
  );
end;
