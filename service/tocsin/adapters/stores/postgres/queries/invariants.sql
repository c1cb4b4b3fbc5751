-- name: item_changes_readable
select id, page_id from item_changes where json_typeof(readable_json(changes) -> 'changes') is distinct from 'array';
