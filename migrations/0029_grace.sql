ALTER TABLE `memberships` ADD `grace_hours` integer DEFAULT 72 NOT NULL;--> statement-breakpoint
UPDATE `memberships` SET grace_hours = coalesce((SELECT p.grace_hours FROM products p WHERE p.id = memberships.product_id), 72);
