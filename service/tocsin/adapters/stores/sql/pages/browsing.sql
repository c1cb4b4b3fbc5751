-- What people look at: lists of pages, the records of one page, groups.

-- Each list of pages as an index by group: its condition, which its index has too.
-- name: in_all
{index pages_of_group} where p.group_id = :group

-- name: in_problems
{index pages_in_trouble} where p.group_id = :group and p.outcome between 5 and 8

-- name: in_asked
{index pages_asked} where p.group_id = :group and p.question_id is not null

-- name: in_new
{index pages_new} where p.group_id = :group and p.outcome is null

-- name: in_declaring
{index pages_declaring} where p.group_id = :group and p.declares = 1

-- name: in_paused
{index pages_paused} where p.group_id = :group and p.paused = 1

-- name: in_off
{index pages_off} where p.group_id = :group and {off p}

-- name: in_changed
{index pages_changed} where p.group_id = :group and p.last_changed_at is not null

-- What follows `in_VIEW`: the pages of a group before or after a place.
-- name: before
and p.id < :before order by p.id desc limit :limit

-- name: after
and p.id > :after and p.id <= :last order by p.id limit :limit

-- Of those that have changed the latest change first.
-- name: before_change
and (p.last_changed_at, p.id) < (:at, :before) order by p.last_changed_at desc, p.id desc limit :limit

-- name: after_change
and (p.last_changed_at, p.id) > (:at, :after) order by p.last_changed_at, p.id limit :limit

-- name: groups_with_pages
select id from groups where pages > 0;

-- name: group_named
select id, pages from groups where name = :name;

-- name: all_before
select p.id from pages p where p.id < :before order by p.id desc limit :limit;

-- name: all_after
select p.id from pages p where p.id > :after and p.id <= :last order by p.id limit :limit;

-- name: host_before
select p.id from pages p {index pages_of_host}
where p.host_id = :host and p.id < :before order by p.id desc limit :limit;

-- name: host_after
select p.id from pages p {index pages_of_host}
where p.host_id = :host and p.id > :after and p.id <= :last order by p.id limit :limit;

-- name: host_named
select id from hosts where name = :host;

-- name: count_all
select coalesce(sum(pages), 0) from groups;

-- name: revision_of_page
select coalesce(e.revision, 0) from pages p left join edits e on e.page_id = p.id where p.id = :page;

-- name: group_rows
select name, pages, settings, revision from groups order by name;

-- name: revision_for_all
select settings_revision from store;

-- The page's latest run is not in the index of earlier ones: its last storing is in the page's row.
-- name: states
select s.id, s.first_at, coalesce(s.last_at, p.stored_at), case when s.last_at is null then p.storings else s.storings end,
  s.in_table, s.fields
from pages p {then states s} on s.id in (
  select p.state_id union all
  select id from (
    select o.id from states o {index states_before}
    where o.page_id = p.id and o.last_at is not null and o.id < :before order by o.id desc limit :limit
  ) few
)
where p.id = :page and s.id < :before order by s.id desc limit :limit;

-- name: state
select s.id, s.first_at, coalesce(s.last_at, p.stored_at), case when s.last_at is null then p.storings else s.storings end,
  s.in_table, s.fields
from states s {then pages p} on p.id = s.page_id where s.id = :state and s.page_id = :page;

-- name: verdict_row
v.id, v.page_id, v.at, v.outcome, v.reason, v.rule, v.basis, v.data, v.state_id, v.alert_id, v.storm_id

-- name: verdicts
select {verdict_row} from verdicts v {index verdicts_by_page}
where v.page_id = :page and v.id < :before order by v.id desc limit :limit;

-- name: verdict
select {verdict_row} from verdicts v where v.id = :verdict;

-- name: renderings
select r.id, r.started_at, r.rendering, c.changes
from renderings r {index renderings_by_page} left join item_changes c on c.id = r.id
where r.page_id = :page and r.id < :before order by r.id desc limit :limit;
