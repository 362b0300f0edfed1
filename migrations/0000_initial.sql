CREATE TABLE `accounts` (
	`id` blob PRIMARY KEY NOT NULL,
	`admission_id` text NOT NULL,
	`owner_id` blob NOT NULL,
	`require_factor` integer DEFAULT false NOT NULL,
	`transfer` text,
	`payout_wallet` text,
	`display_name` text NOT NULL,
	`plan` text NOT NULL,
	`plan_through` integer,
	`processor_plans` text DEFAULT '[]' NOT NULL,
	`status` text NOT NULL,
	`timezone` text NOT NULL,
	`notification_prefs` text NOT NULL,
	`merchant_settings` text NOT NULL,
	`sales_paused_at` integer,
	`email_complaints` text DEFAULT '[]' NOT NULL,
	`emails_paused_at` integer,
	`created_at` integer NOT NULL,
	`claimed` text,
	`deleted_at` integer,
	`erased_at` integer,
	`version` integer NOT NULL,
	`changed_by` integer,
	CONSTRAINT "accounts_status" CHECK(status IN ('active', 'suspended', 'deleted'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_admission_id_unique` ON `accounts` (`admission_id`);--> statement-breakpoint
CREATE INDEX `accounts_erasing` ON `accounts` (`deleted_at`) WHERE status = 'deleted' AND erased_at IS NULL;--> statement-breakpoint
CREATE INDEX `accounts_ending` ON `accounts` (`plan_through`) WHERE plan_through IS NOT NULL;--> statement-breakpoint
CREATE TABLE `login_nonces` (
	`nonce` text PRIMARY KEY NOT NULL,
	`wallet_address` text NOT NULL,
	`message` text NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `login_nonces_expiring` ON `login_nonces` (`expires_at`);--> statement-breakpoint
CREATE TABLE `payout_wallets` (
	`merchant_id` blob NOT NULL,
	`wallet` text NOT NULL,
	`created_at` integer NOT NULL,
	`disowned_at` integer,
	PRIMARY KEY(`merchant_id`, `wallet`)
);
--> statement-breakpoint
CREATE TABLE `archive_drafts` (
	`key` text PRIMARY KEY NOT NULL,
	`begun_at` integer NOT NULL,
	`is_given_up` integer DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE INDEX `archive_drafts_by_age` ON `archive_drafts` (`begun_at`);--> statement-breakpoint
CREATE TABLE `archive_owners` (
	`id` integer PRIMARY KEY NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `archive_owners_once` ON `archive_owners` (`merchant_id`,`livemode`);--> statement-breakpoint
CREATE TABLE `archived_sales` (
	`row_number` integer PRIMARY KEY NOT NULL,
	`owner` integer NOT NULL,
	`payment_id` blob NOT NULL,
	`product_id` blob NOT NULL,
	`payer` blob NOT NULL,
	`created_at` integer NOT NULL,
	`membership_id` blob,
	`nonce` blob,
	`customer_ref` text,
	`customer_wallet` blob,
	`overpaid_amount` text,
	`fee_amount` text,
	`access_period_days` integer,
	`period_ends_at` integer,
	`asset` text,
	`price_amount` text,
	`is_metered` integer,
	`confirmed_at` integer,
	`archive_id` integer,
	`line_at` integer,
	`line_length` integer,
	`receipt_id` blob,
	`is_paid_by_owner` integer,
	`seq` integer,
	`after_seq` integer,
	`product_name` text,
	`receipt_archive_id` integer,
	`receipt_line_at` integer,
	`receipt_line_length` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `archived_sales_payment_id_unique` ON `archived_sales` (`payment_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `archived_sales_receipt_id_unique` ON `archived_sales` (`receipt_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `archived_sales_by_nonce` ON `archived_sales` (`nonce`) WHERE nonce IS NOT NULL;--> statement-breakpoint
CREATE INDEX `archived_sales_by_owner` ON `archived_sales` (`owner`,`created_at`);--> statement-breakpoint
CREATE INDEX `archived_sales_by_product` ON `archived_sales` (`owner`,`product_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `archived_sales_by_payer` ON `archived_sales` (`owner`,`payer`,`created_at`);--> statement-breakpoint
CREATE INDEX `archived_sales_by_other` ON `archived_sales` (`owner`,`customer_wallet`,`created_at`) WHERE customer_wallet <> payer;--> statement-breakpoint
CREATE INDEX `archived_sales_by_ref` ON `archived_sales` (`owner`,`customer_ref`,`created_at`) WHERE customer_ref IS NOT NULL;--> statement-breakpoint
CREATE INDEX `archived_sales_by_membership` ON `archived_sales` (`membership_id`) WHERE membership_id IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `archived_sales_chain` ON `archived_sales` (`owner`,`is_paid_by_owner`,`seq`) WHERE seq IS NOT NULL;--> statement-breakpoint
CREATE TABLE `archived_subjects` (
	`subject_id` blob NOT NULL,
	`archive_id` integer NOT NULL,
	PRIMARY KEY(`subject_id`, `archive_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `archived_types` (
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`type` text NOT NULL,
	`archive_id` integer NOT NULL,
	`events` integer NOT NULL,
	PRIMARY KEY(`merchant_id`, `livemode`, `type`, `archive_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `archives` (
	`id` integer PRIMARY KEY NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`key` text NOT NULL,
	`first_event_id` text NOT NULL,
	`last_event_id` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `archives_by_event` ON `archives` (`merchant_id`,`livemode`,`last_event_id`);--> statement-breakpoint
CREATE INDEX `archives_by_merchant` ON `archives` (`merchant_id`,`livemode`);--> statement-breakpoint
CREATE TABLE `audits` (
	`day` text PRIMARY KEY NOT NULL,
	`due_at` integer,
	`checked` integer NOT NULL,
	`differing` integer NOT NULL,
	`unknown` integer NOT NULL,
	`suspects` text,
	`finished_at` integer
);
--> statement-breakpoint
CREATE TABLE `cursors` (
	`name` text PRIMARY KEY NOT NULL,
	`until` text,
	`walk_top` text,
	`walk_before` text,
	`walk_started_at` integer,
	`passed_at` integer NOT NULL,
	`version` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `payment_candidates` (
	`payment_id` blob NOT NULL,
	`tx_signature` text NOT NULL,
	`origin` text NOT NULL,
	`attempt` integer NOT NULL,
	`next_check_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`sent_at` integer,
	`livemode` integer DEFAULT true NOT NULL,
	`merchant_id` blob DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `payment_candidates_once` ON `payment_candidates` (`payment_id`,`tx_signature`);--> statement-breakpoint
CREATE INDEX `payment_candidates_due` ON `payment_candidates` (`origin`,`next_check_at`) WHERE livemode = 1;--> statement-breakpoint
CREATE INDEX `payment_candidates_by_merchant` ON `payment_candidates` (`origin`,`merchant_id`,`next_check_at`) WHERE livemode = 1 AND origin IN ('found', 'sent', 'named');--> statement-breakpoint
CREATE INDEX `sandbox_candidates_due` ON `payment_candidates` (`origin`,`next_check_at`) WHERE livemode = 0;--> statement-breakpoint
CREATE TABLE `ended_sessions` (
	`id` blob PRIMARY KEY NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`product_id` blob NOT NULL,
	`failure_code` text,
	`nonce` text NOT NULL,
	`reference` blob NOT NULL,
	`asset` text NOT NULL,
	`price_amount` text NOT NULL,
	`recipient_wallet` blob NOT NULL,
	`customer_ref` text,
	`expires_at` integer NOT NULL,
	`late_grace_seconds` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL,
	`reference_key` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `ended_sessions_by_nonce` ON `ended_sessions` (`livemode`,`nonce`) WHERE nonce IS NOT NULL;--> statement-breakpoint
CREATE INDEX `sandbox_ended_sessions` ON `ended_sessions` (`merchant_id`,`customer_ref`) WHERE livemode = 0;--> statement-breakpoint
CREATE TABLE `handoffs` (
	`id` blob PRIMARY KEY NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`product_id` blob NOT NULL,
	`customer_ref` text,
	`email` text,
	`wallet_address` text,
	`success_url` text,
	`metadata` text,
	`payment_id` blob,
	`expires_at` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `handoffs_ending` ON `handoffs` (`expires_at`);--> statement-breakpoint
CREATE INDEX `handoffs_waiting` ON `handoffs` (`merchant_id`,`livemode`) WHERE payment_id IS NULL;--> statement-breakpoint
CREATE TABLE `identity_sessions` (
	`id` blob PRIMARY KEY NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`product_id` blob NOT NULL,
	`provider` text NOT NULL,
	`provider_user_id` text,
	`username` text,
	`grant_sealed` text,
	`completed_at` integer,
	`expires_at` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `identity_sessions_ending` ON `identity_sessions` (`expires_at`);--> statement-breakpoint
CREATE INDEX `identity_sessions_granting` ON `identity_sessions` (`merchant_id`,`provider`,`provider_user_id`) WHERE grant_sealed IS NOT NULL;--> statement-breakpoint
CREATE TABLE `payment_sessions` (
	`id` blob PRIMARY KEY NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`product_id` blob NOT NULL,
	`asset` text NOT NULL,
	`price_amount` text NOT NULL,
	`rail_id` text NOT NULL,
	`customer_ref` text,
	`success_url` text,
	`metadata` text NOT NULL,
	`payment_id` blob,
	`expires_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`version` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `payment_sessions_ending` ON `payment_sessions` (`expires_at`);--> statement-breakpoint
CREATE INDEX `payment_sessions_of_merchant` ON `payment_sessions` (`merchant_id`,`livemode`,`expires_at`);--> statement-breakpoint
CREATE TABLE `buyer_sellers` (
	`buyer_key` blob NOT NULL,
	`merchant_id` blob NOT NULL,
	PRIMARY KEY(`buyer_key`, `merchant_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `customers` (
	`id` blob PRIMARY KEY NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`wallet_address` blob,
	`customer_ref` text,
	`merged_into` blob,
	`status` text NOT NULL,
	`next_id` blob,
	`erased_at` integer,
	`erasure` text,
	`erase_at` integer,
	`email` text,
	`name` text,
	`company` text,
	`metadata` text NOT NULL,
	`wallets` text NOT NULL,
	`emails` text NOT NULL,
	`totals` text NOT NULL,
	`first_seen_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL,
	CONSTRAINT "customers_status" CHECK(status IN ('active', 'erasing', 'erased'))
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `customers_by_last_seen` ON `customers` (`merchant_id`,`livemode`,`last_seen_at`);--> statement-breakpoint
CREATE INDEX `customers_by_creation` ON `customers` (`merchant_id`,`livemode`,`created_at`);--> statement-breakpoint
CREATE INDEX `customers_by_survivor` ON `customers` (`merged_into`) WHERE merged_into IS NOT NULL;--> statement-breakpoint
CREATE INDEX `customers_by_email` ON `customers` (`merchant_id`,`livemode`,`email`) WHERE email IS NOT NULL;--> statement-breakpoint
CREATE INDEX `customers_erasing` ON `customers` (`erase_at`) WHERE erase_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `customers_by_ref` ON `customers` (`merchant_id`,`livemode`,`customer_ref`) WHERE customer_ref IS NOT NULL AND (livemode = 0 OR erased_at IS NOT NULL);--> statement-breakpoint
CREATE TABLE `entitlements` (
	`id` blob PRIMARY KEY NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`product_id` blob NOT NULL,
	`wallet_address` blob,
	`customer_ref` text,
	`status` text NOT NULL,
	`granted_units` integer,
	`used_units` integer NOT NULL,
	`remaining` integer,
	`paid_through` integer,
	`unlimited` integer NOT NULL,
	`version` integer NOT NULL,
	`updated_at` integer NOT NULL,
	CONSTRAINT "entitlements_status" CHECK(status IN ('active', 'exhausted', 'expired', 'revoked'))
);
--> statement-breakpoint
CREATE INDEX `entitlements_by_merchant` ON `entitlements` (`merchant_id`,`livemode`);--> statement-breakpoint
CREATE INDEX `entitlements_by_product` ON `entitlements` (`merchant_id`,`livemode`,`product_id`);--> statement-breakpoint
CREATE INDEX `entitlements_by_status` ON `entitlements` (`merchant_id`,`livemode`,`status`);--> statement-breakpoint
CREATE INDEX `entitlements_by_wallet` ON `entitlements` (`merchant_id`,`livemode`,`wallet_address`) WHERE wallet_address IS NOT NULL;--> statement-breakpoint
CREATE INDEX `entitlements_by_ref` ON `entitlements` (`merchant_id`,`livemode`,`customer_ref`) WHERE customer_ref IS NOT NULL;--> statement-breakpoint
CREATE TABLE `acts` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`payment_id` blob,
	`membership_id` blob,
	`rare_type` text,
	`types` text NOT NULL,
	`body` blob NOT NULL,
	`is_personal` integer NOT NULL,
	`request_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`fanned_out_at` integer,
	`next_try_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `acts_once` ON `acts` (substr(id, 15));--> statement-breakpoint
CREATE INDEX `acts_due` ON `acts` (CASE WHEN next_try_at IS NULL THEN created_at ELSE next_try_at END) WHERE fanned_out_at IS NULL AND livemode = 1;--> statement-breakpoint
CREATE INDEX `sandbox_acts_due` ON `acts` (CASE WHEN next_try_at IS NULL THEN created_at ELSE next_try_at END) WHERE fanned_out_at IS NULL AND livemode = 0;--> statement-breakpoint
CREATE INDEX `sandbox_acts_by_session` ON `acts` (`request_id`) WHERE livemode = 0;--> statement-breakpoint
CREATE INDEX `acts_by_merchant` ON `acts` (`merchant_id`,`livemode`);--> statement-breakpoint
CREATE INDEX `acts_by_rare_type` ON `acts` (`merchant_id`,`livemode`,`rare_type`) WHERE rare_type IS NOT NULL;--> statement-breakpoint
CREATE INDEX `acts_by_payment` ON `acts` (`payment_id`) WHERE payment_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `acts_by_membership` ON `acts` (`membership_id`) WHERE membership_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `guard` (
	`veto` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `claims` (
	`scope` text NOT NULL,
	`key` text NOT NULL,
	`fingerprint` text NOT NULL,
	`status` integer,
	`fence` integer NOT NULL,
	`lease_until` integer,
	`expires_at` integer NOT NULL,
	`body` blob,
	`sealed_body` text,
	PRIMARY KEY(`scope`, `key`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `claims_sealed` ON `claims` (substr(sealed_body, 1, 8)) WHERE sealed_body IS NOT NULL;--> statement-breakpoint
CREATE TABLE `api_keys` (
	`id` blob PRIMARY KEY NOT NULL,
	`merchant_id` blob NOT NULL,
	`name` text NOT NULL,
	`key_hash` text NOT NULL,
	`key_prefix` text NOT NULL,
	`permissions` text NOT NULL,
	`livemode` integer NOT NULL,
	`created_at` integer NOT NULL,
	`revoked_at` integer,
	`scopes` text,
	`expires_at` integer,
	`allowed_ips` text,
	`widened_at` integer,
	`created_by` text NOT NULL,
	`rolled_from` blob,
	`version` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_key_hash_unique` ON `api_keys` (`key_hash`);--> statement-breakpoint
CREATE INDEX `api_keys_by_merchant` ON `api_keys` (`merchant_id`,`livemode`,`revoked_at`);--> statement-breakpoint
CREATE TABLE `bounced_addresses` (
	`address_key` text PRIMARY KEY NOT NULL,
	`reason` text NOT NULL,
	`bounced_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `mails` (
	`id` blob PRIMARY KEY NOT NULL,
	`account_id` blob,
	`template` text NOT NULL,
	`facts` text NOT NULL,
	`locale` text,
	`address` text,
	`address_key` text,
	`subject_id` blob,
	`cause` text,
	`status` text NOT NULL,
	`attempt` integer NOT NULL,
	`next_attempt_at` integer,
	`queued_until` integer DEFAULT 0 NOT NULL,
	`lease_until` integer NOT NULL,
	`provider_id` text,
	`error` text,
	`request_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`ended_at` integer,
	CONSTRAINT "mails_status" CHECK(status IN ('waiting', 'sent', 'failed', 'dropped'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `mails_by_cause` ON `mails` (`cause`) WHERE cause IS NOT NULL;--> statement-breakpoint
CREATE INDEX `mails_due` ON `mails` (`next_attempt_at`) WHERE next_attempt_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `mails_to_bring` ON `mails` (CASE WHEN queued_until > next_attempt_at THEN queued_until ELSE next_attempt_at END) WHERE next_attempt_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `mails_by_address` ON `mails` (`address_key`,`template`,`created_at`) WHERE address_key IS NOT NULL;--> statement-breakpoint
CREATE INDEX `mails_by_account` ON `mails` (`account_id`,`template`,`created_at`) WHERE account_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `mails_ended` ON `mails` (`ended_at`) WHERE ended_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `memberships` (
	`id` blob PRIMARY KEY NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`product_id` blob NOT NULL,
	`customer_key` text NOT NULL,
	`wallet_address` text,
	`customer_ref` text,
	`email` text,
	`is_claimed` integer NOT NULL,
	`status` text NOT NULL,
	`paid_through` integer,
	`grace_until` integer,
	`grace_hours` integer DEFAULT 72 NOT NULL,
	`cancelled_at` integer,
	`cancel_reason` text,
	`last_payment_id` blob NOT NULL,
	`deliver_to` text,
	`delivery` text,
	`authorization_id` text,
	`subscription_status` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL,
	CONSTRAINT "memberships_status" CHECK(status IN ('pending', 'active', 'grace', 'expired', 'cancelled'))
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `memberships_by_customer` ON `memberships` (`merchant_id`,`livemode`,`customer_key`,`product_id`);--> statement-breakpoint
CREATE INDEX `memberships_ending` ON `memberships` (`paid_through`) WHERE status = 'active' AND livemode = 1;--> statement-breakpoint
CREATE INDEX `memberships_in_grace` ON `memberships` (`grace_until`) WHERE status = 'grace' AND livemode = 1;--> statement-breakpoint
CREATE INDEX `sandbox_memberships_ending` ON `memberships` (`paid_through`) WHERE status = 'active' AND livemode = 0;--> statement-breakpoint
CREATE INDEX `sandbox_memberships_in_grace` ON `memberships` (`grace_until`) WHERE status = 'grace' AND livemode = 0;--> statement-breakpoint
CREATE INDEX `memberships_by_status` ON `memberships` (`merchant_id`,`livemode`,`status`,`created_at`,`id`,`paid_through`);--> statement-breakpoint
CREATE INDEX `memberships_by_product` ON `memberships` (`merchant_id`,`livemode`,`product_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `memberships_by_wallet` ON `memberships` (`merchant_id`,`livemode`,`wallet_address`,`created_at`) WHERE customer_ref IS NOT NULL;--> statement-breakpoint
CREATE INDEX `memberships_by_ref` ON `memberships` (`merchant_id`,`livemode`,`customer_ref`) WHERE customer_ref IS NOT NULL;--> statement-breakpoint
CREATE INDEX `memberships_by_email` ON `memberships` (`merchant_id`,`livemode`,`email`) WHERE email IS NOT NULL;--> statement-breakpoint
CREATE TABLE `analytics_cursors` (
	`name` text PRIMARY KEY NOT NULL,
	`seq` integer NOT NULL,
	`folded_at` integer NOT NULL,
	`version` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `analytics_days` (
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`day` integer NOT NULL,
	`quarters` text NOT NULL,
	`products` text NOT NULL,
	PRIMARY KEY(`merchant_id`, `livemode`, `day`)
);
--> statement-breakpoint
CREATE INDEX `analytics_days_by_day` ON `analytics_days` (`day`,`merchant_id`);--> statement-breakpoint
CREATE TABLE `analytics_quarters` (
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`quarter` integer NOT NULL,
	`products` text NOT NULL,
	PRIMARY KEY(`merchant_id`, `livemode`, `quarter`)
);
--> statement-breakpoint
CREATE TABLE `analytics_totals` (
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`counts` text NOT NULL,
	PRIMARY KEY(`merchant_id`, `livemode`)
);
--> statement-breakpoint
CREATE TABLE `ended_deliveries` (
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`quarter` integer NOT NULL,
	`has_succeeded` integer NOT NULL,
	`answer_class` integer NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`merchant_id`, `livemode`, `quarter`, `has_succeeded`, `answer_class`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `audit_archives` (
	`merchant_id` blob NOT NULL,
	`last_seq` integer NOT NULL,
	`last_hash` blob NOT NULL,
	`key` text NOT NULL,
	`named` text NOT NULL,
	PRIMARY KEY(`merchant_id`, `last_seq`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `audit_entries` (
	`merchant_id` blob NOT NULL,
	`seq` integer NOT NULL,
	`at` integer NOT NULL,
	`actor_kind` text NOT NULL,
	`actor_id` blob,
	`actor_name` text,
	`role` text,
	`action` text NOT NULL,
	`subject_type` text NOT NULL,
	`subject_id` blob NOT NULL,
	`outcome` text NOT NULL,
	`is_live` integer NOT NULL,
	`request_id` text NOT NULL,
	`details` text NOT NULL,
	`is_erased` integer NOT NULL,
	`prev_hash` blob,
	`hash` blob,
	PRIMARY KEY(`merchant_id`, `seq`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `audit_entries_unchained` ON `audit_entries` (`at`) WHERE hash IS NULL;--> statement-breakpoint
CREATE INDEX `audit_entries_of_operators` ON `audit_entries` (`at`) WHERE actor_kind IN ('operator', 'staff');--> statement-breakpoint
CREATE INDEX `audit_entries_refused` ON `audit_entries` (`merchant_id`,`at`) WHERE outcome = 'refused';--> statement-breakpoint
CREATE INDEX `audit_entries_indexed` ON `audit_entries` (`merchant_id`,`subject_id`,`at`) WHERE action IN ('chat.released', 'entitlement.granted', 'person.email_verified', 'session.ended');--> statement-breakpoint
CREATE INDEX `audit_entries_products_of_key` ON `audit_entries` (`merchant_id`,`actor_id`,`subject_id`) WHERE actor_kind = 'key' AND subject_type = 'product' AND outcome = 'done';--> statement-breakpoint
CREATE TABLE `billing_customers` (
	`account_id` blob PRIMARY KEY NOT NULL,
	`customer_id` text NOT NULL,
	`subscription_id` text,
	`subscription_status` text NOT NULL,
	`subscription_plan` text,
	`current_period_end` integer,
	`cancels_at_period_end` integer NOT NULL,
	`past_due_since` text NOT NULL,
	`sold_plans` text NOT NULL,
	`trouble` text,
	`next_read_at` integer,
	`erasing_since` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `billing_customers_customer_id_unique` ON `billing_customers` (`customer_id`);--> statement-breakpoint
CREATE INDEX `billing_customers_erasing` ON `billing_customers` (`erasing_since`) WHERE erasing_since IS NOT NULL;--> statement-breakpoint
CREATE INDEX `billing_customers_troubled` ON `billing_customers` (`trouble`) WHERE trouble IS NOT NULL;--> statement-breakpoint
CREATE INDEX `billing_customers_read` ON `billing_customers` (`next_read_at`,`account_id`) WHERE next_read_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `billing_customers_ending` ON `billing_customers` (`current_period_end`) WHERE current_period_end IS NOT NULL;--> statement-breakpoint
CREATE TABLE `processor_events` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` blob NOT NULL,
	`type` text NOT NULL,
	`created_at` integer NOT NULL,
	`received_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `processor_events_received` ON `processor_events` (`received_at`);--> statement-breakpoint
CREATE TABLE `seller_domains` (
	`merchant_id` blob PRIMARY KEY NOT NULL,
	`domain` text NOT NULL,
	`token` text NOT NULL,
	`status` text NOT NULL,
	`checked_at` integer,
	`verified_at` integer,
	`next_check_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	CONSTRAINT "seller_domains_status" CHECK(status IN ('pending', 'verified', 'failed'))
);
--> statement-breakpoint
CREATE INDEX `seller_domains_due` ON `seller_domains` (`next_check_at`);--> statement-breakpoint
CREATE TABLE `passkeys` (
	`id` blob PRIMARY KEY NOT NULL,
	`person_id` blob NOT NULL,
	`credential_id` text NOT NULL,
	`public_key` text NOT NULL,
	`user_handle` text NOT NULL,
	`counter` integer NOT NULL,
	`transports` text NOT NULL,
	`is_backed_up` integer NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `passkeys_credential_id_unique` ON `passkeys` (`credential_id`);--> statement-breakpoint
CREATE INDEX `passkeys_of_person` ON `passkeys` (`person_id`,`id`);--> statement-breakpoint
CREATE TABLE `recovery_codes` (
	`person_id` blob NOT NULL,
	`hash` text NOT NULL,
	PRIMARY KEY(`person_id`, `hash`)
);
--> statement-breakpoint
CREATE TABLE `totp_secrets` (
	`person_id` blob PRIMARY KEY NOT NULL,
	`sealed` text NOT NULL,
	`last_step` integer NOT NULL,
	`confirmed_at` integer,
	`expires_at` integer
);
--> statement-breakpoint
CREATE INDEX `totp_secrets_sealed` ON `totp_secrets` (substr(sealed, 1, 8));--> statement-breakpoint
CREATE INDEX `totp_secrets_expiring` ON `totp_secrets` (`expires_at`) WHERE expires_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `listing_words` (
	`listing_id` blob NOT NULL,
	`word` text NOT NULL,
	`weight` integer NOT NULL,
	PRIMARY KEY(`listing_id`, `word`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `listing_words_by_word` ON `listing_words` (`word`,`listing_id`,`weight`);--> statement-breakpoint
CREATE TABLE `listings` (
	`id` blob PRIMARY KEY NOT NULL,
	`merchant_id` blob NOT NULL,
	`product_id` blob,
	`call` text NOT NULL,
	`target` text NOT NULL,
	`request` text,
	`resource` text,
	`origin` text,
	`shown` text,
	`reason` text,
	`reason_detail` text,
	`probed_at` integer,
	`good_at` integer,
	`next_probe_at` integer,
	`last_payment_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `listings_of_product` ON `listings` (`product_id`,`call`,`target`) WHERE product_id IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `listings_of_facilitator` ON `listings` (`merchant_id`,`call`,`target`) WHERE product_id IS NULL;--> statement-breakpoint
CREATE INDEX `listings_by_merchant` ON `listings` (`merchant_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `listings_due` ON `listings` (`next_probe_at`) WHERE next_probe_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `listings_due_by_merchant` ON `listings` (`merchant_id`,`next_probe_at`) WHERE next_probe_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `listings_listed` ON `listings` (`updated_at`,`resource`,`good_at`,`id`) WHERE good_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `listings_by_origin` ON `listings` (`origin`) WHERE good_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `names` (
	`kind` text NOT NULL,
	`key` text NOT NULL,
	`account_id` blob NOT NULL,
	`reserved_until` integer,
	PRIMARY KEY(`kind`, `key`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `names_reserved` ON `names` (`reserved_until`) WHERE reserved_until IS NOT NULL;--> statement-breakpoint
CREATE TABLE `changed_rows` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`changed_table` text NOT NULL,
	`key` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `held` (
	`partition` text PRIMARY KEY NOT NULL,
	`state` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `moves` (
	`partition` text PRIMARY KEY NOT NULL,
	`from_database` text NOT NULL,
	`to_database` text NOT NULL,
	`state` text NOT NULL,
	`position` text DEFAULT '' NOT NULL,
	`rows_copied` integer DEFAULT 0 NOT NULL,
	`begun_at` integer NOT NULL,
	`changed_at` integer NOT NULL,
	`fenced_at` integer,
	`opened_at` integer
);
--> statement-breakpoint
CREATE TABLE `invitations` (
	`id` blob PRIMARY KEY NOT NULL,
	`account_id` blob NOT NULL,
	`email` text NOT NULL,
	`email_key` text NOT NULL,
	`role` text NOT NULL,
	`status` text NOT NULL,
	`invited_by` blob NOT NULL,
	`expires_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	CONSTRAINT "invitations_status" CHECK(status IN ('pending', 'accepted', 'withdrawn'))
);
--> statement-breakpoint
CREATE INDEX `invitations_list` ON `invitations` (`account_id`,`expires_at`);--> statement-breakpoint
CREATE INDEX `invitations_by_email` ON `invitations` (`email_key`);--> statement-breakpoint
CREATE TABLE `joined_accounts` (
	`person_id` blob NOT NULL,
	`account_id` blob NOT NULL,
	`left_at` integer,
	PRIMARY KEY(`person_id`, `account_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `members` (
	`account_id` blob NOT NULL,
	`person_id` blob NOT NULL,
	`role` text NOT NULL,
	`joined_at` integer NOT NULL,
	`role_at` integer NOT NULL,
	`invited_by` blob,
	PRIMARY KEY(`account_id`, `person_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `persons` (
	`id` blob PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`email` text,
	`email_key` text,
	`wallet_address` text,
	`wallet_key` text,
	`password_hash` text,
	`is_staff` integer NOT NULL,
	`token_version` integer NOT NULL,
	`email_verified` integer NOT NULL,
	`join_asked_at` integer,
	`former_emails` text DEFAULT '[]' NOT NULL,
	`factors` text,
	`factors_end_at` integer,
	`locale` text DEFAULT 'en' NOT NULL,
	`ended_email_keys` text,
	`last_account_id` blob,
	`ended_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `persons_email_key_unique` ON `persons` (`email_key`);--> statement-breakpoint
CREATE UNIQUE INDEX `persons_wallet_key_unique` ON `persons` (`wallet_key`);--> statement-breakpoint
CREATE INDEX `persons_sealed` ON `persons` (substr(password_hash, 1, 8)) WHERE password_hash IS NOT NULL;--> statement-breakpoint
CREATE INDEX `persons_factors_end` ON `persons` (`factors_end_at`) WHERE factors_end_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `persons_staff` ON `persons` (`id`) WHERE is_staff = 1;--> statement-breakpoint
CREATE TABLE `communities` (
	`id` blob PRIMARY KEY NOT NULL,
	`account_id` blob NOT NULL,
	`provider` text NOT NULL,
	`code_hash` text NOT NULL,
	`native_id` text,
	`expires_at` integer,
	`claimed_at` integer,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `communities_code_hash_unique` ON `communities` (`code_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `communities_by_native_id` ON `communities` (`provider`,`native_id`) WHERE claimed_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `communities_by_account` ON `communities` (`account_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `communities_ending` ON `communities` (`expires_at`) WHERE expires_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `placements` (
	`membership_id` blob PRIMARY KEY NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`customer_ref` text,
	`provider` text NOT NULL,
	`status` text NOT NULL,
	`work` text NOT NULL,
	`attempts` integer NOT NULL,
	`grant` text,
	`grant_key` text,
	`invite_url` text,
	`last_error` text,
	`delivered_at` integer,
	`payment_id` blob NOT NULL,
	`next_attempt_at` integer,
	`lease_until` integer NOT NULL,
	`created_at` integer NOT NULL,
	`version` integer NOT NULL,
	CONSTRAINT "placements_status" CHECK(status IN ('pending', 'delivered', 'failed', 'revoked'))
);
--> statement-breakpoint
CREATE INDEX `placements_due` ON `placements` (`provider`,`next_attempt_at`) WHERE next_attempt_at IS NOT NULL AND livemode = 1;--> statement-breakpoint
CREATE INDEX `sandbox_placements_due` ON `placements` (`next_attempt_at`) WHERE next_attempt_at IS NOT NULL AND livemode = 0;--> statement-breakpoint
CREATE INDEX `placements_by_grant` ON `placements` (`grant_key`) WHERE grant_key IS NOT NULL;--> statement-breakpoint
CREATE INDEX `placements_by_merchant` ON `placements` (`merchant_id`,`livemode`,`customer_ref`);--> statement-breakpoint
CREATE TABLE `platform_checks` (
	`provider` text PRIMARY KEY NOT NULL,
	`ok` integer NOT NULL,
	`detail` text NOT NULL,
	`bot_username` text,
	`latency_ms` integer NOT NULL,
	`checked_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `sign_in_identities` (
	`provider` text NOT NULL,
	`subject` text NOT NULL,
	`account_id` blob NOT NULL,
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
	`id` blob PRIMARY KEY NOT NULL,
	`ticket_id` blob NOT NULL,
	`author` text NOT NULL,
	`author_id` blob NOT NULL,
	`body` text NOT NULL,
	`created_at` integer NOT NULL,
	`written_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `support_messages_of_ticket` ON `support_messages` (`ticket_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `support_messages_by_author` ON `support_messages` (`author_id`,`written_at`);--> statement-breakpoint
CREATE TABLE `support_tickets` (
	`id` blob PRIMARY KEY NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`subject` text NOT NULL,
	`category` text NOT NULL,
	`status` text NOT NULL,
	`payment_id` blob,
	`membership_id` blob,
	`product_id` blob,
	`last_message_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL,
	`sandbox_session_id` blob,
	CONSTRAINT "support_tickets_status" CHECK(status IN ('open', 'pending', 'resolved', 'closed'))
);
--> statement-breakpoint
CREATE INDEX `support_tickets_by_merchant` ON `support_tickets` (`merchant_id`,`livemode`,`last_message_at`);--> statement-breakpoint
CREATE INDEX `support_tickets_by_status` ON `support_tickets` (`merchant_id`,`livemode`,`status`,`last_message_at`);--> statement-breakpoint
CREATE INDEX `support_tickets_of_all` ON `support_tickets` (`livemode`,`last_message_at`);--> statement-breakpoint
CREATE INDEX `support_tickets_of_all_by_status` ON `support_tickets` (`livemode`,`status`,`last_message_at`);--> statement-breakpoint
CREATE INDEX `support_tickets_resolved` ON `support_tickets` (`updated_at`) WHERE status = 'resolved' AND sandbox_session_id IS NULL;--> statement-breakpoint
CREATE INDEX `support_tickets_of_session` ON `support_tickets` (`sandbox_session_id`) WHERE sandbox_session_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `alarms` (
	`name` text PRIMARY KEY NOT NULL,
	`since` integer NOT NULL,
	`finding` text NOT NULL,
	`notified_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `fee_payer_readings` (
	`address` text NOT NULL,
	`at` integer NOT NULL,
	`lamports` integer NOT NULL,
	PRIMARY KEY(`at`, `address`)
);
--> statement-breakpoint
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
	`failures` integer NOT NULL,
	`behind_at` integer
);
--> statement-breakpoint
CREATE INDEX `sweeps_behind` ON `sweeps` (`behind_at`) WHERE behind_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `sweeps_failed` ON `sweeps` (`name`) WHERE failures > 0;--> statement-breakpoint
CREATE TABLE `switched_off` (
	`subject` text PRIMARY KEY NOT NULL,
	`since` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `payments` (
	`id` blob PRIMARY KEY NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`product_id` blob NOT NULL,
	`slug` text NOT NULL,
	`status` text NOT NULL,
	`failure_code` text,
	`nonce` text NOT NULL,
	`reference` blob NOT NULL,
	`asset` text NOT NULL,
	`mint` blob NOT NULL,
	`price_amount` text NOT NULL,
	`recipient_wallet` blob NOT NULL,
	`recipient_ata` blob NOT NULL,
	`fee_amount` text,
	`fee_wallet` blob,
	`fee_ata` blob,
	`fee_owed_amount` text,
	`overpaid_amount` text,
	`terms` text NOT NULL,
	`expected_wallet` text,
	`customer_ref` text,
	`customer_wallet` blob,
	`email` text,
	`payer_wallet` blob,
	`tx_signature` text,
	`slot` integer,
	`block_time` integer,
	`membership_id` blob,
	`receipt_id` blob,
	`payment_session_id` blob,
	`recovers_payment_id` blob,
	`expires_at` integer NOT NULL,
	`late_grace_seconds` integer DEFAULT 120 NOT NULL,
	`confirmed_at` integer,
	`finalized_at` integer,
	`orphaned_at` integer,
	`refunds` text,
	`access_revoked_at` integer,
	`is_retained` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL,
	CONSTRAINT "payments_status" CHECK(status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION', 'CONFIRMED', 'FAILED'))
);
--> statement-breakpoint
CREATE INDEX `payments_unpaid` ON `payments` (`expires_at`) WHERE status = 'FAILED' AND is_retained = 0;--> statement-breakpoint
CREATE UNIQUE INDEX `payments_by_nonce` ON `payments` (`livemode`,`nonce`) WHERE recovers_payment_id IS NULL AND reference <> '';--> statement-breakpoint
CREATE INDEX `payments_pending` ON `payments` (`merchant_id`,`livemode`,`created_at`) WHERE status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION');--> statement-breakpoint
CREATE INDEX `payments_confirmed` ON `payments` (`merchant_id`,`livemode`,`created_at`) WHERE status = 'CONFIRMED';--> statement-breakpoint
CREATE INDEX `payments_failed` ON `payments` (`merchant_id`,`livemode`,`created_at`) WHERE status = 'FAILED';--> statement-breakpoint
CREATE INDEX `payments_by_product` ON `payments` (`merchant_id`,`livemode`,`product_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `payments_by_payer` ON `payments` (`merchant_id`,`livemode`,`payer_wallet`,`created_at`) WHERE payer_wallet IS NOT NULL;--> statement-breakpoint
CREATE INDEX `payments_by_other` ON `payments` (`merchant_id`,`livemode`,`customer_wallet`,`created_at`) WHERE customer_wallet <> payer_wallet;--> statement-breakpoint
CREATE INDEX `payments_by_ref` ON `payments` (`merchant_id`,`livemode`,`customer_ref`,`created_at`) WHERE customer_ref IS NOT NULL;--> statement-breakpoint
CREATE INDEX `payments_by_email` ON `payments` (`merchant_id`,`livemode`,`email`) WHERE email IS NOT NULL;--> statement-breakpoint
CREATE INDEX `payments_by_signature` ON `payments` (`tx_signature`) WHERE status <> 'CONFIRMED' AND tx_signature IS NOT NULL;--> statement-breakpoint
CREATE INDEX `payments_expiring` ON `payments` (`expires_at`) WHERE status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION') AND livemode = 1;--> statement-breakpoint
CREATE INDEX `sandbox_payments_expiring` ON `payments` (`expires_at`) WHERE status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION') AND livemode = 0;--> statement-breakpoint
CREATE INDEX `payments_open` ON `payments` (`product_id`) WHERE status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION');--> statement-breakpoint
CREATE INDEX `payments_recovering` ON `payments` (`recovers_payment_id`) WHERE recovers_payment_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `payments_by_membership` ON `payments` (`membership_id`,`confirmed_at`) WHERE membership_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `refunds` (
	`id` blob PRIMARY KEY NOT NULL,
	`nonce` text NOT NULL,
	`payment_id` blob NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`amount` text NOT NULL,
	`revokes_access` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`last_valid_block_height` integer NOT NULL,
	`lapsed_at` integer,
	`tx_signature` text,
	`seen_at` integer,
	`block_time` integer,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `refunds_by_nonce` ON `refunds` (`livemode`,`nonce`) WHERE nonce IS NOT NULL;--> statement-breakpoint
CREATE INDEX `refunds_of_payment` ON `refunds` (`payment_id`,`expires_at`);--> statement-breakpoint
CREATE INDEX `refunds_ending` ON `refunds` (`expires_at`) WHERE seen_at IS NULL;--> statement-breakpoint
CREATE TABLE `unmatched_payments` (
	`id` blob PRIMARY KEY NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`payment_id` blob NOT NULL,
	`tx_signature` text NOT NULL,
	`asset` text NOT NULL,
	`amount` text NOT NULL,
	`fee_paid_amount` text NOT NULL,
	`payer_wallet` text NOT NULL,
	`slot` integer NOT NULL,
	`block_time` integer NOT NULL,
	`reason` text NOT NULL,
	`status` text NOT NULL,
	`recovered_payment_id` blob,
	`final_at` integer,
	`doubted_at` integer,
	`dropped_at` integer,
	`next_check_at` integer DEFAULT 0,
	`created_at` integer NOT NULL,
	CONSTRAINT "unmatched_payments_status" CHECK(status IN ('open', 'accepted'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `unmatched_by_signature` ON `unmatched_payments` (`livemode`,`tx_signature`) WHERE tx_signature IS NOT NULL;--> statement-breakpoint
CREATE INDEX `unmatched_due` ON `unmatched_payments` (`next_check_at`) WHERE next_check_at IS NOT NULL AND livemode = 1;--> statement-breakpoint
CREATE INDEX `sandbox_unmatched_due` ON `unmatched_payments` (`next_check_at`) WHERE next_check_at IS NOT NULL AND livemode = 0;--> statement-breakpoint
CREATE INDEX `unmatched_by_merchant` ON `unmatched_payments` (`merchant_id`,`livemode`,`status`,`created_at`);--> statement-breakpoint
CREATE INDEX `unmatched_of_payment` ON `unmatched_payments` (`payment_id`,length(amount),`amount`);--> statement-breakpoint
CREATE TABLE `activations` (
	`payment_id` blob PRIMARY KEY NOT NULL,
	`account_id` blob NOT NULL,
	`livemode` integer DEFAULT true NOT NULL,
	`plan` text NOT NULL,
	`amount` text NOT NULL,
	`resulting_plan` text NOT NULL,
	`paid_through` integer,
	`receipt_id` blob NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `activations_by_account` ON `activations` (`account_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `access_apps` (
	`id` blob PRIMARY KEY NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`name` text NOT NULL,
	`homepage_url` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `access_apps_by_merchant` ON `access_apps` (`merchant_id`,`livemode`,`created_at`);--> statement-breakpoint
CREATE TABLE `products` (
	`id` blob PRIMARY KEY NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`slug` text NOT NULL,
	`external_product_id` text,
	`access_app_id` blob,
	`name` text NOT NULL,
	`description` text,
	`product_type` text NOT NULL,
	`status` text NOT NULL,
	`asset` text NOT NULL,
	`price_amount` text NOT NULL,
	`accepted_assets` text,
	`billing_model` text NOT NULL,
	`renewal_mode` text DEFAULT 'ONE_OFF' NOT NULL,
	`access_period_days` integer,
	`usage_units` integer,
	`unit_name` text,
	`payout_wallet` text,
	`allowed_rails` text,
	`default_rail` text,
	`grace_hours` integer NOT NULL,
	`session_seconds` integer,
	`success_url` text,
	`cancel_url` text,
	`requires_identity` text,
	`delivery` text,
	`discovery` text,
	`metadata` text NOT NULL,
	`live_mode_confirmed` integer NOT NULL,
	`trusted_customer_ref` integer DEFAULT false NOT NULL,
	`max_per_payer_per_day` text,
	`sandbox_session_id` blob,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL,
	CONSTRAINT "products_status" CHECK(status IN ('active', 'archived'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `products_slug_unique` ON `products` (`slug`);--> statement-breakpoint
CREATE UNIQUE INDEX `products_by_external_id` ON `products` (`merchant_id`,`livemode`,`external_product_id`);--> statement-breakpoint
CREATE INDEX `products_by_status` ON `products` (`merchant_id`,`livemode`,`sandbox_session_id`,`status`,`created_at`);--> statement-breakpoint
CREATE INDEX `products_by_merchant` ON `products` (`merchant_id`,`livemode`,`sandbox_session_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `products_of_session` ON `products` (`sandbox_session_id`) WHERE sandbox_session_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `rail_settings` (
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`rail_id` text NOT NULL,
	`enabled` integer NOT NULL,
	`payout_wallet` text,
	`origins` text DEFAULT '[]' NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL,
	PRIMARY KEY(`merchant_id`, `livemode`, `rail_id`)
);
--> statement-breakpoint
CREATE TABLE `brand_logos` (
	`merchant_id` blob PRIMARY KEY NOT NULL,
	`url` text NOT NULL,
	`sha256` text NOT NULL,
	`bytes` blob NOT NULL
);
--> statement-breakpoint
CREATE TABLE `buyer_details` (
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`buyer_key` blob NOT NULL,
	`bill_to` text,
	`erasure_asked_at` integer,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL,
	PRIMARY KEY(`merchant_id`, `livemode`, `buyer_key`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `receipt_metadata` (
	`receipt_id` blob PRIMARY KEY NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`row_number` integer NOT NULL,
	`product_name` text NOT NULL,
	`metadata` text NOT NULL,
	`billed_by` blob,
	`version` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `receipt_metadata_by_merchant` ON `receipt_metadata` (`merchant_id`);--> statement-breakpoint
CREATE TABLE `receipt_names` (
	`id` integer PRIMARY KEY NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`name` text NOT NULL,
	`product_id` blob NOT NULL,
	`since` integer NOT NULL,
	`until` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `receipt_names_once` ON `receipt_names` (`merchant_id`,`livemode`,`name`,`product_id`);--> statement-breakpoint
CREATE TABLE `receipts` (
	`id` blob PRIMARY KEY NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`product_id` blob NOT NULL,
	`payment_id` blob NOT NULL,
	`tx_signature` blob NOT NULL,
	`document` blob NOT NULL,
	`product_name` text NOT NULL,
	`sha256` blob NOT NULL,
	`signature` blob NOT NULL,
	`key_id` text NOT NULL,
	`payer` blob NOT NULL,
	`is_paid_by_owner` integer NOT NULL,
	`seq` integer NOT NULL,
	`after_seq` integer,
	`anchor_seq` integer NOT NULL,
	`anchor_hash` blob NOT NULL,
	`email_note` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `receipts_chain` ON `receipts` (`merchant_id`,`livemode`,`is_paid_by_owner`,`seq`);--> statement-breakpoint
CREATE TABLE `sandbox_accounts` (
	`merchant_id` blob NOT NULL,
	`session_id` blob NOT NULL,
	`address` text NOT NULL,
	`owner` text NOT NULL,
	`data` text NOT NULL,
	`changed_by` text NOT NULL,
	`needed_at` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`merchant_id`, `session_id`, `address`)
);
--> statement-breakpoint
CREATE INDEX `sandbox_accounts_by_session` ON `sandbox_accounts` (`session_id`) WHERE session_id <> '';--> statement-breakpoint
CREATE INDEX `sandbox_accounts_unneeded` ON `sandbox_accounts` (`needed_at`) WHERE session_id = '';--> statement-breakpoint
CREATE TABLE `sandbox_sessions` (
	`id` blob PRIMARY KEY NOT NULL,
	`merchant_id` blob NOT NULL,
	`scenario` text NOT NULL,
	`seed` text NOT NULL,
	`status` text NOT NULL,
	`options` text NOT NULL,
	`product_id` blob,
	`endpoint_id` blob,
	`advanced_ms` integer NOT NULL,
	`advancing_to_ms` integer NOT NULL,
	`next_step` integer NOT NULL,
	`waits` integer NOT NULL,
	`notes` text NOT NULL,
	`steps` text NOT NULL,
	`event_seq` integer NOT NULL,
	`moved_at` integer NOT NULL,
	`ended_at` integer,
	`created_at` integer NOT NULL,
	`version` integer NOT NULL,
	CONSTRAINT "sandbox_sessions_status" CHECK(status IN ('running', 'completed', 'failed'))
);
--> statement-breakpoint
CREATE INDEX `sandbox_sessions_by_merchant` ON `sandbox_sessions` (`merchant_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `sandbox_sessions_running` ON `sandbox_sessions` (`moved_at`) WHERE status = 'running';--> statement-breakpoint
CREATE INDEX `sandbox_sessions_ended` ON `sandbox_sessions` (`ended_at`) WHERE ended_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `sandbox_transactions` (
	`merchant_id` blob NOT NULL,
	`session_id` blob NOT NULL,
	`message_hash` text NOT NULL,
	`outcome` text NOT NULL,
	`tx_signature` text,
	`wire` text,
	`sent_at` integer,
	`inner` text,
	`about` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`merchant_id`, `message_hash`)
);
--> statement-breakpoint
CREATE INDEX `sandbox_transactions_by_signature` ON `sandbox_transactions` (`merchant_id`,`tx_signature`);--> statement-breakpoint
CREATE INDEX `sandbox_transactions_by_session` ON `sandbox_transactions` (`session_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `sandbox_transactions_about` ON `sandbox_transactions` (`merchant_id`,`about`,`sent_at`) WHERE about IS NOT NULL;--> statement-breakpoint
CREATE TABLE `channel_payouts` (
	`payment_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`tx_signature` text NOT NULL,
	`channel_id` text NOT NULL,
	`amount` text NOT NULL,
	PRIMARY KEY(`payment_id`, `tx_signature`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `channel_payouts_by_transaction` ON `channel_payouts` (`livemode`,`tx_signature`,`channel_id`) WHERE tx_signature IS NOT NULL;--> statement-breakpoint
CREATE TABLE `metered_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`product_id` blob NOT NULL,
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
	`voucher_ends_at` integer,
	`used_at` integer NOT NULL,
	`ended_at` integer,
	`settled_at` integer,
	`settling_payment_id` blob,
	`settling_cumulative` text,
	`payout_seen` text DEFAULT '0' NOT NULL,
	`payout_seen_tx` text,
	`payout_read_tx` text,
	`seal_due_at` integer,
	`next_check_at` integer,
	`version` integer NOT NULL,
	`updated_at` integer NOT NULL,
	CONSTRAINT "metered_sessions_status" CHECK(status IN ('created', 'open', 'closing', 'closed', 'expired', 'failed'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `metered_sessions_by_channel` ON `metered_sessions` (`livemode`,`channel_id`) WHERE channel_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `metered_sessions_by_merchant` ON `metered_sessions` (`merchant_id`,`livemode`,`created_at`);--> statement-breakpoint
CREATE INDEX `metered_sessions_closing` ON `metered_sessions` (`next_check_at`) WHERE status = 'closing' AND next_check_at IS NOT NULL AND livemode = 1;--> statement-breakpoint
CREATE INDEX `metered_sessions_sealing` ON `metered_sessions` (`seal_due_at`) WHERE status = 'closing' AND seal_due_at IS NOT NULL AND livemode = 1;--> statement-breakpoint
CREATE INDEX `metered_sessions_expiring` ON `metered_sessions` (`voucher_ends_at`) WHERE status = 'open' AND voucher_ends_at IS NOT NULL AND cumulative <> settled AND livemode = 1;--> statement-breakpoint
CREATE INDEX `metered_sessions_active` ON `metered_sessions` (`next_check_at`) WHERE status = 'open' AND next_check_at IS NOT NULL AND livemode = 1;--> statement-breakpoint
CREATE INDEX `metered_sessions_opening` ON `metered_sessions` (`next_check_at`) WHERE status = 'created' AND channel_id IS NOT NULL AND next_check_at IS NOT NULL AND livemode = 1;--> statement-breakpoint
CREATE INDEX `metered_sessions_ended` ON `metered_sessions` (`next_check_at`) WHERE ended_at IS NOT NULL AND next_check_at IS NOT NULL AND livemode = 1;--> statement-breakpoint
CREATE INDEX `metered_sessions_closing_by_merchant` ON `metered_sessions` (`merchant_id`,`next_check_at`) WHERE status = 'closing' AND next_check_at IS NOT NULL AND livemode = 1;--> statement-breakpoint
CREATE INDEX `metered_sessions_active_by_merchant` ON `metered_sessions` (`merchant_id`,`next_check_at`) WHERE status = 'open' AND next_check_at IS NOT NULL AND livemode = 1;--> statement-breakpoint
CREATE INDEX `metered_sessions_opening_by_merchant` ON `metered_sessions` (`merchant_id`,`next_check_at`) WHERE status = 'created' AND channel_id IS NOT NULL AND next_check_at IS NOT NULL AND livemode = 1;--> statement-breakpoint
CREATE INDEX `metered_sessions_ended_by_merchant` ON `metered_sessions` (`merchant_id`,`next_check_at`) WHERE ended_at IS NOT NULL AND next_check_at IS NOT NULL AND livemode = 1;--> statement-breakpoint
CREATE INDEX `metered_sessions_unopened` ON `metered_sessions` (`livemode`,`next_check_at`) WHERE status = 'created' AND channel_id IS NULL AND next_check_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `metered_sessions_unopened_by_product` ON `metered_sessions` (`product_id`,`created_at`) WHERE status = 'created' AND channel_id IS NULL;--> statement-breakpoint
CREATE INDEX `sandbox_metered_sessions_due` ON `metered_sessions` (`next_check_at`) WHERE next_check_at IS NOT NULL AND livemode = 0;--> statement-breakpoint
CREATE INDEX `metered_sessions_operators` ON `metered_sessions` (`operator`) WHERE next_check_at IS NOT NULL AND livemode = 1;--> statement-breakpoint
CREATE INDEX `metered_sessions_over` ON `metered_sessions` (`ended_at`) WHERE ended_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `settlements` (
	`payment_id` blob PRIMARY KEY NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`purpose` text NOT NULL,
	`product_id` blob,
	`setup_intent_id` blob,
	`customer_wallet` text,
	`customer_ref` text,
	`tx_signature` text NOT NULL,
	`wire` text NOT NULL,
	`asset` text NOT NULL,
	`mint` text NOT NULL,
	`amount` text NOT NULL,
	`payer_wallet` text NOT NULL,
	`fee_payer` text NOT NULL,
	`recipient_wallet` text NOT NULL,
	`recipient_ata` text NOT NULL,
	`nonce` text NOT NULL,
	`terms` text NOT NULL,
	`last_valid_block_height` integer NOT NULL,
	`status` text NOT NULL,
	`failure_reason` text,
	`doubted_at` integer,
	`next_check_at` integer,
	`answered_by` text,
	`created_at` integer NOT NULL,
	CONSTRAINT "settlements_status" CHECK(status IN ('pending', 'settled', 'failed'))
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `settlements_failed` ON `settlements` (`created_at`) WHERE status = 'failed' AND next_check_at IS NULL;--> statement-breakpoint
CREATE INDEX `settlements_due` ON `settlements` (`next_check_at`) WHERE status <> 'settled' AND next_check_at IS NOT NULL AND livemode = 1;--> statement-breakpoint
CREATE INDEX `sandbox_settlements_due` ON `settlements` (`next_check_at`) WHERE status <> 'settled' AND next_check_at IS NOT NULL AND livemode = 0;--> statement-breakpoint
CREATE INDEX `sandbox_settlements_by_ref` ON `settlements` (`merchant_id`,`customer_ref`) WHERE livemode = 0;--> statement-breakpoint
CREATE INDEX `settlements_by_payer` ON `settlements` (`payer_wallet`,`livemode`,`created_at`) WHERE status <> 'settled';--> statement-breakpoint
CREATE INDEX `settlements_paid` ON `settlements` (`merchant_id`,`livemode`,`payer_wallet`) WHERE status = 'settled';--> statement-breakpoint
CREATE INDEX `settlements_by_intent` ON `settlements` (`setup_intent_id`,`created_at`) WHERE setup_intent_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `setup_intents` (
	`id` blob PRIMARY KEY NOT NULL,
	`account_id` blob NOT NULL,
	`secret_hash` text NOT NULL,
	`status` text NOT NULL,
	`agent_name` text NOT NULL,
	`operator_contact` text,
	`intended_use` text,
	`plan` text,
	`manifest` text,
	`evaluation` text,
	`spend_per_payment` text,
	`spend_per_day` text,
	`sandbox_key_id` blob NOT NULL,
	`live_key_id` blob,
	`approved_at` integer,
	`expires_at` integer,
	`is_retained` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL,
	CONSTRAINT "setup_intents_status" CHECK(status IN ('created', 'changes_required', 'ready', 'approved', 'expired'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `setup_intents_account_id_unique` ON `setup_intents` (`account_id`);--> statement-breakpoint
CREATE INDEX `setup_intents_ended` ON `setup_intents` (`expires_at`) WHERE status = 'expired' AND is_retained = 0;--> statement-breakpoint
CREATE INDEX `setup_intents_expiring` ON `setup_intents` (`expires_at`) WHERE status <> 'expired' AND expires_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `subscription_authorizations` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`product_id` blob NOT NULL,
	`slug` text NOT NULL,
	`payment_id` blob NOT NULL,
	`membership_id` blob,
	`subscriber_wallet` text NOT NULL,
	`customer_ref` text,
	`email` text,
	`terms` text NOT NULL,
	`plan_address` text NOT NULL,
	`subscription_address` text NOT NULL,
	`mint` text NOT NULL,
	`puller` text NOT NULL,
	`recipient_wallet` text NOT NULL,
	`recipient_ata` text NOT NULL,
	`amount` text NOT NULL,
	`period_hours` integer NOT NULL,
	`status` text NOT NULL,
	`started_at` integer,
	`period_starts_at` integer,
	`period_ends_at` integer,
	`paid_through` integer,
	`failures` integer DEFAULT 0 NOT NULL,
	`last_collection` text,
	`cancelled_at` integer,
	`cancel_effective_at` integer,
	`stopped_at` integer,
	`next_attempt_at` integer,
	`collect_at` integer,
	`next_check_at` integer,
	`asked_read_at` integer,
	`ended_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL,
	CONSTRAINT "subscription_authorizations_status" CHECK(status IN ('pending', 'active', 'past_due', 'requires_reapproval', 'cancel_requested', 'cancelled', 'expired'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `subscription_authorizations_payment_id_unique` ON `subscription_authorizations` (`payment_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `subscription_authorizations_current` ON `subscription_authorizations` (`livemode`,`subscription_address`) WHERE status IN ('active', 'past_due', 'cancel_requested', 'requires_reapproval');--> statement-breakpoint
CREATE INDEX `subscription_authorizations_by_address` ON `subscription_authorizations` (`subscription_address`,`livemode`,`created_at`);--> statement-breakpoint
CREATE INDEX `subscription_authorizations_by_merchant` ON `subscription_authorizations` (`merchant_id`,`livemode`,`created_at`);--> statement-breakpoint
CREATE INDEX `subscription_authorizations_by_status` ON `subscription_authorizations` (`merchant_id`,`livemode`,`status`,`created_at`);--> statement-breakpoint
CREATE INDEX `subscription_authorizations_of_product` ON `subscription_authorizations` (`merchant_id`,`livemode`,`product_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `subscription_authorizations_by_wallet` ON `subscription_authorizations` (`merchant_id`,`livemode`,`subscriber_wallet`,`product_id`);--> statement-breakpoint
CREATE INDEX `subscription_authorizations_by_ref` ON `subscription_authorizations` (`merchant_id`,`livemode`,`customer_ref`,`product_id`) WHERE customer_ref IS NOT NULL;--> statement-breakpoint
CREATE INDEX `subscription_collections_due` ON `subscription_authorizations` (`collect_at`) WHERE collect_at IS NOT NULL AND livemode = 1;--> statement-breakpoint
CREATE INDEX `subscription_attempts_due` ON `subscription_authorizations` (`next_attempt_at`) WHERE next_attempt_at IS NOT NULL AND livemode = 1;--> statement-breakpoint
CREATE INDEX `subscription_checkouts_due` ON `subscription_authorizations` (`next_check_at`) WHERE next_check_at IS NOT NULL AND livemode = 1 AND status = 'pending';--> statement-breakpoint
CREATE INDEX `subscription_checks_due` ON `subscription_authorizations` (`next_check_at`) WHERE next_check_at IS NOT NULL AND livemode = 1 AND status <> 'pending';--> statement-breakpoint
CREATE INDEX `subscription_collections_by_merchant` ON `subscription_authorizations` (`merchant_id`,`collect_at`) WHERE collect_at IS NOT NULL AND livemode = 1;--> statement-breakpoint
CREATE INDEX `subscription_checkouts_by_merchant` ON `subscription_authorizations` (`merchant_id`,`next_check_at`) WHERE next_check_at IS NOT NULL AND livemode = 1 AND status = 'pending';--> statement-breakpoint
CREATE INDEX `subscription_checks_by_merchant` ON `subscription_authorizations` (`merchant_id`,`next_check_at`) WHERE next_check_at IS NOT NULL AND livemode = 1 AND status <> 'pending';--> statement-breakpoint
CREATE INDEX `sandbox_collections_due` ON `subscription_authorizations` (`collect_at`) WHERE collect_at IS NOT NULL AND livemode = 0;--> statement-breakpoint
CREATE INDEX `sandbox_subscription_authorizations_due` ON `subscription_authorizations` (`next_check_at`) WHERE next_check_at IS NOT NULL AND livemode = 0;--> statement-breakpoint
CREATE INDEX `subscription_authorizations_pullers` ON `subscription_authorizations` (`puller`) WHERE ended_at IS NULL AND livemode = 1;--> statement-breakpoint
CREATE INDEX `subscription_authorizations_over` ON `subscription_authorizations` (`ended_at`) WHERE ended_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `subscription_collections` (
	`authorization_id` text NOT NULL,
	`period_starts_at` integer NOT NULL,
	`period_ends_at` integer NOT NULL,
	`payment_id` blob NOT NULL,
	`collected_at` integer,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`authorization_id`, `period_starts_at`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `subscription_collections_payment_id_unique` ON `subscription_collections` (`payment_id`);--> statement-breakpoint
CREATE TABLE `subscription_plans` (
	`plan_address` text NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`product_id` blob NOT NULL,
	`plan_id` text NOT NULL,
	`owner_wallet` text NOT NULL,
	`puller` text NOT NULL,
	`mint` text NOT NULL,
	`amount` text NOT NULL,
	`period_hours` integer NOT NULL,
	`published_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`livemode`, `plan_address`)
);
--> statement-breakpoint
CREATE INDEX `subscription_plans_of_product` ON `subscription_plans` (`product_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `subscription_plans_of_wallet` ON `subscription_plans` (`merchant_id`,`livemode`,`owner_wallet`);--> statement-breakpoint
CREATE TABLE `tx_claims` (
	`tx_key` text NOT NULL,
	`tx_signature` text,
	`livemode` integer DEFAULT true NOT NULL,
	`kind` text NOT NULL,
	`subject_id` blob NOT NULL,
	`slot` integer,
	`confirmed_at` integer,
	`final_at` integer,
	`doubted_at` integer,
	`dropped_at` integer,
	`next_check_at` integer DEFAULT 0,
	`answered_by` text,
	`identifier` text,
	PRIMARY KEY(`tx_key`, `livemode`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `tx_claims_by_identifier` ON `tx_claims` (`identifier`,`livemode`) WHERE identifier IS NOT NULL;--> statement-breakpoint
CREATE INDEX `tx_claims_due` ON `tx_claims` (`next_check_at`) WHERE next_check_at IS NOT NULL AND livemode = 1;--> statement-breakpoint
CREATE INDEX `sandbox_tx_claims_due` ON `tx_claims` (`next_check_at`) WHERE next_check_at IS NOT NULL AND livemode = 0;--> statement-breakpoint
CREATE TABLE `endpoint_hours` (
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
	`hour` integer NOT NULL,
	`endpoint_id` blob NOT NULL,
	`succeeded` integer NOT NULL,
	`ended` integer NOT NULL,
	PRIMARY KEY(`merchant_id`, `livemode`, `hour`, `endpoint_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `endpoint_hours_ending` ON `endpoint_hours` (`hour`);--> statement-breakpoint
CREATE TABLE `webhook_deliveries` (
	`event_id` text NOT NULL,
	`endpoint_id` blob NOT NULL,
	`copy` integer NOT NULL,
	`id` integer NOT NULL,
	`merchant_id` blob NOT NULL,
	`livemode` integer NOT NULL,
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
	`test_event` text,
	`failures` text,
	PRIMARY KEY(`event_id`, `endpoint_id`, `copy`),
	CONSTRAINT "webhook_deliveries_status" CHECK(status IN ('pending', 'retrying', 'succeeded', 'failed', 'cancelled'))
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_deliveries_by_endpoint` ON `webhook_deliveries` (`merchant_id`,`livemode`,`endpoint_id`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_due` ON `webhook_deliveries` (`next_attempt_at`,`endpoint_id`,`id`) WHERE status IN ('pending', 'retrying');--> statement-breakpoint
CREATE INDEX `webhook_deliveries_failed` ON `webhook_deliveries` (`merchant_id`,`livemode`,`status`,`id`) WHERE status IN ('retrying', 'failed', 'cancelled');--> statement-breakpoint
CREATE TABLE `webhook_endpoints` (
	`id` blob PRIMARY KEY NOT NULL,
	`merchant_id` blob NOT NULL,
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
	`warnings_sent` integer DEFAULT 0 NOT NULL,
	`created_by` text NOT NULL,
	`changed_by` text,
	`changed_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL,
	CONSTRAINT "webhook_endpoints_status" CHECK(status IN ('enabled', 'disabled'))
);
--> statement-breakpoint
CREATE INDEX `webhook_endpoints_sealed` ON `webhook_endpoints` (substr(secret_sealed, 1, 8));--> statement-breakpoint
CREATE INDEX `webhook_endpoints_by_merchant` ON `webhook_endpoints` (`merchant_id`,`livemode`,`created_at`);--> statement-breakpoint
CREATE INDEX `webhook_endpoints_by_status` ON `webhook_endpoints` (`merchant_id`,`livemode`,`status`);--> statement-breakpoint
-- For an operator's console: ids as text. No statement of the service reads these views.
CREATE VIEW `readable_payments` AS SELECT lower(substr(hex(id), 1, 8) || '-' || substr(hex(id), 9, 4) || '-' || substr(hex(id), 13, 4) || '-' || substr(hex(id), 17, 4) || '-' || substr(hex(id), 21)) AS id, lower(substr(hex(merchant_id), 1, 8) || '-' || substr(hex(merchant_id), 9, 4) || '-' || substr(hex(merchant_id), 13, 4) || '-' || substr(hex(merchant_id), 17, 4) || '-' || substr(hex(merchant_id), 21)) AS merchant_id, livemode, lower(substr(hex(product_id), 1, 8) || '-' || substr(hex(product_id), 9, 4) || '-' || substr(hex(product_id), 13, 4) || '-' || substr(hex(product_id), 17, 4) || '-' || substr(hex(product_id), 21)) AS product_id, status, asset, price_amount, lower(hex(payer_wallet)) AS payer_wallet, tx_signature, customer_ref, iif(membership_id IS NULL, NULL, lower(substr(hex(membership_id), 1, 8) || '-' || substr(hex(membership_id), 9, 4) || '-' || substr(hex(membership_id), 13, 4) || '-' || substr(hex(membership_id), 17, 4) || '-' || substr(hex(membership_id), 21))) AS membership_id, iif(receipt_id IS NULL, NULL, lower(substr(hex(receipt_id), 1, 8) || '-' || substr(hex(receipt_id), 9, 4) || '-' || substr(hex(receipt_id), 13, 4) || '-' || substr(hex(receipt_id), 17, 4) || '-' || substr(hex(receipt_id), 21))) AS receipt_id, created_at, confirmed_at, finalized_at FROM payments;
--> statement-breakpoint
CREATE VIEW `readable_accounts` AS SELECT lower(substr(hex(id), 1, 8) || '-' || substr(hex(id), 9, 4) || '-' || substr(hex(id), 13, 4) || '-' || substr(hex(id), 17, 4) || '-' || substr(hex(id), 21)) AS id, email, status, plan, created_at FROM accounts JOIN persons USING (id);
--> statement-breakpoint
CREATE VIEW `readable_claims` AS SELECT tx_key, tx_signature, livemode, kind, lower(substr(hex(subject_id), 1, 8) || '-' || substr(hex(subject_id), 9, 4) || '-' || substr(hex(subject_id), 13, 4) || '-' || substr(hex(subject_id), 17, 4) || '-' || substr(hex(subject_id), 21)) AS subject_id, confirmed_at, final_at, dropped_at FROM tx_claims;
--> statement-breakpoint
-- Rows of all events. `substr(id, 15)` of an act is the key of its unique index. Positions are digits of Crockford's base 32.
CREATE VIEW `events` AS SELECT a.seq * 32 + j.key AS seq, a.id || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', j.key + 1, 1) AS id, a.merchant_id, a.livemode, j.value AS type, hex(a.body) AS body, a.request_id, a.created_at, a.fanned_out_at, a.seq AS act_seq, substr(a.id, 15) AS act_key, a.rare_type AS act_rare_type FROM acts a JOIN json_each('[' || a.types || ']') j;
--> statement-breakpoint
-- Sales of the archive as payments and as receipts. The database flattens both into the statements that name them, and finds the owner first or by number.
CREATE VIEW `archived_payments` AS SELECT s.row_number, o.merchant_id, o.livemode, s.product_id, s.created_at, s.archive_id, s.line_at, s.line_length, s.membership_id, s.nonce, s.customer_ref, s.customer_wallet, s.overpaid_amount, s.fee_amount, s.access_period_days, s.period_ends_at, s.payment_id AS id, s.payer AS payer_wallet, s.asset, s.price_amount, s.is_metered, s.confirmed_at FROM archived_sales s JOIN archive_owners o ON o.id = s.owner WHERE s.archive_id IS NOT NULL;
--> statement-breakpoint
CREATE VIEW `archived_receipts` AS SELECT s.row_number, o.merchant_id, o.livemode, s.product_id, s.created_at, coalesce(s.receipt_archive_id, s.archive_id) AS archive_id, s.receipt_line_at AS line_at, s.receipt_line_length AS line_length, s.receipt_id AS id, s.payment_id, s.payer, s.is_paid_by_owner, s.seq, s.after_seq, s.product_name FROM archived_sales s JOIN archive_owners o ON o.id = s.owner WHERE s.seq IS NOT NULL;
--> statement-breakpoint
-- Full-text indexes for the search of receipts. `owner` is the term of a row's merchant and mode, so a search reads that merchant's rows alone.
CREATE VIRTUAL TABLE `name_words` USING fts5(owner, words, content='', columnsize=0, tokenize='unicode61');
--> statement-breakpoint
CREATE VIRTUAL TABLE `invoice_words` USING fts5(owner, words, content='', columnsize=0, tokenize='unicode61');
--> statement-breakpoint
-- Triggers that write other tables do nothing for rows of a partition that is being copied into the database (`held`): those tables are copied too.
-- Names of sold products. A further sale under a name writes nothing, except once a month the end of the name's time.
CREATE TRIGGER `receipt_names_noted` AFTER INSERT ON `receipts` WHEN NOT EXISTS (SELECT 1 FROM held WHERE partition = lower(substr(hex(new.merchant_id), 18, 3)) AND state = 'arriving') BEGIN INSERT INTO receipt_names(merchant_id, livemode, name, product_id, since, until) SELECT new.merchant_id, new.livemode, new.product_name, new.product_id, at, at + 2592000000 FROM (SELECT coalesce((SELECT created_at FROM payments WHERE id = new.payment_id), new.created_at) AS at) WHERE true ON CONFLICT (merchant_id, livemode, name, product_id) DO UPDATE SET since = min(since, excluded.since), until = max(until, excluded.until) WHERE excluded.since NOT BETWEEN since AND until; END;
--> statement-breakpoint
CREATE TRIGGER `name_words_added` AFTER INSERT ON `receipt_names` BEGIN INSERT INTO name_words(rowid, owner, words) VALUES (new.id, 'm' || lower(hex(new.merchant_id)) || new.livemode, new.name); END;
--> statement-breakpoint
CREATE TRIGGER `name_words_removed` AFTER DELETE ON `receipt_names` BEGIN INSERT INTO name_words(name_words, rowid, owner, words) VALUES ('delete', old.id, 'm' || lower(hex(old.merchant_id)) || old.livemode, old.name); END;
--> statement-breakpoint
CREATE TRIGGER `invoice_words_added` AFTER INSERT ON `receipt_metadata` BEGIN INSERT INTO invoice_words(rowid, owner, words) VALUES (new.row_number, 'm' || lower(hex(new.merchant_id)) || new.livemode, new.product_name || ' ' || coalesce(json_extract(new.metadata, '$.invoice_number'), '') || ' ' || coalesce(json_extract(new.metadata, '$.reference'), '') || ' ' || coalesce(json_extract(new.metadata, '$.bill_to.name'), '')); END;
--> statement-breakpoint
CREATE TRIGGER `invoice_words_changed` AFTER UPDATE OF `metadata` ON `receipt_metadata` BEGIN INSERT INTO invoice_words(invoice_words, rowid, owner, words) VALUES ('delete', old.row_number, 'm' || lower(hex(old.merchant_id)) || old.livemode, old.product_name || ' ' || coalesce(json_extract(old.metadata, '$.invoice_number'), '') || ' ' || coalesce(json_extract(old.metadata, '$.reference'), '') || ' ' || coalesce(json_extract(old.metadata, '$.bill_to.name'), '')); INSERT INTO invoice_words(rowid, owner, words) VALUES (new.row_number, 'm' || lower(hex(new.merchant_id)) || new.livemode, new.product_name || ' ' || coalesce(json_extract(new.metadata, '$.invoice_number'), '') || ' ' || coalesce(json_extract(new.metadata, '$.reference'), '') || ' ' || coalesce(json_extract(new.metadata, '$.bill_to.name'), '')); END;
--> statement-breakpoint
CREATE TRIGGER `invoice_words_removed` AFTER DELETE ON `receipt_metadata` BEGIN INSERT INTO invoice_words(invoice_words, rowid, owner, words) VALUES ('delete', old.row_number, 'm' || lower(hex(old.merchant_id)) || old.livemode, old.product_name || ' ' || coalesce(json_extract(old.metadata, '$.invoice_number'), '') || ' ' || coalesce(json_extract(old.metadata, '$.reference'), '') || ' ' || coalesce(json_extract(old.metadata, '$.bill_to.name'), '')); END;
--> statement-breakpoint
-- Listings of a product that is on sale and listed, one for each of its routes. A change of the product makes a probe due. The id has the partition of the product's.
CREATE TRIGGER `listings_added` AFTER INSERT ON `products` WHEN new.livemode = 1 AND new.discovery IS NOT NULL AND NOT EXISTS (SELECT 1 FROM held WHERE partition = lower(substr(hex(new.id), 18, 3)) AND state = 'arriving') BEGIN INSERT INTO listings(id, merchant_id, product_id, call, target, next_probe_at, reason, created_at, updated_at) SELECT unhex(substr(hex(new.id), 1, 20) || hex(randomblob(6))), new.merchant_id, new.id, coalesce(r.value ->> 'method', 'tool'), coalesce(r.value ->> 'tool_name', r.value ->> 'path'), CASE WHEN r.value ->> 'tool_name' IS NULL THEN 0 END, CASE WHEN r.value ->> 'tool_name' IS NOT NULL THEN 'mcp_not_looked_at' END, new.updated_at, new.updated_at FROM json_each(new.discovery, '$.routes') r WHERE new.status = 'active' AND new.discovery ->> '$.listed' = 1; END;
--> statement-breakpoint
CREATE TRIGGER `listings_changed` AFTER UPDATE OF `discovery`, `status`, `asset` ON `products` WHEN new.livemode = 1 AND (old.discovery IS NOT new.discovery OR old.status <> new.status OR old.asset <> new.asset) AND NOT EXISTS (SELECT 1 FROM held WHERE partition = lower(substr(hex(new.id), 18, 3)) AND state = 'arriving') BEGIN DELETE FROM listings WHERE product_id = new.id AND NOT EXISTS (SELECT 1 FROM json_each(new.discovery, '$.routes') r WHERE new.status = 'active' AND new.discovery ->> '$.listed' = 1 AND coalesce(r.value ->> 'method', 'tool') = listings.call AND coalesce(r.value ->> 'tool_name', r.value ->> 'path') = listings.target); INSERT INTO listings(id, merchant_id, product_id, call, target, next_probe_at, reason, created_at, updated_at) SELECT unhex(substr(hex(new.id), 1, 20) || hex(randomblob(6))), new.merchant_id, new.id, coalesce(r.value ->> 'method', 'tool'), coalesce(r.value ->> 'tool_name', r.value ->> 'path'), CASE WHEN r.value ->> 'tool_name' IS NULL THEN 0 END, CASE WHEN r.value ->> 'tool_name' IS NOT NULL THEN 'mcp_not_looked_at' END, new.updated_at, new.updated_at FROM json_each(new.discovery, '$.routes') r WHERE new.status = 'active' AND new.discovery ->> '$.listed' = 1 ON CONFLICT (product_id, call, target) WHERE product_id IS NOT NULL DO UPDATE SET next_probe_at = CASE WHEN call <> 'tool' THEN coalesce(probed_at + 60000, 0) END, good_at = CASE WHEN new.asset = 'USDC' THEN good_at END; END;
--> statement-breakpoint
CREATE TRIGGER `listings_removed` AFTER DELETE ON `products` WHEN old.discovery IS NOT NULL AND NOT EXISTS (SELECT 1 FROM held WHERE partition = lower(substr(hex(old.id), 18, 3)) AND state = 'arriving') BEGIN DELETE FROM listings WHERE product_id = old.id; END;
--> statement-breakpoint
-- A listing is at an origin of its merchant, on an enabled rail, and names the payee. A product is listed at the first origin. A change makes a probe due, at most one a minute.
CREATE TRIGGER `listings_moved` AFTER UPDATE OF `origins`, `enabled`, `payout_wallet` ON `rail_settings` WHEN new.livemode = 1 AND new.rail_id = 'x402_solana_usdc' AND (old.origins <> new.origins OR old.enabled <> new.enabled OR old.payout_wallet IS NOT new.payout_wallet) AND NOT EXISTS (SELECT 1 FROM held WHERE partition = lower(substr(hex(new.merchant_id), 18, 3)) AND state = 'arriving') BEGIN UPDATE listings SET good_at = CASE WHEN new.enabled = 1 AND origin IN (SELECT value FROM json_each(new.origins)) THEN good_at END, next_probe_at = coalesce(probed_at + 60000, 0) WHERE merchant_id = new.merchant_id AND call <> 'tool'; END;
--> statement-breakpoint
CREATE TRIGGER `listings_first_origin` AFTER INSERT ON `rail_settings` WHEN new.livemode = 1 AND new.origins <> '[]' AND NOT EXISTS (SELECT 1 FROM held WHERE partition = lower(substr(hex(new.merchant_id), 18, 3)) AND state = 'arriving') BEGIN UPDATE listings SET next_probe_at = coalesce(probed_at + 60000, 0) WHERE merchant_id = new.merchant_id AND call <> 'tool'; END;
--> statement-breakpoint
-- A suspended or deleted account lists nothing, nor does a product that the operator switched off.
CREATE TRIGGER `listings_of_account` AFTER UPDATE OF `status` ON `accounts` WHEN old.status <> new.status AND NOT EXISTS (SELECT 1 FROM held WHERE partition = lower(substr(hex(new.id), 18, 3)) AND state = 'arriving') BEGIN UPDATE listings SET good_at = NULL, next_probe_at = CASE WHEN new.status = 'active' AND call <> 'tool' THEN coalesce(probed_at + 60000, 0) END WHERE merchant_id = new.id; END;
--> statement-breakpoint
CREATE TRIGGER `listings_switched_off` AFTER INSERT ON `switched_off` WHEN new.subject LIKE 'product:%' AND NOT EXISTS (SELECT 1 FROM held WHERE partition = substr(substr(new.subject, 9), 21, 3) AND state = 'arriving') BEGIN UPDATE listings SET good_at = NULL, next_probe_at = NULL WHERE product_id = unhex(substr(new.subject, 9), '-'); END;
--> statement-breakpoint
CREATE TRIGGER `listings_switched_on` AFTER DELETE ON `switched_off` WHEN old.subject LIKE 'product:%' AND NOT EXISTS (SELECT 1 FROM held WHERE partition = substr(substr(old.subject, 9), 21, 3) AND state = 'arriving') BEGIN UPDATE listings SET next_probe_at = coalesce(probed_at + 60000, 0) WHERE product_id = unhex(substr(old.subject, 9), '-') AND call <> 'tool'; END;
--> statement-breakpoint
CREATE TRIGGER `listing_words_removed` AFTER DELETE ON `listings` WHEN NOT EXISTS (SELECT 1 FROM held WHERE partition = lower(substr(hex(old.id), 18, 3)) AND state = 'arriving') BEGIN DELETE FROM listing_words WHERE listing_id = old.id; END;
