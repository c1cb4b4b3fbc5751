-- name: open_question
select id from questions
where host_id = :host and cause = :cause and closed_at is null
  and (answered_at is null or {field instruction later} = 'true')
order by id limit 1;
