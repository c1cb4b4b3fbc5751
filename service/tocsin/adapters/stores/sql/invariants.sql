-- What must hold in every store at any time. Each invariant gives (subject, detail) of what breaks it; those that
-- `invariants.ROW_CHECKS` names give what may break it, with the values to look at behind.

-- name: latest_state
select p.id, p.state_id from pages p left join states s on s.id = p.state_id
where (p.state_id is not null and ({differ s.page_id p.id} or s.last_at is not null)) or exists (
  select 1 from states t {index states_before}
  where t.page_id = p.id and t.last_at is not null and (p.state_id is null or t.id > p.state_id)
);

-- A run without an end is its page's latest.
-- name: open_runs
select s.id, s.page_id from states s join pages p on p.id = s.page_id where s.last_at is null and {differ p.state_id s.id};

-- name: states_of_pages
select s.id, s.page_id from states s where not exists (select 1 from pages p where p.id = s.page_id);

-- Rows that are written once: what their digest was made of. Texts as bytes, since a fault can leave what is no text.
-- name: states_as_written
select id, page_id, digest, page_id, first_at, fields from states;

-- name: verdicts_as_written
select id, page_id, digest, page_id, at, {bytes outcome}, {bytes reason}, {bytes rule},
  {bytes basis}, {bytes data}
from verdicts;

-- name: alerts_as_written
select {quoted a.id}, a.position, digest, {bytes a.id}, a.position, a.page_id, {bytes a.type}, a.created_at,
  {bytes a.event}
from alerts a;

-- name: renderings_as_written
select id, page_id, digest, page_id, started_at, {bytes rendering} from renderings;

-- Each check writes the report anew; a digest would cost every check.
-- name: reports_readable
select id, url, outcome, {bytes last_report} from pages where last_report is not null;

-- name: keys_of_urls
select id, url from pages where key <> url_key(url);

-- name: urls_once
select a.url, b.id from pages a join pages b {index pages_by_key} on b.key = a.key and b.id > a.id where b.url = a.url;

-- name: twelve_fields
select id, page_id, fields from states;

-- name: canonical_space
select id, page_id, fields from states;

-- name: latest_in_table
select p.id, p.state_id from pages p join states s on s.id = p.state_id where s.in_table = 0;

-- name: stored_in_order
select p.id, p.state_id from pages p join states s on s.id = p.state_id
where p.stored_at is null or p.stored_at < s.first_at or s.table_from > p.stored_at or s.table_from < s.first_at;

-- name: runs_in_order
select s.id, s.page_id from states s
where s.last_at is not null and (s.last_at < s.first_at or s.table_from < s.first_at or s.table_from > s.last_at);

-- name: one_verdict_one_alert
select alert_id, count(*) from verdicts where alert_id is not null group by alert_id having count(*) > 1;

-- name: verdicts_served
select v.id, v.page_id from verdicts v
where v.awareness = 1 and v.alert_id is null and not exists (select 1 from renders r where r.page_id = v.page_id);

-- name: unwanted_alerts
select id, page_id from verdicts where awareness = 0 and alert_id is not null;

-- name: positions_whole
select position, position from positions
where position <> coalesce((select max(position) from alerts), position)
  or exists (select 1 from alerts where position < 1);

-- name: positions_without_gaps
select position, position - 1 from alerts a
where not exists (select 1 from alerts b where b.position = a.position - 1)
  and a.position > (select min(position) from alerts);

-- name: deliveries_of_alerts
select d.alert_id, d.channel from deliveries d left join alerts a on a.id = d.alert_id
where a.id is null or a.position <> d.position or {differ a.page_id (nullif(d.page_id, 0))};

-- What waits since before a younger one was accepted should have gone first; a replay waits since it was asked for.
-- name: deliveries_in_order
select d.alert_id, d.channel from deliveries d
where d.state = 'accepted' and d.page_id is not null and d.tries > 0 and exists (
  select 1 from deliveries e {index deliveries_of_page}
  where e.channel = d.channel and e.page_id = d.page_id and e.state = 'waiting' and e.position < d.position
    and e.next_at < d.last_try_at
);

-- An alert has one row for each channel: a delivery, a place in a digest, or a silence.
-- name: one_place_for_each_channel
select g.position, g.channel from gathered g join alerts a on a.position = g.position
where exists (select 1 from deliveries d where d.channel = g.channel and d.position = g.position)
  or exists (select 1 from silenced s where s.channel = g.channel and s.position = g.position)
union all
select s.position, s.channel from silenced s
where exists (select 1 from deliveries d where d.channel = s.channel and d.position = s.position);

-- name: gathered_of_alerts
select g.position, g.channel from gathered g left join alerts a on a.position = g.position
  left join bundles b on b.id = g.bundle
where {differ b.channel g.channel} or {differ a.page_id (nullif(nullif(g.page_id, -1), 0))};

-- With age, alerts of digests that ended are deleted.
-- name: gathered_counted
select b.id, b.alerts from bundles b
where b.alerts <> (select count(*) from gathered g {index gathered_of_bundle} where g.bundle = b.id)
  and (b.state in ('open', 'sealed') or b.alerts < (select count(*) from gathered g {index gathered_of_bundle} where g.bundle = b.id));

-- name: gathered_before_sealing
select b.id, g.position from bundles b join gathered g {index gathered_of_bundle} on g.bundle = b.id
where b.state <> 'open' and g.position > b.sealed_position;

-- name: digests_composed
select b.id, b.tries from bundles b
where (b.state = 'accepted' or b.tries > 0) and not exists (select 1 from digests t where t.bundle = b.id)
union all
select t.bundle, 0 from digests t join bundles b on b.id = t.bundle where b.state = 'open';

-- name: digests_as_named
select bundle, message_id from digests where message_id <> {field event id};

-- name: deliveries_first
select d.alert_id, d.channel from deliveries d
where d.state = 'waiting' and d.is_first <> {flag (not exists (
  select 1 from deliveries e {index deliveries_of_page}
  where e.channel = d.channel and e.page_id = d.page_id and e.state = 'waiting' and e.position < d.position
))};

-- name: questions_of_pages
select p.id, p.question_id from pages p left join questions q on q.id = p.question_id
where p.question_id is not null and (q.id is null or q.closed_at is not null or q.host_id <> p.host_id);

-- name: questions_without_pages
select q.id, q.host_id from questions q
where q.closed_at is null and not exists (select 1 from pages p where p.question_id = q.id);

-- One that was answered waits for what it has, beside a newer one.
-- name: one_open_question
select host_id, cause from questions
where closed_at is null and answered_at is null group by host_id, cause having count(*) > 1;

-- name: standing_answers_of_pages
select p.id, p.standing_answer_id from pages p left join standing_answers r on r.id = p.standing_answer_id
where p.standing_answer_id is not null and r.id is null;

-- name: never_is_never
select p.id, p.standing_answer_id from pages p join standing_answers r on r.id = p.standing_answer_id
where {field r.instruction kind} = 'never' and p.next_at is not null;

-- name: renders_with_cause
select r.page_id, r.since from renders r
where r.owed = 0 and r.copy_url is null and not exists (
  select 1 from verdicts v where v.page_id = r.page_id and v.awareness = 1 and v.alert_id is null
);

-- name: renders_owed
select r.page_id, p.flags from renders r join pages p on p.id = r.page_id where r.owed = 1 and p.flags & 4 = 0;

-- name: requests_done
select r.id, r.done from requests r
where r.done <> (select count(*) from request_reports t where t.request_id = r.id) and r.reported = 1
   or r.done > r.pages;

-- name: requests_wanted
select p.id, p.request_id from pages p left join requests r on r.id = p.request_id
where p.request_id is not null and r.id is null;

-- name: pages_as_text
select id, text from pages where length(text) > 253;

-- name: copies_bounded
select page_id, count(*) from copies group by page_id having count(*) > 1000;

-- name: copies_of_pages
select page_id, url from copies where (substr(url, 1, 7) <> 'http://' and substr(url, 1, 8) <> 'https://') or target like '%#%';

-- name: bytes_counted
select id, {least body_bytes saved_bytes} from pages where body_bytes < 0 or saved_bytes < 0;

-- What is known of pages beside their states can be read, and belongs to pages.
-- name: learnt_readable
select page_id, 'known', known from learnt where known is not null
union all select page_id, 'listed', {bytes listed} from learnt where listed is not null
union all select page_id, 'heard', {bytes heard} from learnt where heard is not null;

-- name: learnt_of_pages
select l.page_id, null from learnt l where not exists (select 1 from pages p where p.id = l.page_id);

-- name: learnt_noted
select p.id, p.flags from learnt l join pages p on p.id = l.page_id where p.flags & 64 = 0;

-- name: noise_readable
select id, name, noise from hosts where noise is not null;

-- name: listings_to_do
select page_id, name from listings where to_do = 0 and entries is not null;

-- name: listings_of_pages
select l.page_id, l.name from listings l
where l.to_do = 0 and not exists (select 1 from pages p where p.id = l.page_id);

-- name: snapshots_of_pages
select s.id, s.page_id from snapshots s where not exists (select 1 from pages p where p.id = s.page_id);

-- name: texts_wanted
select t.id, null from texts t where not exists (select 1 from snapshots s where s.text_id = t.id);

-- name: texts_counted
select s.text_bytes, t.bytes from store s, (select coalesce(sum(length(packed)), 0) as bytes from texts) t
where s.text_bytes <> t.bytes;

-- name: storms_of_verdicts
select v.id, v.page_id from verdicts v
where v.storm_id is not null and not exists (select 1 from storms s where s.id = v.storm_id);

-- Two storms of one change run one after the other.
-- name: one_storm_at_a_time
select a.host_id, b.id from storms a join storms b {index storms_of_host}
on b.host_id = a.host_id and b.key = a.key and b.id > a.id where b.opened_at <= a.runs_until;

-- What lists and tallies go by.
-- name: groups_counted
select g.name, g.pages from groups g where g.pages <> (select count(*) from pages p where p.group_id = g.id);

-- name: questions_counted
select q.id, q.pages from questions q where q.pages <> (select count(*) from pages p where p.question_id = q.id);

-- name: pages_declaring
select p.id, p.declares, s.fields from pages p left join states s on s.id = p.state_id;

-- name: marks_of_alerts
select a.position, a.id from alerts a where not exists (select 1 from alert_marks m where m.position = a.position)
union all
select m.position, m.kind from alert_marks m where not exists (select 1 from alerts a where a.position = m.position);

-- name: edits_of_pages
select e.page_id, e.revision from edits e where not exists (select 1 from pages p where p.id = e.page_id);

-- Microdata belongs to pages, and how it changed to a rendering of the same page.
-- name: items_of_pages
select i.page_id, i.count from items i where not exists (select 1 from pages p where p.id = i.page_id);

-- name: summaries_of_pages
select y.page_id, length(y.title) from summaries y
where coalesce(length(y.title), 0) > 160 or not exists (select 1 from pages p where p.id = y.page_id);

-- name: items_bounded
select page_id, count from items where count < 0 or count > 1000 or length(packed) > 263168;

-- name: items_readable
select page_id, count, packed from items;

-- name: item_changes_of_renderings
select c.id, c.page_id from item_changes c left join renderings r on r.id = c.id where {differ r.page_id c.page_id};

-- name: item_changes_readable
select id, page_id from item_changes
where case when json_valid(changes) then json_type(changes, '$.changes') is not 'array' else 1 end;
