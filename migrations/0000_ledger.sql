CREATE TABLE `accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`admission_id` text NOT NULL,
	`email` text,
	`email_key` text,
	`wallet_address` text,
	`wallet_key` text,
	`password_hash` text,
	`display_name` text NOT NULL,
	`plan` text NOT NULL,
	`status` text NOT NULL,
	`is_staff` integer NOT NULL,
	`token_version` integer NOT NULL,
	`email_verified` integer NOT NULL,
	`timezone` text NOT NULL,
	`notification_prefs` text NOT NULL,
	`merchant_settings` text NOT NULL,
	`created_at` integer NOT NULL,
	`deleted_at` integer,
	`version` integer NOT NULL,
	CONSTRAINT "accounts_status" CHECK(status IN ('active', 'suspended', 'deleted'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_admission_id_unique` ON `accounts` (`admission_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_email_key_unique` ON `accounts` (`email_key`);--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_wallet_key_unique` ON `accounts` (`wallet_key`);--> statement-breakpoint
CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`name` text NOT NULL,
	`key_hash` text NOT NULL,
	`key_prefix` text NOT NULL,
	`permissions` text NOT NULL,
	`livemode` integer NOT NULL,
	`created_at` integer NOT NULL,
	`revoked_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_key_hash_unique` ON `api_keys` (`key_hash`);--> statement-breakpoint
CREATE INDEX `api_keys_by_merchant` ON `api_keys` (`merchant_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `login_nonces` (
	`nonce` text PRIMARY KEY NOT NULL,
	`wallet_address` text NOT NULL,
	`message` text NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `login_nonces_expiring` ON `login_nonces` (`expires_at`);--> statement-breakpoint
CREATE TABLE `cursors` (
	`name` text PRIMARY KEY NOT NULL,
	`until` text,
	`walk_top` text,
	`walk_before` text,
	`walk_started_at` integer,
	`passed_at` integer NOT NULL,
	`version` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `memberships` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`product_id` text NOT NULL,
	`customer_key` text NOT NULL,
	`wallet_address` text,
	`customer_ref` text,
	`email` text,
	`status` text NOT NULL,
	`paid_through` integer,
	`grace_until` integer,
	`cancelled_at` integer,
	`last_payment_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL,
	CONSTRAINT "memberships_status" CHECK(status IN ('pending', 'active', 'grace', 'expired', 'cancelled'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `memberships_by_customer` ON `memberships` (`merchant_id`,`livemode`,`product_id`,`customer_key`);--> statement-breakpoint
CREATE INDEX `memberships_ending` ON `memberships` (`status`,`paid_through`);--> statement-breakpoint
CREATE INDEX `memberships_by_wallet` ON `memberships` (`merchant_id`,`livemode`,`wallet_address`);--> statement-breakpoint
CREATE INDEX `memberships_by_ref` ON `memberships` (`merchant_id`,`livemode`,`customer_ref`);--> statement-breakpoint
CREATE INDEX `memberships_by_email` ON `memberships` (`merchant_id`,`livemode`,`email`);--> statement-breakpoint
CREATE TABLE `payment_candidates` (
	`payment_id` text NOT NULL,
	`tx_signature` text NOT NULL,
	`origin` text NOT NULL,
	`attempt` integer NOT NULL,
	`next_check_at` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `payment_candidates_once` ON `payment_candidates` (`payment_id`,`tx_signature`);--> statement-breakpoint
CREATE INDEX `payment_candidates_due` ON `payment_candidates` (`next_check_at`);--> statement-breakpoint
CREATE TABLE `payments` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`product_id` text NOT NULL,
	`slug` text NOT NULL,
	`status` text NOT NULL,
	`failure_code` text,
	`nonce` text NOT NULL,
	`reference` text NOT NULL,
	`asset` text NOT NULL,
	`mint` text NOT NULL,
	`price_amount` text NOT NULL,
	`recipient_wallet` text NOT NULL,
	`recipient_ata` text NOT NULL,
	`fee_amount` text,
	`fee_wallet` text,
	`fee_ata` text,
	`fee_owed_amount` text,
	`overpaid_amount` text,
	`terms` text NOT NULL,
	`expected_wallet` text,
	`customer_ref` text,
	`email` text,
	`payer_wallet` text,
	`tx_signature` text,
	`slot` integer,
	`block_time` integer,
	`membership_id` text,
	`receipt_id` text,
	`recovers_payment_id` text,
	`expires_at` integer NOT NULL,
	`confirmed_at` integer,
	`finalized_at` integer,
	`orphan_suspected_at` integer,
	`orphaned_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL,
	CONSTRAINT "payments_status" CHECK(status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION', 'CONFIRMED', 'FAILED'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `payments_by_nonce` ON `payments` (`nonce`) WHERE recovers_payment_id IS NULL;--> statement-breakpoint
CREATE INDEX `payments_by_merchant` ON `payments` (`merchant_id`,`livemode`,`created_at`);--> statement-breakpoint
CREATE INDEX `payments_expiring` ON `payments` (`expires_at`) WHERE status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION');--> statement-breakpoint
CREATE INDEX `payments_unfinalized` ON `payments` (`confirmed_at`) WHERE status = 'CONFIRMED' AND finalized_at IS NULL AND orphaned_at IS NULL;--> statement-breakpoint
CREATE TABLE `products` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`slug` text NOT NULL,
	`external_product_id` text,
	`name` text NOT NULL,
	`description` text,
	`product_type` text NOT NULL,
	`status` text NOT NULL,
	`asset` text NOT NULL,
	`price_amount` text NOT NULL,
	`billing_model` text NOT NULL,
	`access_period_days` integer,
	`usage_units` integer,
	`unit_name` text,
	`payout_wallet` text,
	`grace_hours` integer NOT NULL,
	`session_seconds` integer,
	`success_url` text,
	`metadata` text NOT NULL,
	`live_mode_confirmed` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL,
	CONSTRAINT "products_status" CHECK(status IN ('active', 'archived'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `products_slug_unique` ON `products` (`slug`);--> statement-breakpoint
CREATE UNIQUE INDEX `products_by_external_id` ON `products` (`merchant_id`,`livemode`,`external_product_id`);--> statement-breakpoint
CREATE INDEX `products_by_merchant` ON `products` (`merchant_id`,`livemode`,`created_at`);--> statement-breakpoint
CREATE TABLE `receipts` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`product_id` text NOT NULL,
	`payment_id` text NOT NULL,
	`tx_signature` text NOT NULL,
	`document` text NOT NULL,
	`sha256` text NOT NULL,
	`signature` text NOT NULL,
	`key_id` text NOT NULL,
	`payer` text NOT NULL,
	`search_text` text NOT NULL,
	`link_seq` integer,
	`link_prev_hash` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `receipts_payment_id_unique` ON `receipts` (`payment_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `receipts_tx_signature_unique` ON `receipts` (`tx_signature`);--> statement-breakpoint
CREATE INDEX `receipts_by_merchant` ON `receipts` (`merchant_id`,`livemode`,`created_at`);--> statement-breakpoint
CREATE UNIQUE INDEX `receipts_chain` ON `receipts` (`merchant_id`,`livemode`,`link_seq`);--> statement-breakpoint
CREATE INDEX `receipts_unlinked` ON `receipts` (`created_at`) WHERE link_seq IS NULL;--> statement-breakpoint
CREATE TABLE `tx_claims` (
	`tx_signature` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`subject_id` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tx_claims_subject_id_unique` ON `tx_claims` (`subject_id`);--> statement-breakpoint
CREATE TABLE `unmatched_payments` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`payment_id` text NOT NULL,
	`tx_signature` text NOT NULL,
	`asset` text NOT NULL,
	`amount` text NOT NULL,
	`fee_paid_amount` text NOT NULL,
	`payer_wallet` text NOT NULL,
	`slot` integer NOT NULL,
	`block_time` integer NOT NULL,
	`reason` text NOT NULL,
	`status` text NOT NULL,
	`recovered_payment_id` text,
	`created_at` integer NOT NULL,
	CONSTRAINT "unmatched_payments_status" CHECK(status IN ('open', 'accepted'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `unmatched_payments_tx_signature_unique` ON `unmatched_payments` (`tx_signature`);--> statement-breakpoint
CREATE INDEX `unmatched_by_payment` ON `unmatched_payments` (`payment_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `claims` (
	`scope` text NOT NULL,
	`key` text NOT NULL,
	`fingerprint` text NOT NULL,
	`status` integer,
	`body` text,
	`fence` integer NOT NULL,
	`lease_until` integer,
	`expires_at` integer NOT NULL,
	PRIMARY KEY(`scope`, `key`)
);
--> statement-breakpoint
CREATE INDEX `claims_expiring` ON `claims` (`expires_at`);--> statement-breakpoint
CREATE TABLE `events` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`subject_type` text NOT NULL,
	`subject_id` text NOT NULL,
	`subject_version` integer NOT NULL,
	`type` text NOT NULL,
	`data` text NOT NULL,
	`product_id` text,
	`payment_id` text,
	`membership_id` text,
	`request_id` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `events_id_unique` ON `events` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `events_once` ON `events` (`subject_id`,`subject_version`);--> statement-breakpoint
CREATE INDEX `events_by_merchant` ON `events` (`merchant_id`,`livemode`,`seq`);--> statement-breakpoint
CREATE INDEX `events_by_payment` ON `events` (`payment_id`,`seq`);--> statement-breakpoint
CREATE INDEX `events_by_membership` ON `events` (`membership_id`,`seq`);--> statement-breakpoint
CREATE TABLE `guard` (
	`veto` integer NOT NULL
);
