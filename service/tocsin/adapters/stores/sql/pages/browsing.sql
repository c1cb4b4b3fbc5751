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

-- name: in_recent
{index pages_changed} where p.group_id = :group and p.last_changed_at >= :since

-- Pages that never changed follow.
-- name: in_quiet
{index pages_changed} where p.group_id = :group and p.last_changed_at < :since

-- What a list is sorted by where it has no index for that.
-- name: by_changed_at
p.last_changed_at

-- name: by_next_at
case when p.paused = 0 then p.next_at end

-- name: by_host
(select h.name from hosts h where h.id = p.host_id)

-- name: by_title
(select {title_key y} from summaries y where y.page_id = p.id)

-- Pages and whether they are to be listed, a fixed number at a time.
-- name: never_changed
p.last_changed_at is null

-- name: is_untitled
not exists (select 1 from summaries y where y.page_id = p.id and y.title is not null)

-- name: is_quiet
coalesce(p.last_changed_at, -1) < :since

-- name: titles_after
select {title_key y}, y.page_id from summaries y {index summaries_by_title}
where y.title is not null and {title_key y} >= :key and ({title_key y} > :key or y.page_id > :after)
order by {title_key y}, y.page_id limit :limit;

-- name: hosts_from
select id, name from hosts where name >= :name and empty = 0 order by name limit :limit;

-- name: page_after
select id, added_at from pages where id > :after order by id limit 1;

-- Pages that are added last and have not changed since.
-- name: added_since
select count(*) from (select 1 from pages p where p.id > :after and {is_quiet} limit :limit) few;

-- name: added_since_to_group
select count(*) from (
  select 1 from pages p {index pages_of_group} where p.group_id = :group and p.id > :after and {is_quiet} limit :limit
) few;

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

-- name: revision_of_group
select revision from groups where name = :name;

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

-- name: change_marks
select v.at, v.outcome, v.basis from verdicts v {index verdicts_by_page}
where v.page_id = :page and v.at >= :since and v.outcome in ('minor', 'major') order by v.id desc limit :limit;

-- name: verdict
select {verdict_row} from verdicts v where v.id = :verdict;

-- name: renderings
select r.id, r.started_at, r.rendering, c.changes
from renderings r {index renderings_by_page} left join item_changes c on c.id = r.id
where r.page_id = :page and r.id < :before order by r.id desc limit :limit;
