-- At which pace the program of an attempt reports steps; null as long as it has reported none.
ALTER TABLE attempts ADD COLUMN pace_json TEXT;
