CREATE TABLE `seller_domains` (
	`merchant_id` text PRIMARY KEY NOT NULL,
	`domain` text NOT NULL,
	`token` text NOT NULL,
	`status` text NOT NULL,
	`checked_at` integer,
	`verified_at` integer,
	`next_look_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	CONSTRAINT "seller_domains_status" CHECK(status IN ('pending', 'verified', 'failed'))
);
--> statement-breakpoint
CREATE INDEX `seller_domains_due` ON `seller_domains` (`next_look_at`);--> statement-breakpoint
CREATE TABLE `subscription_authorizations` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`product_id` text NOT NULL,
	`slug` text NOT NULL,
	`payment_id` text NOT NULL,
	`membership_id` text,
	`subscriber_wallet` text NOT NULL,
	`customer_ref` text,
	`email` text,
	`terms` text NOT NULL,
	`plan_address` text NOT NULL,
	`subscription_address` text NOT NULL,
	`mint` text NOT NULL,
	`puller` text NOT NULL,
	`recipient_wallet` text NOT NULL,
	`recipient_ata` text NOT NULL,
	`amount` text NOT NULL,
	`period_hours` integer NOT NULL,
	`status` text NOT NULL,
	`started_at` integer,
	`period_starts_at` integer,
	`period_ends_at` integer,
	`paid_through` integer,
	`failures` integer DEFAULT 0 NOT NULL,
	`last_collection` text,
	`cancelled_at` integer,
	`cancel_effective_at` integer,
	`next_attempt_at` integer,
	`next_look_at` integer,
	`ended_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL,
	CONSTRAINT "subscription_authorizations_status" CHECK(status IN ('pending', 'active', 'past_due', 'requires_reapproval', 'cancel_requested', 'cancelled', 'expired'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `subscription_authorizations_payment_id_unique` ON `subscription_authorizations` (`payment_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `subscription_authorizations_standing` ON `subscription_authorizations` (`subscription_address`,`livemode`) WHERE status IN ('active', 'past_due', 'cancel_requested', 'requires_reapproval');--> statement-breakpoint
CREATE INDEX `subscription_authorizations_by_address` ON `subscription_authorizations` (`subscription_address`,`livemode`,`created_at`);--> statement-breakpoint
CREATE INDEX `subscription_authorizations_of_product` ON `subscription_authorizations` (`merchant_id`,`livemode`,`product_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `subscription_authorizations_by_wallet` ON `subscription_authorizations` (`merchant_id`,`livemode`,`subscriber_wallet`,`product_id`);--> statement-breakpoint
CREATE INDEX `subscription_authorizations_by_ref` ON `subscription_authorizations` (`merchant_id`,`livemode`,`customer_ref`,`product_id`) WHERE customer_ref IS NOT NULL;--> statement-breakpoint
CREATE INDEX `subscription_authorizations_due` ON `subscription_authorizations` (`next_look_at`) WHERE next_look_at IS NOT NULL AND livemode = 1;--> statement-breakpoint
CREATE INDEX `sandbox_subscription_authorizations_due` ON `subscription_authorizations` (`next_look_at`) WHERE next_look_at IS NOT NULL AND livemode = 0;--> statement-breakpoint
CREATE INDEX `subscription_authorizations_over` ON `subscription_authorizations` (`ended_at`) WHERE ended_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `subscription_collections` (
	`authorization_id` text NOT NULL,
	`period_starts_at` integer NOT NULL,
	`period_ends_at` integer NOT NULL,
	`payment_id` text NOT NULL,
	`collected_at` integer,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`authorization_id`, `period_starts_at`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `subscription_collections_payment_id_unique` ON `subscription_collections` (`payment_id`);--> statement-breakpoint
CREATE TABLE `subscription_plans` (
	`plan_address` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`product_id` text NOT NULL,
	`plan_id` text NOT NULL,
	`owner_wallet` text NOT NULL,
	`puller` text NOT NULL,
	`mint` text NOT NULL,
	`amount` text NOT NULL,
	`period_hours` integer NOT NULL,
	`published_at` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `subscription_plans_of_product` ON `subscription_plans` (`product_id`,`created_at`);--> statement-breakpoint
ALTER TABLE `archived_payments` ADD `period_ends_at` integer;--> statement-breakpoint
ALTER TABLE `archived_payments` ADD `is_metered` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `ended_sessions` ADD `failure_code` text;--> statement-breakpoint
ALTER TABLE `memberships` ADD `authorization_id` text;--> statement-breakpoint
ALTER TABLE `memberships` ADD `subscription_status` text;--> statement-breakpoint
ALTER TABLE `products` ADD `renewal_mode` text DEFAULT 'ONE_OFF' NOT NULL;--> statement-breakpoint
ALTER TABLE `products` ADD `cancel_url` text;--> statement-breakpoint
CREATE INDEX `payment_sessions_of_merchant` ON `payment_sessions` (`merchant_id`,`expires_at`);