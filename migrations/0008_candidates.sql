DROP INDEX `memberships_ending`;--> statement-breakpoint
CREATE INDEX `memberships_in_grace` ON `memberships` (`grace_until`) WHERE status = 'grace';--> statement-breakpoint
CREATE INDEX `memberships_ending` ON `memberships` (`paid_through`) WHERE status = 'active';--> statement-breakpoint
DROP INDEX `payment_candidates_due`;--> statement-breakpoint
ALTER TABLE `payment_candidates` ADD `sent_at` integer;--> statement-breakpoint
CREATE INDEX `payment_candidates_due` ON `payment_candidates` (`origin`,`next_check_at`);--> statement-breakpoint
ALTER TABLE `payments` ADD `late_grace_seconds` integer DEFAULT 120 NOT NULL;--> statement-breakpoint
CREATE INDEX `payments_recovering` ON `payments` (`recovers_payment_id`) WHERE recovers_payment_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `payments_by_membership` ON `payments` (`membership_id`,`confirmed_at`) WHERE membership_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `accounts_ending` ON `accounts` (`plan_through`) WHERE plan_through IS NOT NULL;--> statement-breakpoint
CREATE INDEX `webhook_deliveries_waiting` ON `webhook_deliveries` (`endpoint_id`,`next_attempt_at`) WHERE status IN ('pending', 'retrying');--> statement-breakpoint
UPDATE `payment_candidates` SET `sent_at` = `created_at` WHERE `origin` = 'sent';
