ALTER TABLE `refunds` ADD `last_valid_block_height` integer;--> statement-breakpoint
ALTER TABLE `refunds` ADD `lapsed_at` integer;--> statement-breakpoint
ALTER TABLE `refunds` ADD `block_time` integer;--> statement-breakpoint
UPDATE `refunds` SET block_time = (SELECT r.value ->> 'at' FROM payments p, json_each(p.refunds) r WHERE p.id = refunds.payment_id AND r.value ->> 'txSignature' = refunds.tx_signature) WHERE seen_at IS NOT NULL;
