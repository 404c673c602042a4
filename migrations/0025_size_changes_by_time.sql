-- What was sized anew of a person's tasks lately, whichever tasks they are.
CREATE INDEX size_changes_by_time ON size_changes (changed_at);
