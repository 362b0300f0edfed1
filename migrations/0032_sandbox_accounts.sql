CREATE TABLE `sandbox_accounts` (
	`merchant_id` text NOT NULL,
	`session_id` text NOT NULL,
	`address` text NOT NULL,
	`owner` text NOT NULL,
	`data` text NOT NULL,
	`changed_by` text NOT NULL,
	PRIMARY KEY(`merchant_id`, `session_id`, `address`)
);
--> statement-breakpoint
CREATE INDEX `sandbox_accounts_by_session` ON `sandbox_accounts` (`session_id`) WHERE session_id <> '';--> statement-breakpoint
ALTER TABLE `sandbox_transactions` ADD `inner` text;--> statement-breakpoint
ALTER TABLE `sandbox_transactions` ADD `about` text;--> statement-breakpoint
CREATE INDEX `sandbox_transactions_about` ON `sandbox_transactions` (`merchant_id`,`about`,`sent_at`) WHERE about IS NOT NULL;