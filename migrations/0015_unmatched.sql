DROP INDEX `unmatched_by_payment`;--> statement-breakpoint
CREATE INDEX `unmatched_of_payment` ON `unmatched_payments` (`payment_id`,length(amount),`amount`);