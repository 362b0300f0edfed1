CREATE TABLE `entitlements` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`product_id` text NOT NULL,
	`wallet_address` text,
	`customer_ref` text,
	`status` text NOT NULL,
	`granted_units` integer,
	`used_units` integer NOT NULL,
	`remaining` integer,
	`paid_through` integer,
	`version` integer NOT NULL,
	`updated_at` integer NOT NULL,
	CONSTRAINT "entitlements_status" CHECK(status IN ('active', 'exhausted', 'expired', 'revoked'))
);
--> statement-breakpoint
CREATE INDEX `entitlements_by_merchant` ON `entitlements` (`merchant_id`,`livemode`,`id`);--> statement-breakpoint
CREATE INDEX `entitlements_by_wallet` ON `entitlements` (`merchant_id`,`livemode`,`wallet_address`);--> statement-breakpoint
CREATE INDEX `entitlements_by_ref` ON `entitlements` (`merchant_id`,`livemode`,`customer_ref`);--> statement-breakpoint
CREATE TABLE `rail_settings` (
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`rail_id` text NOT NULL,
	`enabled` integer NOT NULL,
	`payout_wallet` text,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL,
	PRIMARY KEY(`merchant_id`, `livemode`, `rail_id`)
);
--> statement-breakpoint
CREATE TABLE `settlements` (
	`payment_id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`purpose` text NOT NULL,
	`product_id` text,
	`customer_wallet` text,
	`customer_ref` text,
	`message_hash` text NOT NULL,
	`tx_signature` text NOT NULL,
	`wire` text NOT NULL,
	`asset` text NOT NULL,
	`mint` text NOT NULL,
	`amount` text NOT NULL,
	`payer_wallet` text NOT NULL,
	`recipient_wallet` text NOT NULL,
	`recipient_ata` text NOT NULL,
	`nonce` text NOT NULL,
	`terms` text NOT NULL,
	`last_valid_block_height` integer NOT NULL,
	`status` text NOT NULL,
	`failure_reason` text,
	`doubted_at` integer,
	`next_check_at` integer,
	`created_at` integer NOT NULL,
	CONSTRAINT "settlements_status" CHECK(status IN ('pending', 'settled', 'failed'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `settlements_message_hash_unique` ON `settlements` (`message_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `settlements_tx_signature_unique` ON `settlements` (`tx_signature`);--> statement-breakpoint
CREATE INDEX `settlements_due` ON `settlements` (`next_check_at`) WHERE status <> 'settled' AND next_check_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `settlements_by_payer` ON `settlements` (`payer_wallet`,`created_at`) WHERE status <> 'settled';--> statement-breakpoint
DROP INDEX `payments_by_nonce`;--> statement-breakpoint
ALTER TABLE `payments` ADD `customer_wallet` text;--> statement-breakpoint
CREATE UNIQUE INDEX `payments_by_nonce` ON `payments` (`nonce`) WHERE recovers_payment_id IS NULL AND reference <> '';--> statement-breakpoint
ALTER TABLE `products` ADD `allowed_rails` text;--> statement-breakpoint
ALTER TABLE `products` ADD `default_rail` text;--> statement-breakpoint
ALTER TABLE `tx_claims` ADD `message_hash` text;--> statement-breakpoint
CREATE UNIQUE INDEX `tx_claims_message_hash_unique` ON `tx_claims` (`message_hash`);