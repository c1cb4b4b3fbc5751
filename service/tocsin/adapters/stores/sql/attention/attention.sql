-- Questions, standing answers and what the user said.

-- Page before host and cause before host before cause; of two about the same the newer one, which replaces the other.
-- name: standing_answer_in_force
select id, instruction, 0 as farness from standing_answers {index standing_answers_by_page} where page_id = :page
union all
select id, instruction, case when scope = 'host-cause' then 1 else 2 end
from standing_answers {index standing_answers_of_host}
where host_id = :host and (scope = 'host' or (scope = 'host-cause' and cause = :cause))
union all
select id, instruction, 3 from standing_answers {index standing_answers_of_cause} where scope = 'cause' and cause = :cause
order by 3, 1 desc limit 1;

-- A question that was answered with `again` waits only for the pages that it has: a failure after it is a new one.
-- name: open_question
select id from questions {index questions_open}
where host_id = :host and cause = :cause and closed_at is null and (answered_at is null or {field instruction later})
order by id limit 1;

-- name: ask
insert into questions (host_id, cause, opened_at, announce_at, during, first_page_id, attempts, pending_change)
values (:host, :cause, :at, :announce_at, :during, :page, :attempts, :pending) returning id;

-- name: carry_verdict
update questions set pending_change = coalesce(pending_change, :pending) where id = :question;

-- name: join
update pages set question_id = :question where id = :page;

-- name: leave
update pages set question_id = null where id = :page;

-- name: close_if_left
update questions set closed_at = :at where id = :question and closed_at is null
  and not exists (select 1 from pages where question_id = :question);

-- name: was_announced
select announced_at is not null from questions where id = :question;

-- name: hold_never
update pages set next_at = null, next_why = :why, rule = null, standing_answer_id = :rule where id = :page;

-- name: hold_standing_answer
update pages set rule = :instruction, standing_answer_id = :rule where id = :page;

-- name: spend_rule
update pages set rule = null, standing_answer_id = null where id = :page;

-- An `until-major` of one page is over with its major change; those of wider scope stay for the others.
-- name: forget_met_standing_answer
delete from standing_answers where scope = 'page' and page_id = :page and id = :rule;

-- The sample page of a question is its first one; if that has left it, the one watched longest.
-- name: question
q.id, q.host_id, h.name, q.cause, q.opened_at, q.announce_at, q.announced_at, q.answered_at, q.closed_at,
q.instruction, q.pages,
(select {array url} from (select url from pages c where c.question_id = q.id order by c.id limit 3) few),
p.id, q.attempts, q.during, q.pending_change, p.last_set_at, p.next_at, p.url, coalesce(g.name, 'main'), p.text
from questions q
join hosts h on h.id = q.host_id
left join pages p on p.id = coalesce(
  (select c.id from pages c where c.id = q.first_page_id and c.question_id = q.id),
  (select min(c.id) from pages c where c.question_id = q.id),
  case when q.closed_at is null then null else q.first_page_id end
)
left join groups g on g.id = p.group_id

-- name: to_announce
select {question}
where q.id in (
  select id from questions {index questions_unasked}
  where announced_at is null and closed_at is null and announce_at <= :now
)
and q.answered_at is null and {ours h}
order by q.id;

-- name: questions
select {question} where (:closed = 1 or q.closed_at is null) and q.id > :after order by q.id limit :limit;

-- name: these
select {question} where q.id in {ids :ids};

-- name: one_question
select {question} where q.id = :question;

-- name: pages_of_question
select id, url, host_id from pages where question_id = :question order by id limit :limit;

-- A step's pages of a question.
-- name: next_of_question
select id, url, host_id from pages where question_id = :question and id > :after order by id limit :limit;

-- name: page_of_question
select id, url, host_id from pages where key = url_key(:url) and url = :url and question_id = :question;

-- name: size_of_question
select pages from questions where id = :question;

-- name: close_empty
update questions set closed_at = :now where closed_at is null
  and not exists (select 1 from pages where question_id = questions.id);

-- name: announce
update questions set announced_at = :now where id = :question and announced_at is null and closed_at is null;

-- name: to_withdraw
select q.id from questions q join hosts h on h.id = q.host_id
where q.closed_at is null and q.announced_at is null and q.answered_at is null and q.cause in {names :causes} and {ours h};

-- name: postpone
update pages set question_id = null, next_at = :retry_at, next_why = 'after our own outage'
where question_id = :question returning host_id;

-- name: close
update questions set closed_at = :now where id = :question and closed_at is null;

-- name: subject
select host_id, cause, closed_at from questions where id = :question;

-- name: record_answer
update questions set answered_at = :now, instruction = :instruction where id = :question;

-- name: covered_by_host
select id from questions where closed_at is null and host_id = :host;

-- name: covered_by_cause
select id from questions where closed_at is null and cause = :cause;

-- name: insert_standing_answer
insert into standing_answers (scope, page_id, host_id, cause, instruction, created_at)
values (:scope, :page, :host, :cause, :instruction, :now) returning id;

-- The standing answers about the same, the newest first: more than one where a replacement was interrupted.
-- name: rule_of_page
select id, instruction from standing_answers {index standing_answers_by_page} where page_id = :page order by id desc;

-- name: rule_of_host
select id, instruction from standing_answers {index standing_answers_of_host}
where host_id = :host and scope = :scope and {same cause :cause} order by id desc;

-- name: rule_of_cause
select id, instruction from standing_answers {index standing_answers_of_cause} where scope = 'cause' and cause = :cause order by id desc;

-- name: never_no_more
update pages set next_at = :at, next_why = 'the standing answer was replaced'
where id = :page and next_at is null and next_why like 'never %';

-- name: delete_standing_answer
delete from standing_answers where id = :rule;

-- name: again
update pages set rule = :instruction, standing_answer_id = null, next_at = :at, next_why = :why, attempts = null
where id = :page;

-- name: standing_answer_row
r.id, r.scope, p.url, h.name, r.cause, r.instruction, r.created_at
from standing_answers r left join pages p on p.id = r.page_id left join hosts h on h.id = r.host_id

-- name: standing_answers
select {standing_answer_row} order by r.id;

-- name: latest_rules
select {standing_answer_row} where r.id < :before order by r.id desc limit :limit;

-- name: one_rule
select {standing_answer_row} where r.id = :rule;

-- name: is_standing_answer
select 1 from standing_answers where id = :rule;

-- A step's pages: those that are released are not found again.
-- name: pages_of_standing_answer
select id, host_id from pages where standing_answer_id = :rule limit :limit;

-- name: count_pages_of_standing_answer
select count(*) from pages where standing_answer_id = :rule;

-- name: release_page
update pages set rule = null, standing_answer_id = null, next_at = :at, next_why = 'the standing answer was lifted' where id = :page;
