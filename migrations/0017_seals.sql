CREATE TABLE `fee_payer_looks` (
	`address` text NOT NULL,
	`at` integer NOT NULL,
	`lamports` integer NOT NULL,
	PRIMARY KEY(`at`, `address`)
);
--> statement-breakpoint
CREATE INDEX `accounts_sealed` ON `accounts` (substr(password_hash, 1, 8)) WHERE password_hash IS NOT NULL;--> statement-breakpoint
CREATE INDEX `claims_sealed` ON `claims` (substr(sealed_body, 1, 8)) WHERE sealed_body IS NOT NULL;--> statement-breakpoint
CREATE INDEX `webhook_endpoints_sealed` ON `webhook_endpoints` (substr(secret_sealed, 1, 8));