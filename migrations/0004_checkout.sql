CREATE TABLE `handoffs` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`product_id` text NOT NULL,
	`customer_ref` text,
	`email` text,
	`wallet_address` text,
	`success_url` text,
	`metadata` text,
	`payment_id` text,
	`expires_at` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `handoffs_ending` ON `handoffs` (`expires_at`);--> statement-breakpoint
CREATE TABLE `identity_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`product_id` text NOT NULL,
	`provider` text NOT NULL,
	`provider_user_id` text,
	`username` text,
	`completed_at` integer,
	`expires_at` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `identity_sessions_ending` ON `identity_sessions` (`expires_at`);--> statement-breakpoint
ALTER TABLE `products` ADD `accepted_assets` text;--> statement-breakpoint
ALTER TABLE `products` ADD `requires_identity` text;--> statement-breakpoint
ALTER TABLE `payment_sessions` ADD `rail_id` text;