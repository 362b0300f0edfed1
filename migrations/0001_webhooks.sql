ALTER TABLE `memberships` ADD `cancelled_at` integer;--> statement-breakpoint
ALTER TABLE `unmatched_payments` ADD `fee_paid_amount` text NOT NULL;