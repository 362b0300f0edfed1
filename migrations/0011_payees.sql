CREATE TABLE `payout_wallets` (
	`merchant_id` text NOT NULL,
	`wallet` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`merchant_id`, `wallet`)
);

--> statement-breakpoint
-- What merchants are set to be paid on so far is known to them.
INSERT OR IGNORE INTO `payout_wallets` (`merchant_id`, `wallet`, `created_at`)
	SELECT `id`, `wallet_address`, `created_at` FROM `accounts` WHERE `wallet_address` IS NOT NULL AND `status` <> 'deleted'
	UNION ALL SELECT `merchant_id`, `payout_wallet`, `updated_at` FROM `rail_settings` WHERE `livemode` = 1 AND `payout_wallet` IS NOT NULL
	UNION ALL SELECT `merchant_id`, `payout_wallet`, `created_at` FROM `products` WHERE `livemode` = 1 AND `payout_wallet` IS NOT NULL;
