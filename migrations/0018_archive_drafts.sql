CREATE TABLE `archive_drafts` (
	`key` text PRIMARY KEY NOT NULL,
	`begun_at` integer NOT NULL,
	`is_given_up` integer DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE INDEX `archive_drafts_by_age` ON `archive_drafts` (`begun_at`);