-- ASCII letters are told from no others here, as in SQLite.

-- name: may_have
(url ilike :like or given ilike :like or text ilike :like or strpos(url, '%') > 0
  or (:is_wide = 1 and (given is not null or text is not null)))
