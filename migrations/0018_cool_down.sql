-- Until when an instance that had to give back borrows nothing.
ALTER TABLE instances ADD COLUMN cool_until BIGINT;
