CREATE INDEX `events_by_time` ON `events` (`merchant_id`,`livemode`,`created_at`);
