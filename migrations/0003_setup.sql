CREATE TABLE `access_apps` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`name` text NOT NULL,
	`homepage_url` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `access_apps_by_merchant` ON `access_apps` (`merchant_id`,`livemode`,`created_at`);--> statement-breakpoint
CREATE TABLE `activations` (
	`payment_id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`plan` text NOT NULL,
	`resulting_plan` text NOT NULL,
	`paid_through` integer NOT NULL,
	`receipt_id` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `activations_by_account` ON `activations` (`account_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `payment_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`product_id` text NOT NULL,
	`asset` text NOT NULL,
	`price_amount` text NOT NULL,
	`customer_ref` text,
	`success_url` text,
	`metadata` text NOT NULL,
	`payment_id` text,
	`expires_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`version` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `payment_sessions_by_merchant` ON `payment_sessions` (`merchant_id`,`livemode`,`created_at`);--> statement-breakpoint
CREATE TABLE `setup_intents` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`secret_hash` text NOT NULL,
	`status` text NOT NULL,
	`agent_name` text NOT NULL,
	`operator_contact` text,
	`intended_use` text,
	`plan` text,
	`manifest` text,
	`evaluation` text,
	`spend_per_payment` text,
	`spend_per_day` text,
	`sandbox_key_id` text NOT NULL,
	`live_key_id` text,
	`approved_at` integer,
	`expires_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL,
	CONSTRAINT "setup_intents_status" CHECK(status IN ('created', 'changes_required', 'ready', 'approved', 'expired'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `setup_intents_account_id_unique` ON `setup_intents` (`account_id`);--> statement-breakpoint
CREATE INDEX `setup_intents_expiring` ON `setup_intents` (`expires_at`) WHERE status <> 'expired' AND expires_at IS NOT NULL;--> statement-breakpoint
ALTER TABLE `accounts` ADD `plan_through` integer;--> statement-breakpoint
ALTER TABLE `payments` ADD `payment_session_id` text;--> statement-breakpoint
ALTER TABLE `products` ADD `access_app_id` text;--> statement-breakpoint
ALTER TABLE `settlements` ADD `setup_intent_id` text;--> statement-breakpoint
ALTER TABLE `settlements` ADD `answered_by` text;--> statement-breakpoint
CREATE INDEX `settlements_by_intent` ON `settlements` (`setup_intent_id`,`created_at`) WHERE setup_intent_id IS NOT NULL;