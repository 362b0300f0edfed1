ALTER TABLE `accounts` ADD `claimed` text;--> statement-breakpoint
-- What the archive holds of accounts that were deleted before names were erased there is looked over once more.
UPDATE `accounts` SET `erased_at` = NULL WHERE `status` = 'deleted' AND EXISTS (SELECT 1 FROM `archives` WHERE `merchant_id` = `accounts`.`id`);
