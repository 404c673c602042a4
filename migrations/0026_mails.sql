-- Whether a person gets mail about their own runs. Such a mail is a row of `alert_deliveries` whose channel is
-- the person's id: ids of people and of channels are of one kind, and none is both.
ALTER TABLE users ADD COLUMN mails BIGINT NOT NULL DEFAULT 1;
