-- name: next_ids
select nextval('states_id_seq') from generate_series(1, :count);
