ALTER TABLE `metered_sessions` ADD `payout_seen` text DEFAULT '0' NOT NULL;--> statement-breakpoint
ALTER TABLE `metered_sessions` ADD `payout_seen_tx` text;--> statement-breakpoint
ALTER TABLE `metered_sessions` ADD `payout_read_tx` text;--> statement-breakpoint
CREATE INDEX `subscription_authorizations_pullers` ON `subscription_authorizations` (`puller`) WHERE ended_at IS NULL AND livemode = 1;