CREATE TABLE `archived_stories` (
	`story_id` blob NOT NULL,
	`archive_id` integer NOT NULL,
	PRIMARY KEY(`story_id`, `archive_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `archived_types` (
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`type` text NOT NULL,
	`archive_id` integer NOT NULL,
	`events` integer NOT NULL,
	PRIMARY KEY(`merchant_id`, `livemode`, `type`, `archive_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `archives` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`key` text NOT NULL,
	`first_event_id` text NOT NULL,
	`last_event_id` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `archives_by_event` ON `archives` (`merchant_id`,`livemode`,`last_event_id`);--> statement-breakpoint
DROP INDEX `receipts_tx_signature_unique`;--> statement-breakpoint
ALTER TABLE `receipts` ADD `archive_id` integer;--> statement-breakpoint
ALTER TABLE `receipts` ADD `line_at` integer;--> statement-breakpoint
ALTER TABLE `receipts` ADD `line_length` integer;--> statement-breakpoint
DROP INDEX `memberships_by_wallet`;--> statement-breakpoint
DROP INDEX `memberships_by_ref`;--> statement-breakpoint
DROP INDEX `memberships_by_email`;--> statement-breakpoint
CREATE INDEX `memberships_by_wallet` ON `memberships` (`merchant_id`,`livemode`,`wallet_address`) WHERE wallet_address IS NOT NULL;--> statement-breakpoint
CREATE INDEX `memberships_by_ref` ON `memberships` (`merchant_id`,`livemode`,`customer_ref`) WHERE customer_ref IS NOT NULL;--> statement-breakpoint
CREATE INDEX `memberships_by_email` ON `memberships` (`merchant_id`,`livemode`,`email`) WHERE email IS NOT NULL;--> statement-breakpoint
DROP INDEX `entitlements_by_wallet`;--> statement-breakpoint
DROP INDEX `entitlements_by_ref`;--> statement-breakpoint
CREATE INDEX `entitlements_by_wallet` ON `entitlements` (`merchant_id`,`livemode`,`wallet_address`) WHERE wallet_address IS NOT NULL;--> statement-breakpoint
CREATE INDEX `entitlements_by_ref` ON `entitlements` (`merchant_id`,`livemode`,`customer_ref`) WHERE customer_ref IS NOT NULL;
