-- The attempt, of a task of another run, that a run is: its key.
ALTER TABLE runs ADD COLUMN parent TEXT;
