CREATE TABLE `communities` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`provider` text NOT NULL,
	`code_hash` text NOT NULL,
	`native_id` text,
	`expires_at` integer,
	`claimed_at` integer,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `communities_code_hash_unique` ON `communities` (`code_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `communities_by_native_id` ON `communities` (`provider`,`native_id`) WHERE native_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `communities_by_account` ON `communities` (`account_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `communities_ending` ON `communities` (`expires_at`) WHERE expires_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `placements` (
	`membership_id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`customer_ref` text,
	`provider` text NOT NULL,
	`status` text NOT NULL,
	`work` text NOT NULL,
	`attempts` integer NOT NULL,
	`standing` text,
	`standing_key` text,
	`invite_url` text,
	`last_error` text,
	`delivered_at` integer,
	`payment_id` text NOT NULL,
	`next_attempt_at` integer,
	`lease_until` integer NOT NULL,
	`created_at` integer NOT NULL,
	`version` integer NOT NULL,
	CONSTRAINT "placements_status" CHECK(status IN ('pending', 'delivered', 'failed', 'revoked'))
);
--> statement-breakpoint
CREATE INDEX `placements_due` ON `placements` (`provider`,`next_attempt_at`) WHERE next_attempt_at IS NOT NULL AND livemode = 1;--> statement-breakpoint
CREATE INDEX `sandbox_placements_due` ON `placements` (`next_attempt_at`) WHERE next_attempt_at IS NOT NULL AND livemode = 0;--> statement-breakpoint
CREATE INDEX `placements_standing` ON `placements` (`standing_key`) WHERE standing_key IS NOT NULL;--> statement-breakpoint
CREATE INDEX `placements_by_merchant` ON `placements` (`merchant_id`,`livemode`,`customer_ref`);--> statement-breakpoint
CREATE TABLE `platform_looks` (
	`provider` text PRIMARY KEY NOT NULL,
	`ok` integer NOT NULL,
	`detail` text NOT NULL,
	`bot_username` text,
	`latency_ms` integer NOT NULL,
	`looked_at` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `memberships` ADD `deliver_to` text;--> statement-breakpoint
ALTER TABLE `memberships` ADD `delivery` text;--> statement-breakpoint
ALTER TABLE `products` ADD `delivery` text;