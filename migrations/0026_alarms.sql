CREATE TABLE `alarms` (
	`name` text PRIMARY KEY NOT NULL,
	`since` integer NOT NULL,
	`finding` text NOT NULL,
	`told_at` integer NOT NULL
);
