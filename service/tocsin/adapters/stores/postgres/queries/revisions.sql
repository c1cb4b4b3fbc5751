-- name: turn
select position from positions for update;
