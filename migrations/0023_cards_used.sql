-- For how long the cards of an attempt worked, in microseconds of one card; null where nobody measured it.
ALTER TABLE attempts ADD COLUMN used_card_us BIGINT;

-- Thousandths of a card times seconds, as `gpu`: at work, and held by attempts of which that was measured. What had ended
-- before was not.
ALTER TABLE usage_days ADD COLUMN used_gpu BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN measured_gpu BIGINT NOT NULL DEFAULT 0;
