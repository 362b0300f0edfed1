CREATE TABLE `ended_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`product_id` text NOT NULL,
	`nonce` text NOT NULL,
	`reference` text NOT NULL,
	`asset` text NOT NULL,
	`price_amount` text NOT NULL,
	`recipient_wallet` text NOT NULL,
	`customer_ref` text,
	`expires_at` integer NOT NULL,
	`late_grace_seconds` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `ended_sessions_nonce_unique` ON `ended_sessions` (`nonce`);--> statement-breakpoint
CREATE TABLE `open_sessions` (
	`product_id` text PRIMARY KEY NOT NULL,
	`count` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `endpoint_hours` (
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`hour` integer NOT NULL,
	`endpoint_id` text NOT NULL,
	`succeeded` integer NOT NULL,
	`ended` integer NOT NULL,
	PRIMARY KEY(`merchant_id`, `livemode`, `hour`, `endpoint_id`)
);
--> statement-breakpoint
CREATE INDEX `endpoint_hours_ending` ON `endpoint_hours` (`hour`);--> statement-breakpoint
CREATE TABLE `parked_messages` (
	`id` text PRIMARY KEY NOT NULL,
	`queue` text NOT NULL,
	`kind` text,
	`body` text NOT NULL,
	`reason` text NOT NULL,
	`parked_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `parked_messages_by_reason` ON `parked_messages` (`reason`,`parked_at`);--> statement-breakpoint
CREATE INDEX `parked_messages_ending` ON `parked_messages` (`parked_at`);--> statement-breakpoint
CREATE TABLE `sweeps` (
	`name` text PRIMARY KEY NOT NULL,
	`due_at` integer NOT NULL,
	`sent_at` integer NOT NULL,
	`lease_until` integer NOT NULL,
	`fence` integer NOT NULL,
	`succeeded_at` integer,
	`failures` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `switched_off` (
	`subject` text PRIMARY KEY NOT NULL,
	`since` integer NOT NULL
);
--> statement-breakpoint
DROP INDEX `payment_sessions_by_merchant`;--> statement-breakpoint
CREATE INDEX `payment_sessions_ending` ON `payment_sessions` (`expires_at`);--> statement-breakpoint
DROP INDEX `api_keys_by_merchant`;--> statement-breakpoint
CREATE INDEX `api_keys_by_merchant` ON `api_keys` (`merchant_id`,`livemode`,`revoked_at`);--> statement-breakpoint
DROP INDEX `events_by_merchant`;--> statement-breakpoint
DROP INDEX `events_by_payment`;--> statement-breakpoint
DROP INDEX `events_by_membership`;--> statement-breakpoint
CREATE INDEX `events_by_type` ON `events` (`merchant_id`,`livemode`,`type`);--> statement-breakpoint
CREATE INDEX `events_by_merchant` ON `events` (`merchant_id`,`livemode`);--> statement-breakpoint
CREATE INDEX `events_by_payment` ON `events` (`payment_id`,`created_at`) WHERE payment_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `events_by_membership` ON `events` (`membership_id`,`created_at`) WHERE membership_id IS NOT NULL;--> statement-breakpoint
DROP INDEX `webhook_deliveries_by_merchant`;--> statement-breakpoint
DROP INDEX `webhook_deliveries_by_endpoint`;--> statement-breakpoint
DROP INDEX `webhook_deliveries_by_event`;--> statement-breakpoint
CREATE INDEX `webhook_deliveries_by_status` ON `webhook_deliveries` (`merchant_id`,`livemode`,`status`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_oldest` ON `webhook_deliveries` (`merchant_id`,`livemode`,`created_at`) WHERE status IN ('pending', 'retrying');--> statement-breakpoint
CREATE INDEX `webhook_deliveries_ended` ON `webhook_deliveries` (`completed_at`) WHERE completed_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `webhook_deliveries_by_merchant` ON `webhook_deliveries` (`merchant_id`,`livemode`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_by_endpoint` ON `webhook_deliveries` (`merchant_id`,`livemode`,`endpoint_id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_by_event` ON `webhook_deliveries` (`event_id`);--> statement-breakpoint
DROP INDEX `entitlements_by_merchant`;--> statement-breakpoint
CREATE INDEX `entitlements_by_product` ON `entitlements` (`merchant_id`,`livemode`,`product_id`);--> statement-breakpoint
CREATE INDEX `entitlements_by_status` ON `entitlements` (`merchant_id`,`livemode`,`status`);--> statement-breakpoint
CREATE INDEX `entitlements_by_merchant` ON `entitlements` (`merchant_id`,`livemode`);--> statement-breakpoint
ALTER TABLE `payments` ADD `is_kept` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `payments_unpaid` ON `payments` (`expires_at`) WHERE status = 'FAILED' AND is_kept = 0;--> statement-breakpoint
CREATE INDEX `payments_by_status` ON `payments` (`merchant_id`,`livemode`,`status`,`created_at`);--> statement-breakpoint
CREATE INDEX `payments_by_product` ON `payments` (`merchant_id`,`livemode`,`product_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `payments_by_payer` ON `payments` (`merchant_id`,`livemode`,`payer_wallet`,`created_at`) WHERE payer_wallet IS NOT NULL;--> statement-breakpoint
CREATE INDEX `payments_by_ref` ON `payments` (`merchant_id`,`livemode`,`customer_ref`,`created_at`) WHERE customer_ref IS NOT NULL;--> statement-breakpoint
ALTER TABLE `setup_intents` ADD `is_kept` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `setup_intents_ended` ON `setup_intents` (`expires_at`) WHERE status = 'expired' AND is_kept = 0;--> statement-breakpoint
CREATE INDEX `memberships_by_merchant` ON `memberships` (`merchant_id`,`livemode`,`created_at`);--> statement-breakpoint
CREATE INDEX `receipts_by_product` ON `receipts` (`merchant_id`,`livemode`,`product_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `receipts_by_payer` ON `receipts` (`merchant_id`,`livemode`,`payer`,`created_at`);--> statement-breakpoint
CREATE INDEX `webhook_endpoints_by_status` ON `webhook_endpoints` (`merchant_id`,`livemode`,`status`);--> statement-breakpoint
CREATE INDEX `settlements_failed` ON `settlements` (`created_at`) WHERE status = 'failed' AND next_check_at IS NULL;--> statement-breakpoint
INSERT INTO `endpoint_hours` SELECT merchant_id, livemode, completed_at - completed_at % 3600000, endpoint_id, sum(status = 'succeeded'), count(*) FROM `webhook_deliveries` WHERE status IN ('succeeded', 'failed') AND event_type <> 'webhook.test' AND completed_at > (unixepoch() - 90000) * 1000 GROUP BY 1, 2, 3, 4;--> statement-breakpoint
-- Words of product names, each receipt under a term of its merchant and mode, so that a search touches that merchant's receipts alone.
CREATE VIRTUAL TABLE `receipt_words` USING fts5(words, content='', columnsize=0, tokenize='unicode61');--> statement-breakpoint
INSERT INTO `receipt_words`(rowid, words) SELECT rowid, 'm' || replace(merchant_id, '-', '') || livemode || ' ' || coalesce(json_extract(document, '$.product_name'), '') FROM `receipts`;--> statement-breakpoint
CREATE TRIGGER `receipt_words_added` AFTER INSERT ON `receipts` BEGIN INSERT INTO receipt_words(rowid, words) VALUES (new.rowid, 'm' || replace(new.merchant_id, '-', '') || new.livemode || ' ' || coalesce(json_extract(new.document, '$.product_name'), '')); END;
--> statement-breakpoint
INSERT INTO `open_sessions` SELECT `product_id`, count(*) FROM `payments` WHERE `status` IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION') GROUP BY `product_id`;--> statement-breakpoint
CREATE TRIGGER `payments_opened` AFTER INSERT ON `payments` WHEN NEW.`status` IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION') BEGIN INSERT INTO `open_sessions` VALUES (NEW.`product_id`, 1) ON CONFLICT (`product_id`) DO UPDATE SET `count` = `count` + 1; END;--> statement-breakpoint
CREATE TRIGGER `payments_ended` AFTER UPDATE OF `status` ON `payments` WHEN OLD.`status` IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION') AND NEW.`status` NOT IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION') BEGIN UPDATE `open_sessions` SET `count` = `count` - 1 WHERE `product_id` = OLD.`product_id`; END;--> statement-breakpoint
CREATE TRIGGER `payments_removed` AFTER DELETE ON `payments` WHEN OLD.`status` IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION') BEGIN UPDATE `open_sessions` SET `count` = `count` - 1 WHERE `product_id` = OLD.`product_id`; END;
