-- What checking reads and writes: the agenda of hosts, due pages, results.

-- A host's earliest due time: 0 if one of its pages is requested, else the first entry of the schedule index. Pages
-- that are due before `shown` are overdue at startup and wait until they are spread.
-- name: due
case when exists (
  select 1 from pages q {index pages_requested} where q.host_id = h.id and q.request_id is not null
) then 0 else (
  select d.next_at from {schedule d}
  where d.host_id = h.id and {scheduled d} and d.next_at >= :shown order by d.next_at limit 1
) end

-- One seek into the schedule per host, a page of hosts at a time.
-- name: agenda
select h.id, {due} from hosts h
where h.id > :after and {ours h}
order by h.id limit :limit;

-- Hosts that were edited since; edits are few, and the index finds them.
-- name: agenda_since
select h.id, {due}, h.revision from hosts h {index hosts_by_revision}
where (h.revision, h.id) > (:since, :after) and {ours h}
order by h.revision, h.id limit :limit;

-- All that a visit needs to know of a page, in the order of `tasks.to_task`.
-- name: task
p.id, p.host_id, h.name, p.url, p.group_id, p.settings, p.secrets, p.text,
p.state_id, s.fields, s.first_at, p.stored_at, p.storings,
p.etag, p.last_modified, p.validators_hop, p.last_set_at, p.last_checked_at, p.conditional_run,
p.body_digest, p.attempts, p.flags, p.question_id, p.rule, p.request_id, p.body_bytes, p.next_at, {claim h}

-- The due pages of each host as one array, the longest due first. The limit per host keeps large hosts from starving others.
-- The index alone answers.
-- name: due_by_host
select (
  select {array id} from (
    select d.id from {schedule d}
    where d.host_id = a.value and {scheduled d} and d.next_at between :shown and :now
    order by d.next_at limit :limit
  ) few
) from {each :hosts a};

-- Requested checks come first, and once.
-- name: any_requested
select exists (select 1 from pages {index pages_requested} where host_id > 0 and request_id is not null);

-- The same as `due`, where mostly no page of any host is requested: then no host is looked at for that.
-- name: due_of_hosts
select a.value, case when ({any_requested}) and exists (
  select 1 from pages q {index pages_requested} where q.host_id = a.value and q.request_id is not null
) then 0 else (
  select d.next_at from {schedule d}
  where d.host_id = a.value and {scheduled d} and d.next_at >= :shown order by d.next_at limit 1
) end from {each :hosts a};

-- name: wanted_of_host
select id from pages {index pages_requested}
where host_id = :host and request_id is not null order by request_id limit :limit;

-- name: due_beside_wanted
select d.id from {schedule d}
where d.host_id = :host and {scheduled d} and d.next_at between :shown and :now
  and request_id is null
order by d.next_at limit :limit;

-- name: requested_of_host
select id from pages {index pages_requested} where host_id = :host and request_id = :request limit :limit;

-- name: tasks
select {task}
from {each :ids i}
{then pages p} on p.id = i.value
join hosts h on h.id = p.host_id
left join states s on s.id = p.state_id;

-- name: tasks_of_parts
{tasks} where {ours h};

-- The columns that writing a batch needs of its pages; removed pages are not found.
-- name: standing
select p.id, p.state_id, p.stored_at, p.storings, p.question_id, p.flags, p.standing_answer_id,
  case when p.standing_answer_id is not null then {field r.instruction kind} end, p.rule, p.next_at, p.next_why,
  y.day, y.days
from pages p left join standing_answers r on r.id = p.standing_answer_id left join summaries y on y.page_id = p.id
where p.id in {ids :ids};

-- What every check writes, in the order of `noting`. Of the bits it takes back none of 4, 64 and 256.
-- name: noted
next_at = ?, next_why = ?, last_checked_at = ?, last_set_at = coalesce(?, last_set_at), last_report = ?, outcome = ?,
  conditional_run = ?, flags = (flags & 324) | ?, saved_bytes = saved_bytes + ?

-- name: noted_same
next_at = ?, next_why = ?, last_checked_at = ?, last_set_at = ?, last_report = ?, outcome = ?,
  conditional_run = ?, flags = (flags & 324) | ?, saved_bytes = saved_bytes + ?, attempts = null,
  stored_at = ?, storings = storings + 1

-- name: origin
etag = ?, last_modified = ?, validators_hop = nullif(?, url), body_digest = ?, body_bytes = coalesce(?, body_bytes)

-- The page is as its check knew it, and no instruction was given for it meanwhile.
-- name: is_as_known
id = ? and stored_at = ? and next_at = ? and question_id is null and rule is null and standing_answer_id is null

-- A check that stored nothing.
-- name: note_check
update pages set {noted}, last_changed_at = coalesce(?, last_changed_at), attempts = ?
where id = ?;

-- A check that made no request: what the check before it found still holds.
-- name: note_skipped
update pages set next_at = ?, next_why = ?, last_checked_at = coalesce(last_checked_at, ?),
  last_set_at = coalesce(?, last_set_at), last_report = coalesce(last_report, ?), outcome = coalesce(outcome, ?),
  conditional_run = ?, flags = (flags & 324) | ?, saved_bytes = saved_bytes + ?,
  last_changed_at = coalesce(?, last_changed_at), attempts = ?
where id = ?;

-- A check that stored the state before once more: the one row that an unchanged page costs.
-- name: note_equal
update pages set {noted}, last_changed_at = coalesce(?, last_changed_at), attempts = ?,
  stored_at = {greatest stored_at ?}, storings = storings + 1, {origin}
where id = ?;

-- A check that stored a new state.
-- name: note_new
update pages set {noted}, last_changed_at = coalesce(?, last_changed_at), attempts = ?,
  stored_at = ?, storings = 1, {origin}, declares = ?, state_id = ?, room = null
where id = ?;

-- A check that found all as it knew it, and was given the same answer.
-- name: note_same
update pages set {noted_same}
where {is_as_known};

-- The same, but for what belongs to the answer.
-- name: note_same_anew
update pages set {origin}, {noted_same}
where {is_as_known};

-- name: gate_hosts
update hosts set gate_at = :gate_at where id = :id and coalesce(gate_at, 0) < :gate_at;

-- What is set at run time; "off" and cron expressions in it matter to the schedule.
-- name: settings_of_all
select settings from store;

-- name: group_ids
select id from groups;

-- name: settings_of_groups
select id, name, settings from groups;

-- Settings that are no JSON, as only another program writes them, count as none here; they hold their own pages.
-- name: of_page
{json p.settings}

-- name: of_group
{json g.settings}

-- name: of_all
{json t.settings}

-- Of an interval and a cron expression the nearer one is in force, as in `resolve_page`.
-- name: cron
coalesce(
  {field {of_page} cron}, case when {field {of_page} every} is null then null else '' end,
  {field {of_group} cron}, case when {field {of_group} every} is null then null else '' end,
  {field {of_all} cron}, case when {field {of_all} every} is null then null else '' end,
  :cron
)

-- name: at_launch
coalesce(span_us(coalesce({field {of_page} at_launch}, {field {of_group} at_launch}, {field {of_all} at_launch})),
  :at_launch)

-- The last page of one scan for overdue pages, which reads a fixed number of pages; and how many of these wait for its
-- outcome.
-- name: look_until
select max(id), count(*) filter (where next_at < :now - :window and paused = 0)
from (select id, next_at, paused from pages where id > :after order by id limit :look) few;

-- Overdue pages without a cron expression of their own or of those they inherit from (T63), a step at a time; pages
-- within the window already stay where they are, so that a crash loop moves each page once. A check in the time to
-- come was made by a clock that was ahead, and so was the page's due time, by cron too.
-- name: overdue
select p.id from pages p
join hosts h on h.id = p.host_id
join groups g on g.id = p.group_id
cross join store t
where p.id > :after and p.id <= :until and {ours h}
  and p.paused = 0 and p.next_at is not null
  and (p.next_at < :now - :window or p.next_at > :now + :window)
  and (
    coalesce(p.last_checked_at, p.added_at) < :now - {at_launch} and {cron} = ''
    or coalesce(p.last_checked_at, p.added_at) > :ahead
  )
  and coalesce(p.next_why, '') not like 'held:%'
order by p.id;

-- The fraction never changes for a page; see `model.phase_of`.
-- name: spread_at
:now + {whole (phase_of(id) * :window)}

-- Since the scan a rule may have set a page to never, and checks may have been written.
-- name: spread
update pages set next_at = {spread_at}, next_why = :why
where id in {ids :ids} and next_at is not null
  and coalesce(last_checked_at, added_at) not between :now and :ahead
returning host_id, next_at;

-- Pages that may be due too late, since a clock that was ahead planned them: see `WorkStore.pull_in`.
-- name: ahead_of_clock
select p.id, p.group_id, p.settings, p.next_at, coalesce(p.last_checked_at, p.added_at), p.next_why from pages p
join hosts h on h.id = p.host_id
join groups g on g.id = p.group_id
cross join store t
where p.id > :after and p.id <= :until and {ours h}
  and p.paused = 0 and p.next_at > :now
  and (
    coalesce(p.last_checked_at, p.added_at) > :now
    or p.next_at > :now + coalesce(
      span_us(coalesce({field {of_page} every}, {field {of_group} every}, {field {of_all} every})), :every)
  )
  and {field p.rule at} is null
order by p.id;

-- A check that is to come counts as one of now, so that the next look finds nothing wrong with it.
-- name: replan
update pages set next_at = :at, next_why = :why, 
  last_checked_at = case when last_checked_at > :now then :now else last_checked_at end
where id = :id and next_at = :before
returning host_id, next_at;

-- Waits that are too long. They are found by reading, which holds up no other writer.
-- name: long_gates
select h.id from hosts h {index hosts_gated}
where h.gate_at > :now and {ours h} and {least (h.gate_at - :back) (:now + :longest)} < h.gate_at;

-- name: pull_in_gates
update hosts set gate_at = {greatest :now ({least (gate_at - :back) (:now + :longest)})}
where id in {ids :ids} and gate_at > :now;

-- name: long_renders
select r.page_id from renders r
join pages p on p.id = r.page_id
join hosts h on h.id = p.host_id
where r.not_before > :now and {ours h} and {least (r.not_before - :back) (:now + :longest)} < r.not_before;

-- name: pull_in_renders
update renders set not_before = {greatest :now ({least (not_before - :back) (:now + :longest)})}
where page_id in {ids :ids} and not_before > :now;

-- name: long_questions
select q.id from questions q join hosts h on h.id = q.host_id
where q.announced_at is null and q.closed_at is null and q.announce_at > :now + :gather and {ours h};

-- name: pull_in_questions
update questions set announce_at = :now + :gather where id in {ids :ids} and announced_at is null;

-- name: long_storms
select s.id from storms s join hosts h on h.id = s.host_id
where s.announced_at is null and s.announce_at > :now + :gather and {ours h};

-- name: pull_in_storms
update storms set announce_at = :now + :gather where id in {ids :ids} and announced_at is null;

-- The mode of the page, else of its group, else of all pages, else of the configuration.
-- name: mode
coalesce({field {of_page} mode}, {field {of_group} mode}, {field {of_all} mode}, :mode)

-- name: modes
select p.id, {mode} from pages p join groups g on g.id = p.group_id cross join store t
where p.id in {ids :ids};

-- The same for pages of a group that are off.
-- name: look_until_off
select max(id), 0 from (
  select id from pages {index pages_off}
  where group_id = :group and id > :after and {off pages} order by id limit :look
) few;

-- Pages that are off although their settings do not say so any more, a step at a time.
-- name: wrongly_off
select p.id, p.host_id from pages p {index pages_off} join groups g on g.id = p.group_id cross join store t
where p.group_id = :group and p.id > :after and p.id <= :until and {off p}
  and {mode} <> 'off'
order by p.id;

-- name: wake
update pages set next_at = {spread_at}, next_why = 'on again'
where id in {ids :ids} and next_at is null and next_why = 'off';

-- name: size
select coalesce(max(id), 0) from pages;

-- Those of these pages that may still be requested.
-- name: still_watched
select id from pages where id in {ids :ids} and paused = 0;
