ALTER TABLE `metered_sessions` ADD `payout_seen` text DEFAULT '0' NOT NULL;--> statement-breakpoint
ALTER TABLE `metered_sessions` ADD `payout_seen_tx` text;--> statement-breakpoint
ALTER TABLE `metered_sessions` ADD `payout_read_tx` text;