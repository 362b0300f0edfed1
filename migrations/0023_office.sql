CREATE TABLE `billing_customers` (
	`account_id` text PRIMARY KEY NOT NULL,
	`customer_id` text NOT NULL,
	`subscription_id` text,
	`subscription_status` text NOT NULL,
	`subscription_plan` text,
	`current_period_end` integer,
	`cancels_at_period_end` integer NOT NULL,
	`past_due_since` text NOT NULL,
	`erasing_since` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `billing_customers_customer_id_unique` ON `billing_customers` (`customer_id`);--> statement-breakpoint
CREATE INDEX `billing_customers_erasing` ON `billing_customers` (`erasing_since`) WHERE erasing_since IS NOT NULL;--> statement-breakpoint
CREATE TABLE `processor_events` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`type` text NOT NULL,
	`created_at` integer NOT NULL,
	`received_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `processor_events_received` ON `processor_events` (`received_at`);--> statement-breakpoint
CREATE TABLE `ended_deliveries` (
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`quarter` integer NOT NULL,
	`has_succeeded` integer NOT NULL,
	`answer_class` integer NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`merchant_id`, `livemode`, `quarter`, `has_succeeded`, `answer_class`)
);
--> statement-breakpoint
CREATE TABLE `figure_cursors` (
	`name` text PRIMARY KEY NOT NULL,
	`seq` integer NOT NULL,
	`folded_at` integer NOT NULL,
	`began_at` integer NOT NULL,
	`phase` text,
	`after` text NOT NULL,
	`checked_day` text,
	`version` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `figure_days` (
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`day` integer NOT NULL,
	`quarters` text NOT NULL,
	`products` text NOT NULL,
	PRIMARY KEY(`merchant_id`, `livemode`, `day`)
);
--> statement-breakpoint
CREATE INDEX `figure_days_by_day` ON `figure_days` (`day`,`merchant_id`);--> statement-breakpoint
CREATE TABLE `figure_quarters` (
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`quarter` integer NOT NULL,
	`products` text NOT NULL,
	PRIMARY KEY(`merchant_id`, `livemode`, `quarter`)
);
--> statement-breakpoint
CREATE TABLE `figure_totals` (
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`counts` text NOT NULL,
	PRIMARY KEY(`merchant_id`, `livemode`)
);
--> statement-breakpoint
CREATE TABLE `sign_in_identities` (
	`provider` text NOT NULL,
	`subject` text NOT NULL,
	`account_id` text NOT NULL,
	`email` text,
	`linked_at` integer NOT NULL,
	PRIMARY KEY(`provider`, `subject`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sign_in_identities_of_account` ON `sign_in_identities` (`account_id`,`provider`);--> statement-breakpoint
CREATE TABLE `used_sign_in_states` (
	`id` text PRIMARY KEY NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `used_sign_in_states_expiring` ON `used_sign_in_states` (`expires_at`);--> statement-breakpoint
CREATE TABLE `support_messages` (
	`id` text PRIMARY KEY NOT NULL,
	`ticket_id` text NOT NULL,
	`author` text NOT NULL,
	`author_id` text NOT NULL,
	`body` text NOT NULL,
	`created_at` integer NOT NULL,
	`written_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `support_messages_of_ticket` ON `support_messages` (`ticket_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `support_messages_by_author` ON `support_messages` (`author_id`,`written_at`);--> statement-breakpoint
CREATE TABLE `support_tickets` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`subject` text NOT NULL,
	`category` text NOT NULL,
	`status` text NOT NULL,
	`payment_id` text,
	`membership_id` text,
	`last_message_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL,
	`sandbox_session_id` text,
	CONSTRAINT "support_tickets_status" CHECK(status IN ('open', 'pending', 'resolved', 'closed'))
);
--> statement-breakpoint
CREATE INDEX `support_tickets_by_merchant` ON `support_tickets` (`merchant_id`,`livemode`,`last_message_at`);--> statement-breakpoint
CREATE INDEX `support_tickets_by_status` ON `support_tickets` (`merchant_id`,`livemode`,`status`,`last_message_at`);--> statement-breakpoint
CREATE INDEX `support_tickets_of_all` ON `support_tickets` (`livemode`,`last_message_at`);--> statement-breakpoint
CREATE INDEX `support_tickets_of_all_by_status` ON `support_tickets` (`livemode`,`status`,`last_message_at`);--> statement-breakpoint
CREATE INDEX `support_tickets_resolved` ON `support_tickets` (`updated_at`) WHERE status = 'resolved' AND sandbox_session_id IS NULL;--> statement-breakpoint
CREATE INDEX `support_tickets_of_session` ON `support_tickets` (`sandbox_session_id`) WHERE sandbox_session_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `refunds` (
	`id` text PRIMARY KEY NOT NULL,
	`nonce` text NOT NULL,
	`payment_id` text NOT NULL,
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`amount` text NOT NULL,
	`revokes_access` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`tx_signature` text,
	`seen_at` integer,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `refunds_nonce_unique` ON `refunds` (`nonce`);--> statement-breakpoint
CREATE INDEX `refunds_of_payment` ON `refunds` (`payment_id`,`expires_at`);--> statement-breakpoint
CREATE INDEX `refunds_ending` ON `refunds` (`expires_at`) WHERE seen_at IS NULL;--> statement-breakpoint
ALTER TABLE `accounts` ADD `processor_plans` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `payments` ADD `refunds` text;--> statement-breakpoint
ALTER TABLE `payments` ADD `access_revoked_at` integer;--> statement-breakpoint
CREATE INDEX `payments_by_signature` ON `payments` (`tx_signature`) WHERE status <> 'CONFIRMED' AND tx_signature IS NOT NULL;--> statement-breakpoint
CREATE INDEX `memberships_renewing` ON `memberships` (`merchant_id`,`livemode`,`paid_through`) WHERE status = 'active';