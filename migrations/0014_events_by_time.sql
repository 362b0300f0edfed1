ALTER TABLE `accounts` ADD `erased_at` integer;--> statement-breakpoint
CREATE INDEX `accounts_erasing` ON `accounts` (`deleted_at`) WHERE status = 'deleted' AND erased_at IS NULL;--> statement-breakpoint
CREATE INDEX `events_by_time` ON `events` (`merchant_id`,`livemode`,`created_at`);--> statement-breakpoint
CREATE INDEX `handoffs_waiting` ON `handoffs` (`merchant_id`) WHERE payment_id IS NULL;