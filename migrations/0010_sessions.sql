CREATE TABLE `open_sessions` (
	`product_id` text PRIMARY KEY NOT NULL,
	`count` integer NOT NULL
);
--> statement-breakpoint
DROP INDEX `payments_open`;