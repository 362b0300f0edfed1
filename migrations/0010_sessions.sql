CREATE TABLE `open_sessions` (
	`product_id` text PRIMARY KEY NOT NULL,
	`count` integer NOT NULL
);
--> statement-breakpoint
DROP INDEX `payments_open`;--> statement-breakpoint
INSERT INTO `open_sessions` SELECT `product_id`, count(*) FROM `payments` WHERE `status` IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION') GROUP BY `product_id`;--> statement-breakpoint
CREATE TRIGGER `payments_opened` AFTER INSERT ON `payments` WHEN NEW.`status` IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION') BEGIN INSERT INTO `open_sessions` VALUES (NEW.`product_id`, 1) ON CONFLICT (`product_id`) DO UPDATE SET `count` = `count` + 1; END;--> statement-breakpoint
CREATE TRIGGER `payments_ended` AFTER UPDATE OF `status` ON `payments` WHEN OLD.`status` IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION') AND NEW.`status` NOT IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION') BEGIN UPDATE `open_sessions` SET `count` = `count` - 1 WHERE `product_id` = OLD.`product_id`; END;--> statement-breakpoint
CREATE TRIGGER `payments_removed` AFTER DELETE ON `payments` WHEN OLD.`status` IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION') BEGIN UPDATE `open_sessions` SET `count` = `count` - 1 WHERE `product_id` = OLD.`product_id`; END;
