-- What an attempt had until it got workers or gave some back, a JSON list; null where it never did, as nearly all.
ALTER TABLE attempts ADD COLUMN earlier_json TEXT;
