ALTER TABLE `accounts` ADD `erased_at` integer;--> statement-breakpoint
CREATE INDEX `accounts_erasing` ON `accounts` (`deleted_at`) WHERE status = 'deleted' AND erased_at IS NULL;--> statement-breakpoint
CREATE INDEX `settlements_paid` ON `settlements` (`merchant_id`,`payer_wallet`) WHERE status = 'settled';--> statement-breakpoint
CREATE INDEX `handoffs_waiting` ON `handoffs` (`merchant_id`) WHERE payment_id IS NULL;--> statement-breakpoint
ALTER TABLE `products` ADD `trusted_customer_ref` integer DEFAULT false NOT NULL;
