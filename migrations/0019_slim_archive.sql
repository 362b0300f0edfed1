CREATE TABLE `archived_payments` (
	`id` blob PRIMARY KEY NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`product_id` blob NOT NULL,
	`membership_id` blob,
	`nonce` text,
	`customer_ref` text,
	`payer_wallet` text NOT NULL,
	`asset` text NOT NULL,
	`price_amount` text NOT NULL,
	`overpaid_amount` text,
	`fee_amount` text,
	`access_period_days` integer,
	`confirmed_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`archive_id` integer NOT NULL,
	`line_at` integer NOT NULL,
	`line_length` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `archived_payments_by_nonce` ON `archived_payments` (`nonce`) WHERE nonce IS NOT NULL;--> statement-breakpoint
CREATE INDEX `archived_payments_by_merchant` ON `archived_payments` (`merchant_id`,`livemode`,`created_at`);--> statement-breakpoint
CREATE INDEX `archived_payments_by_product` ON `archived_payments` (`merchant_id`,`livemode`,`product_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `archived_payments_by_payer` ON `archived_payments` (`merchant_id`,`livemode`,`payer_wallet`,`created_at`);--> statement-breakpoint
CREATE INDEX `archived_payments_by_ref` ON `archived_payments` (`merchant_id`,`livemode`,`customer_ref`,`created_at`) WHERE customer_ref IS NOT NULL;--> statement-breakpoint
CREATE INDEX `archived_payments_by_membership` ON `archived_payments` (`membership_id`,`confirmed_at`) WHERE membership_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `archived_receipts` (
	`row_number` integer PRIMARY KEY NOT NULL,
	`id` blob NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`product_id` blob NOT NULL,
	`payment_id` blob NOT NULL,
	`payer` text NOT NULL,
	`product_name` text NOT NULL,
	`created_at` integer NOT NULL,
	`archive_id` integer NOT NULL,
	`line_at` integer NOT NULL,
	`line_length` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `archived_receipts_id_unique` ON `archived_receipts` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `archived_receipts_payment_id_unique` ON `archived_receipts` (`payment_id`);--> statement-breakpoint
CREATE INDEX `archived_receipts_by_merchant` ON `archived_receipts` (`merchant_id`,`livemode`,`created_at`);--> statement-breakpoint
CREATE INDEX `archived_receipts_by_product` ON `archived_receipts` (`merchant_id`,`livemode`,`product_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `archived_receipts_by_payer` ON `archived_receipts` (`merchant_id`,`livemode`,`payer`,`created_at`);--> statement-breakpoint
-- Under the numbers they had, by which the words of their products find them.
INSERT INTO `archived_receipts`(row_number, id, merchant_id, livemode, product_id, payment_id, payer, product_name, created_at, archive_id, line_at, line_length) SELECT rowid, coalesce(unhex(replace(id, '-', '')), id), coalesce(unhex(replace(merchant_id, '-', '')), merchant_id), livemode, coalesce(unhex(replace(product_id, '-', '')), product_id), coalesce(unhex(replace(payment_id, '-', '')), payment_id), payer, coalesce(json_extract(document, '$.product_name'), ''), created_at, archive_id, line_at, line_length FROM `receipts` WHERE archive_id IS NOT NULL;--> statement-breakpoint
DELETE FROM `receipts` WHERE archive_id IS NOT NULL;
