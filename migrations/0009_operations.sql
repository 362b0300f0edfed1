CREATE TABLE `parked_messages` (
	`id` text PRIMARY KEY NOT NULL,
	`queue` text NOT NULL,
	`kind` text,
	`body` text NOT NULL,
	`reason` text NOT NULL,
	`parked_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `parked_messages_by_reason` ON `parked_messages` (`reason`,`parked_at`);--> statement-breakpoint
CREATE INDEX `parked_messages_ending` ON `parked_messages` (`parked_at`);--> statement-breakpoint
CREATE TABLE `sweeps` (
	`name` text PRIMARY KEY NOT NULL,
	`due_at` integer NOT NULL,
	`sent_at` integer NOT NULL,
	`lease_until` integer NOT NULL,
	`fence` integer NOT NULL,
	`succeeded_at` integer,
	`failures` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `switched_off` (
	`subject` text PRIMARY KEY NOT NULL,
	`since` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `payments_open` ON `payments` (`product_id`) WHERE status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION');