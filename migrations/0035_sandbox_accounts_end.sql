ALTER TABLE `sandbox_accounts` ADD `needed_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `sandbox_accounts_unneeded` ON `sandbox_accounts` (`needed_at`) WHERE session_id = '';--> statement-breakpoint
CREATE INDEX `subscription_plans_of_wallet` ON `subscription_plans` (`merchant_id`,`livemode`,`owner_wallet`);--> statement-breakpoint
-- Of what stands already it is not known: from now on.
UPDATE `sandbox_accounts` SET `needed_at` = unixepoch() * 1000;
