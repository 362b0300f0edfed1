CREATE TABLE `webhook_deliveries` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`endpoint_id` text NOT NULL,
	`event_id` text NOT NULL,
	`event_type` text NOT NULL,
	`status` text NOT NULL,
	`attempt` integer NOT NULL,
	`max_attempts` integer NOT NULL,
	`next_attempt_at` integer,
	`lease_until` integer NOT NULL,
	`response_status` integer,
	`response_ms` integer,
	`response_excerpt` text,
	`error` text,
	`replay_of` integer,
	`created_at` integer NOT NULL,
	`completed_at` integer,
	CONSTRAINT "webhook_deliveries_status" CHECK(status IN ('pending', 'retrying', 'succeeded', 'failed', 'cancelled'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_deliveries_once` ON `webhook_deliveries` (`event_id`,`endpoint_id`) WHERE replay_of IS NULL;--> statement-breakpoint
CREATE INDEX `webhook_deliveries_due` ON `webhook_deliveries` (`next_attempt_at`) WHERE status IN ('pending', 'retrying');--> statement-breakpoint
CREATE INDEX `webhook_deliveries_by_merchant` ON `webhook_deliveries` (`merchant_id`,`livemode`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_by_endpoint` ON `webhook_deliveries` (`endpoint_id`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_by_event` ON `webhook_deliveries` (`event_id`,`id`);--> statement-breakpoint
CREATE TABLE `webhook_endpoints` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`kind` text NOT NULL,
	`url` text NOT NULL,
	`description` text,
	`event_types` text NOT NULL,
	`product_ids` text NOT NULL,
	`status` text NOT NULL,
	`disabled_reason` text,
	`signed_payload` text NOT NULL,
	`secret_sealed` text NOT NULL,
	`secret_hint` text NOT NULL,
	`previous_sealed` text,
	`previous_until` integer,
	`last_success_at` integer,
	`last_failure_at` integer,
	`failure_streak` integer NOT NULL,
	`failing_since` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL,
	CONSTRAINT "webhook_endpoints_status" CHECK(status IN ('enabled', 'disabled'))
);
--> statement-breakpoint
CREATE INDEX `webhook_endpoints_by_merchant` ON `webhook_endpoints` (`merchant_id`,`livemode`,`created_at`);--> statement-breakpoint
ALTER TABLE `events` ADD `fanned_out_at` integer;--> statement-breakpoint
CREATE INDEX `events_waiting` ON `events` (`seq`) WHERE fanned_out_at IS NULL;