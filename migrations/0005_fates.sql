CREATE TABLE `__new_tx_claims` (
	`tx_signature` text NOT NULL,
	`livemode` integer DEFAULT true NOT NULL,
	`message_hash` text,
	`kind` text NOT NULL,
	`subject_id` text NOT NULL,
	`slot` integer,
	`confirmed_at` integer,
	`final_at` integer,
	`doubted_at` integer,
	`dropped_at` integer,
	`next_look_at` integer DEFAULT 0,
	`answered_by` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`tx_signature`, `livemode`)
);
--> statement-breakpoint
-- What became of payments is taken over as it is: nothing is judged anew. Payments that are not final yet stay watched, and so are
-- settlements of the last hour. A pending one is left for the sweep to take up, whichever release sees it end. Dropped ones are looked
-- for as long as any. Who was told of the success of an older settlement is not known, and so it is told to no other call.
INSERT INTO `__new_tx_claims`("tx_signature", "livemode", "message_hash", "kind", "subject_id", "slot", "confirmed_at", "final_at", "doubted_at", "dropped_at", "next_look_at", "answered_by", "created_at")
SELECT c.tx_signature,
  coalesce(p.livemode, s.livemode, 1),
  c.message_hash,
  CASE WHEN s.status = 'pending' THEN 'settlement' WHEN s.purpose = 'access' THEN 'x402' ELSE coalesce(s.purpose, 'checkout') END,
  c.subject_id,
  coalesce(p.slot, (SELECT r.document ->> 'slot' FROM receipts r WHERE r.payment_id = c.subject_id)),
  coalesce(p.confirmed_at, CASE WHEN s.status = 'settled' THEN s.created_at END),
  p.finalized_at,
  NULL,
  p.orphaned_at,
  CASE
    WHEN p.orphaned_at IS NOT NULL THEN CASE WHEN p.orphaned_at > (unixepoch() - 604800) * 1000 THEN p.orphaned_at + 600000 END
    WHEN p.finalized_at IS NOT NULL THEN NULL
    WHEN p.id IS NOT NULL THEN p.confirmed_at + 60000
    WHEN s.status = 'pending' THEN 0
    WHEN s.status = 'settled' AND s.created_at > (unixepoch() - 3600) * 1000 THEN s.created_at + 60000
  END,
  CASE
    WHEN s.purpose = 'facilitator' THEN s.answered_by
    WHEN s.purpose = 'access' AND s.status = 'settled' AND s.created_at < (unixepoch() - 86400) * 1000 THEN 'unknown'
  END,
  c.created_at
FROM tx_claims c LEFT JOIN payments p ON p.id = c.subject_id LEFT JOIN settlements s ON s.payment_id = c.subject_id;--> statement-breakpoint
DROP TABLE `tx_claims`;--> statement-breakpoint
ALTER TABLE `__new_tx_claims` RENAME TO `tx_claims`;--> statement-breakpoint
CREATE UNIQUE INDEX `tx_claims_subject_id_unique` ON `tx_claims` (`subject_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `tx_claims_by_message` ON `tx_claims` (`message_hash`,`livemode`);--> statement-breakpoint
CREATE INDEX `tx_claims_due` ON `tx_claims` (`next_look_at`) WHERE next_look_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `__new_activations` (
	`payment_id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`plan` text NOT NULL,
	`amount` text,
	`resulting_plan` text NOT NULL,
	`paid_through` integer,
	`resulting_price` text,
	`receipt_id` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
-- What was paid was not kept here. What was held afterwards counts, at the prices of then.
INSERT INTO `__new_activations`("payment_id", "account_id", "plan", "amount", "resulting_plan", "paid_through", "resulting_price", "receipt_id", "created_at")
SELECT payment_id, account_id, plan, NULL, resulting_plan, paid_through,
  CASE resulting_plan WHEN 'starter' THEN '19000000' WHEN 'growth' THEN '49000000' WHEN 'scale' THEN '199000000' END,
  receipt_id, created_at
FROM activations;--> statement-breakpoint
DROP TABLE `activations`;--> statement-breakpoint
ALTER TABLE `__new_activations` RENAME TO `activations`;--> statement-breakpoint
CREATE INDEX `activations_by_account` ON `activations` (`account_id`,`created_at`);--> statement-breakpoint
ALTER TABLE `unmatched_payments` ADD `final_at` integer;--> statement-breakpoint
ALTER TABLE `unmatched_payments` ADD `doubted_at` integer;--> statement-breakpoint
ALTER TABLE `unmatched_payments` ADD `dropped_at` integer;--> statement-breakpoint
ALTER TABLE `unmatched_payments` ADD `next_look_at` integer DEFAULT 0;--> statement-breakpoint
CREATE INDEX `unmatched_due` ON `unmatched_payments` (`next_look_at`) WHERE next_look_at IS NOT NULL;--> statement-breakpoint
-- Money that was found before it was watched is watched once it is accepted.
UPDATE `unmatched_payments` SET `next_look_at` = NULL;
