CREATE TABLE `audits` (
	`day` text PRIMARY KEY NOT NULL,
	`due_at` integer,
	`checked` integer NOT NULL,
	`differing` integer NOT NULL,
	`unknown` integer NOT NULL,
	`suspects` text,
	`finished_at` integer
);
