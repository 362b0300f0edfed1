CREATE TABLE `metered_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`livemode` integer NOT NULL,
	`product_id` text NOT NULL,
	`customer_ref` text,
	`customer_wallet` text,
	`cap_amount` text NOT NULL,
	`min_voucher_delta` text NOT NULL,
	`unit_price_amount` text,
	`idle_seconds` integer NOT NULL,
	`grace_period_seconds` integer NOT NULL,
	`generation` text NOT NULL,
	`operator` text NOT NULL,
	`merchant_wallet` text NOT NULL,
	`mint` text NOT NULL,
	`expires_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`status` text NOT NULL,
	`channel_id` text,
	`payer_wallet` text,
	`authorized_signer` text,
	`deposit` text NOT NULL,
	`cumulative` text NOT NULL,
	`reserved` text NOT NULL,
	`settled` text NOT NULL,
	`used_at` integer NOT NULL,
	`ended_at` integer,
	`settled_at` integer,
	`settling_payment_id` text,
	`settling_cumulative` text,
	`next_look_at` integer,
	`version` integer NOT NULL,
	`updated_at` integer NOT NULL,
	CONSTRAINT "metered_sessions_status" CHECK(status IN ('created', 'open', 'closing', 'closed', 'expired', 'failed'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `metered_sessions_channel_id_unique` ON `metered_sessions` (`channel_id`);--> statement-breakpoint
CREATE INDEX `metered_sessions_by_merchant` ON `metered_sessions` (`merchant_id`,`livemode`,`created_at`);--> statement-breakpoint
CREATE INDEX `metered_sessions_due` ON `metered_sessions` (`next_look_at`) WHERE next_look_at IS NOT NULL AND livemode = 1;--> statement-breakpoint
CREATE INDEX `sandbox_metered_sessions_due` ON `metered_sessions` (`next_look_at`) WHERE next_look_at IS NOT NULL AND livemode = 0;--> statement-breakpoint
CREATE INDEX `metered_sessions_over` ON `metered_sessions` (`ended_at`) WHERE ended_at IS NOT NULL;