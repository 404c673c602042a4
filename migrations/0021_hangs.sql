-- That an attempt hangs, or did.
ALTER TABLE attempts ADD COLUMN hang_json TEXT;
-- What its workers were at then: so much that it is read only where it is shown.
ALTER TABLE attempts ADD COLUMN hang_stacks_json TEXT;
