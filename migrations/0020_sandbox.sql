CREATE TABLE `sandbox_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`scenario` text NOT NULL,
	`seed` text NOT NULL,
	`status` text NOT NULL,
	`options` text NOT NULL,
	`product_id` text,
	`endpoint_id` text,
	`advanced_ms` integer NOT NULL,
	`advancing_to_ms` integer NOT NULL,
	`next_step` integer NOT NULL,
	`waits` integer NOT NULL,
	`notes` text NOT NULL,
	`steps` text NOT NULL,
	`event_seq` integer NOT NULL,
	`moved_at` integer NOT NULL,
	`ended_at` integer,
	`created_at` integer NOT NULL,
	`version` integer NOT NULL,
	CONSTRAINT "sandbox_sessions_status" CHECK(status IN ('running', 'completed', 'failed'))
);
--> statement-breakpoint
CREATE INDEX `sandbox_sessions_by_merchant` ON `sandbox_sessions` (`merchant_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `sandbox_sessions_running` ON `sandbox_sessions` (`moved_at`) WHERE status = 'running';--> statement-breakpoint
CREATE INDEX `sandbox_sessions_ended` ON `sandbox_sessions` (`ended_at`) WHERE ended_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `sandbox_transactions` (
	`merchant_id` text NOT NULL,
	`session_id` text NOT NULL,
	`message_hash` text NOT NULL,
	`fate` text NOT NULL,
	`tx_signature` text,
	`wire` text,
	`sent_at` integer,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`merchant_id`, `message_hash`)
);
--> statement-breakpoint
CREATE INDEX `sandbox_transactions_by_signature` ON `sandbox_transactions` (`merchant_id`,`tx_signature`);--> statement-breakpoint
CREATE INDEX `sandbox_transactions_by_session` ON `sandbox_transactions` (`session_id`,`created_at`);--> statement-breakpoint
DROP INDEX `unmatched_payments_tx_signature_unique`;--> statement-breakpoint
DROP INDEX `unmatched_due`;--> statement-breakpoint
CREATE UNIQUE INDEX `unmatched_by_signature` ON `unmatched_payments` (`tx_signature`,`livemode`);--> statement-breakpoint
CREATE INDEX `sandbox_unmatched_due` ON `unmatched_payments` (`next_look_at`) WHERE next_look_at IS NOT NULL AND livemode = 0;--> statement-breakpoint
CREATE INDEX `unmatched_due` ON `unmatched_payments` (`next_look_at`) WHERE next_look_at IS NOT NULL AND livemode = 1;--> statement-breakpoint
DROP INDEX `settlements_message_hash_unique`;--> statement-breakpoint
DROP INDEX `settlements_tx_signature_unique`;--> statement-breakpoint
DROP INDEX `settlements_due`;--> statement-breakpoint
CREATE UNIQUE INDEX `settlements_by_message` ON `settlements` (`message_hash`,`livemode`);--> statement-breakpoint
CREATE UNIQUE INDEX `settlements_by_signature` ON `settlements` (`tx_signature`,`livemode`);--> statement-breakpoint
CREATE INDEX `sandbox_settlements_due` ON `settlements` (`next_check_at`) WHERE status <> 'settled' AND next_check_at IS NOT NULL AND livemode = 0;--> statement-breakpoint
CREATE INDEX `settlements_due` ON `settlements` (`next_check_at`) WHERE status <> 'settled' AND next_check_at IS NOT NULL AND livemode = 1;--> statement-breakpoint
DROP INDEX `memberships_ending`;--> statement-breakpoint
DROP INDEX `memberships_in_grace`;--> statement-breakpoint
CREATE INDEX `sandbox_memberships_ending` ON `memberships` (`paid_through`) WHERE status = 'active' AND livemode = 0;--> statement-breakpoint
CREATE INDEX `sandbox_memberships_in_grace` ON `memberships` (`grace_until`) WHERE status = 'grace' AND livemode = 0;--> statement-breakpoint
CREATE INDEX `memberships_ending` ON `memberships` (`paid_through`) WHERE status = 'active' AND livemode = 1;--> statement-breakpoint
CREATE INDEX `memberships_in_grace` ON `memberships` (`grace_until`) WHERE status = 'grace' AND livemode = 1;--> statement-breakpoint
DROP INDEX `payments_expiring`;--> statement-breakpoint
DROP INDEX `payments_unfinalized`;--> statement-breakpoint
CREATE INDEX `sandbox_payments_expiring` ON `payments` (`expires_at`) WHERE status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION') AND livemode = 0;--> statement-breakpoint
CREATE INDEX `payments_expiring` ON `payments` (`expires_at`) WHERE status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION') AND livemode = 1;--> statement-breakpoint
CREATE INDEX `payments_unfinalized` ON `payments` (`confirmed_at`) WHERE status = 'CONFIRMED' AND finalized_at IS NULL AND orphaned_at IS NULL AND livemode = 1;--> statement-breakpoint
DROP INDEX `products_by_merchant`;--> statement-breakpoint
ALTER TABLE `products` ADD `sandbox_session_id` text;--> statement-breakpoint
CREATE INDEX `products_of_session` ON `products` (`sandbox_session_id`) WHERE sandbox_session_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `products_by_merchant` ON `products` (`merchant_id`,`livemode`,`sandbox_session_id`,`created_at`);--> statement-breakpoint
DROP INDEX `tx_claims_due`;--> statement-breakpoint
CREATE INDEX `sandbox_tx_claims_due` ON `tx_claims` (`next_look_at`) WHERE next_look_at IS NOT NULL AND livemode = 0;--> statement-breakpoint
CREATE INDEX `tx_claims_due` ON `tx_claims` (`next_look_at`) WHERE next_look_at IS NOT NULL AND livemode = 1;--> statement-breakpoint
DROP INDEX `payment_candidates_due`;--> statement-breakpoint
ALTER TABLE `payment_candidates` ADD `livemode` integer DEFAULT true NOT NULL;--> statement-breakpoint
CREATE INDEX `sandbox_candidates_due` ON `payment_candidates` (`origin`,`next_check_at`) WHERE livemode = 0;--> statement-breakpoint
CREATE INDEX `payment_candidates_due` ON `payment_candidates` (`origin`,`next_check_at`) WHERE livemode = 1;--> statement-breakpoint
DROP INDEX `events_due`;--> statement-breakpoint
CREATE INDEX `sandbox_events_due` ON `events` (CASE WHEN next_try_at IS NULL THEN created_at ELSE next_try_at END) WHERE fanned_out_at IS NULL AND livemode = 0;--> statement-breakpoint
CREATE INDEX `sandbox_events_by_session` ON `events` (`request_id`) WHERE livemode = 0;--> statement-breakpoint
CREATE INDEX `events_due` ON `events` (CASE WHEN next_try_at IS NULL THEN created_at ELSE next_try_at END) WHERE fanned_out_at IS NULL AND livemode = 1;