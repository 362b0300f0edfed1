CREATE TABLE `bounced_addresses` (
	`address_key` text PRIMARY KEY NOT NULL,
	`reason` text NOT NULL,
	`bounced_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `mails` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text,
	`letter` text NOT NULL,
	`facts` text NOT NULL,
	`locale` text,
	`address` text,
	`address_key` text,
	`subject_id` text,
	`cause` text,
	`status` text NOT NULL,
	`attempt` integer NOT NULL,
	`next_attempt_at` integer,
	`lease_until` integer NOT NULL,
	`provider_id` text,
	`error` text,
	`request_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`ended_at` integer,
	CONSTRAINT "mails_status" CHECK(status IN ('waiting', 'sent', 'failed', 'dropped'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `mails_by_cause` ON `mails` (`cause`) WHERE cause IS NOT NULL;--> statement-breakpoint
CREATE INDEX `mails_due` ON `mails` (`next_attempt_at`) WHERE next_attempt_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `mails_by_address` ON `mails` (`address_key`,`letter`,`created_at`) WHERE address_key IS NOT NULL;--> statement-breakpoint
CREATE INDEX `mails_by_account` ON `mails` (`account_id`,`letter`,`created_at`) WHERE account_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `mails_ended` ON `mails` (`ended_at`) WHERE ended_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `brand_logos` (
	`merchant_id` text PRIMARY KEY NOT NULL,
	`url` text NOT NULL,
	`sha256` text NOT NULL,
	`bytes` blob NOT NULL
);
--> statement-breakpoint
CREATE TABLE `receipt_metadata` (
	`receipt_id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`row_number` integer NOT NULL,
	`product_name` text NOT NULL,
	`metadata` text NOT NULL,
	`version` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `receipt_metadata_by_merchant` ON `receipt_metadata` (`merchant_id`);--> statement-breakpoint
ALTER TABLE `accounts` ADD `locale` text DEFAULT 'en' NOT NULL;--> statement-breakpoint
CREATE TRIGGER `invoice_words_added` AFTER INSERT ON `receipt_metadata` BEGIN INSERT INTO receipt_words(receipt_words, rowid, words) VALUES ('delete', new.row_number, 'm' || replace(new.merchant_id, '-', '') || new.livemode || ' ' || new.product_name); INSERT INTO receipt_words(rowid, words) VALUES (new.row_number, 'm' || replace(new.merchant_id, '-', '') || new.livemode || ' ' || new.product_name || ' ' || coalesce(json_extract(new.metadata, '$.invoice_number'), '') || ' ' || coalesce(json_extract(new.metadata, '$.reference'), '') || ' ' || coalesce(json_extract(new.metadata, '$.bill_to.name'), '')); END;--> statement-breakpoint
CREATE TRIGGER `invoice_words_changed` AFTER UPDATE OF `metadata` ON `receipt_metadata` BEGIN INSERT INTO receipt_words(receipt_words, rowid, words) VALUES ('delete', old.row_number, 'm' || replace(old.merchant_id, '-', '') || old.livemode || ' ' || old.product_name || ' ' || coalesce(json_extract(old.metadata, '$.invoice_number'), '') || ' ' || coalesce(json_extract(old.metadata, '$.reference'), '') || ' ' || coalesce(json_extract(old.metadata, '$.bill_to.name'), '')); INSERT INTO receipt_words(rowid, words) VALUES (new.row_number, 'm' || replace(new.merchant_id, '-', '') || new.livemode || ' ' || new.product_name || ' ' || coalesce(json_extract(new.metadata, '$.invoice_number'), '') || ' ' || coalesce(json_extract(new.metadata, '$.reference'), '') || ' ' || coalesce(json_extract(new.metadata, '$.bill_to.name'), '')); END;--> statement-breakpoint
CREATE TRIGGER `invoice_words_removed` AFTER DELETE ON `receipt_metadata` BEGIN INSERT INTO receipt_words(receipt_words, rowid, words) VALUES ('delete', old.row_number, 'm' || replace(old.merchant_id, '-', '') || old.livemode || ' ' || old.product_name || ' ' || coalesce(json_extract(old.metadata, '$.invoice_number'), '') || ' ' || coalesce(json_extract(old.metadata, '$.reference'), '') || ' ' || coalesce(json_extract(old.metadata, '$.bill_to.name'), '')); INSERT INTO receipt_words(rowid, words) VALUES (old.row_number, 'm' || replace(old.merchant_id, '-', '') || old.livemode || ' ' || old.product_name); END;
