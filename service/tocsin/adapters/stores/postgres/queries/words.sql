-- ASCII letters are told from no others here, as in SQLite.

-- name: may_have
(p.url ilike :like or p.given ilike :like or p.text ilike :like or y.title ilike :like or strpos(p.url, '%') > 0
  or (:is_wide = 1 and (p.given is not null or p.text is not null or y.title is not null)))
