-- Copies that pages name, and those that are offered for a page.

-- name: forget
delete from copies where page_id = :page;

-- name: remember
insert into copies (page_id, target, url, datetime, made_at, rel, kind, seen_at)
values (:page, :target, :url, :datetime, :made_at, :rel, :kind, :at)
on conflict do nothing;

-- Newest first; those without a date come last.
-- name: of_page
select c.target, c.url, c.datetime, c.rel, c.kind, p.url
from copies c {index copies_by_target} join pages p on p.id = c.page_id
where c.target = :url and c.url <> c.target
order by c.made_at desc nulls last, c.url limit :limit;

-- The sample page of the question first, as its alert and the list show it; then at most a hundred others.
-- name: of_question
select c.target, c.url, c.datetime, c.rel, c.kind, p.url
from pages q
{then copies c} {index copies_by_target} on c.target = q.url and c.url <> c.target
join pages p on p.id = c.page_id
where q.question_id = :question and q.id in (
  select :first
  union
  select id from (
    select id from pages {index pages_asked_about} where question_id = :question order by id limit 100
  ) few
)
order by q.id <> :first, q.id, c.made_at desc nulls last, c.url limit :limit;
