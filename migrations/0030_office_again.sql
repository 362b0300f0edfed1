ALTER TABLE `identity_sessions` ADD `grant_sealed` text;--> statement-breakpoint
CREATE INDEX `identity_sessions_granting` ON `identity_sessions` (`merchant_id`,`provider`,`provider_user_id`) WHERE grant_sealed IS NOT NULL;--> statement-breakpoint
ALTER TABLE `mails` ADD `queued_until` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `mails_to_bring` ON `mails` (CASE WHEN queued_until > next_attempt_at THEN queued_until ELSE next_attempt_at END) WHERE next_attempt_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `billing_customers_ending` ON `billing_customers` (`current_period_end`) WHERE current_period_end IS NOT NULL;