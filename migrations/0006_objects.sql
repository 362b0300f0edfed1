DROP INDEX `events_waiting`;--> statement-breakpoint
ALTER TABLE `events` ADD `next_try_at` integer;--> statement-breakpoint
CREATE INDEX `events_due` ON `events` (CASE WHEN next_try_at IS NULL THEN created_at ELSE next_try_at END) WHERE fanned_out_at IS NULL;