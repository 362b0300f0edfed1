-- Rows of all events. `substr(id, 15)` of an act is the key of its unique index. Positions are digits of Crockford's base 32.
CREATE VIEW `events` AS SELECT a.seq * 32 + j.key AS seq, a.id || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', j.key + 1, 1) AS id, a.merchant_id, a.livemode, j.value AS type, hex(a.body) AS body, a.request_id, a.created_at, a.fanned_out_at, a.seq AS act_seq, substr(a.id, 15) AS act_key, a.rare_type AS act_rare_type FROM acts a JOIN json_each('[' || a.types || ']') j;
--> statement-breakpoint
-- Full-text indexes for the search of receipts. `owner` is the term of a row's merchant and mode, so a search reads that merchant's rows alone.
CREATE VIRTUAL TABLE `name_words` USING fts5(owner, words, content='', columnsize=0, tokenize='unicode61');
--> statement-breakpoint
CREATE VIRTUAL TABLE `invoice_words` USING fts5(owner, words, content='', columnsize=0, tokenize='unicode61');
--> statement-breakpoint
-- Names of sold products. A further sale under a name writes nothing, except once a month the end of the name's time.
CREATE TRIGGER `receipt_names_noted` AFTER INSERT ON `receipts` BEGIN INSERT INTO receipt_names(merchant_id, livemode, name, product_id, since, until) SELECT new.merchant_id, new.livemode, new.product_name, new.product_id, at, at + 2592000000 FROM (SELECT coalesce((SELECT created_at FROM payments WHERE id = new.payment_id), new.created_at) AS at) WHERE true ON CONFLICT (merchant_id, livemode, name, product_id) DO UPDATE SET since = min(since, excluded.since), until = max(until, excluded.until) WHERE excluded.since NOT BETWEEN since AND until; END;
--> statement-breakpoint
CREATE TRIGGER `name_words_added` AFTER INSERT ON `receipt_names` BEGIN INSERT INTO name_words(rowid, owner, words) VALUES (new.id, 'm' || replace(new.merchant_id, '-', '') || new.livemode, new.name); END;
--> statement-breakpoint
CREATE TRIGGER `name_words_removed` AFTER DELETE ON `receipt_names` BEGIN INSERT INTO name_words(name_words, rowid, owner, words) VALUES ('delete', old.id, 'm' || replace(old.merchant_id, '-', '') || old.livemode, old.name); END;
--> statement-breakpoint
CREATE TRIGGER `invoice_words_added` AFTER INSERT ON `receipt_metadata` BEGIN INSERT INTO invoice_words(rowid, owner, words) VALUES (new.row_number, 'm' || replace(new.merchant_id, '-', '') || new.livemode, new.product_name || ' ' || coalesce(json_extract(new.metadata, '$.invoice_number'), '') || ' ' || coalesce(json_extract(new.metadata, '$.reference'), '') || ' ' || coalesce(json_extract(new.metadata, '$.bill_to.name'), '')); END;
--> statement-breakpoint
CREATE TRIGGER `invoice_words_changed` AFTER UPDATE OF `metadata` ON `receipt_metadata` BEGIN INSERT INTO invoice_words(invoice_words, rowid, owner, words) VALUES ('delete', old.row_number, 'm' || replace(old.merchant_id, '-', '') || old.livemode, old.product_name || ' ' || coalesce(json_extract(old.metadata, '$.invoice_number'), '') || ' ' || coalesce(json_extract(old.metadata, '$.reference'), '') || ' ' || coalesce(json_extract(old.metadata, '$.bill_to.name'), '')); INSERT INTO invoice_words(rowid, owner, words) VALUES (new.row_number, 'm' || replace(new.merchant_id, '-', '') || new.livemode, new.product_name || ' ' || coalesce(json_extract(new.metadata, '$.invoice_number'), '') || ' ' || coalesce(json_extract(new.metadata, '$.reference'), '') || ' ' || coalesce(json_extract(new.metadata, '$.bill_to.name'), '')); END;
--> statement-breakpoint
CREATE TRIGGER `invoice_words_removed` AFTER DELETE ON `receipt_metadata` BEGIN INSERT INTO invoice_words(invoice_words, rowid, owner, words) VALUES ('delete', old.row_number, 'm' || replace(old.merchant_id, '-', '') || old.livemode, old.product_name || ' ' || coalesce(json_extract(old.metadata, '$.invoice_number'), '') || ' ' || coalesce(json_extract(old.metadata, '$.reference'), '') || ' ' || coalesce(json_extract(old.metadata, '$.bill_to.name'), '')); END;
--> statement-breakpoint
-- Listings of a product that is on sale and listed, one for each of its routes. A change of the product makes a look due. The id has the partition of the product's.
CREATE TRIGGER `listings_added` AFTER INSERT ON `products` WHEN new.livemode = 1 AND new.discovery IS NOT NULL BEGIN INSERT INTO listings(id, merchant_id, product_id, call, target, next_probe_at, reason, created_at, updated_at) SELECT substr(new.id, 1, 24) || lower(hex(randomblob(6))), new.merchant_id, new.id, coalesce(r.value ->> 'method', 'tool'), coalesce(r.value ->> 'tool_name', r.value ->> 'path'), CASE WHEN r.value ->> 'tool_name' IS NULL THEN 0 END, CASE WHEN r.value ->> 'tool_name' IS NOT NULL THEN 'mcp_not_looked_at' END, new.updated_at, new.updated_at FROM json_each(new.discovery, '$.routes') r WHERE new.status = 'active' AND new.discovery ->> '$.listed' = 1; END;
--> statement-breakpoint
CREATE TRIGGER `listings_changed` AFTER UPDATE OF `discovery`, `status`, `asset` ON `products` WHEN new.livemode = 1 AND (old.discovery IS NOT new.discovery OR old.status <> new.status OR old.asset <> new.asset) BEGIN DELETE FROM listings WHERE product_id = new.id AND NOT EXISTS (SELECT 1 FROM json_each(new.discovery, '$.routes') r WHERE new.status = 'active' AND new.discovery ->> '$.listed' = 1 AND coalesce(r.value ->> 'method', 'tool') = listings.call AND coalesce(r.value ->> 'tool_name', r.value ->> 'path') = listings.target); INSERT INTO listings(id, merchant_id, product_id, call, target, next_probe_at, reason, created_at, updated_at) SELECT substr(new.id, 1, 24) || lower(hex(randomblob(6))), new.merchant_id, new.id, coalesce(r.value ->> 'method', 'tool'), coalesce(r.value ->> 'tool_name', r.value ->> 'path'), CASE WHEN r.value ->> 'tool_name' IS NULL THEN 0 END, CASE WHEN r.value ->> 'tool_name' IS NOT NULL THEN 'mcp_not_looked_at' END, new.updated_at, new.updated_at FROM json_each(new.discovery, '$.routes') r WHERE new.status = 'active' AND new.discovery ->> '$.listed' = 1 ON CONFLICT (product_id, call, target) WHERE product_id IS NOT NULL DO UPDATE SET next_probe_at = excluded.next_probe_at, good_at = CASE WHEN new.asset = 'USDC' THEN good_at END; END;
--> statement-breakpoint
CREATE TRIGGER `listings_removed` AFTER DELETE ON `products` WHEN old.discovery IS NOT NULL BEGIN DELETE FROM listings WHERE product_id = old.id; END;
--> statement-breakpoint
-- A listing is at an origin of its merchant, on an enabled rail. A product is listed at the first origin.
CREATE TRIGGER `listings_moved` AFTER UPDATE OF `origins`, `enabled` ON `rail_settings` WHEN new.livemode = 1 AND (old.origins <> new.origins OR old.enabled <> new.enabled) BEGIN UPDATE listings SET good_at = CASE WHEN new.enabled = 1 AND origin IN (SELECT value FROM json_each(new.origins)) THEN good_at END, next_probe_at = 0 WHERE merchant_id = new.merchant_id AND call <> 'tool' AND new.rail_id = 'x402_solana_usdc'; END;
--> statement-breakpoint
CREATE TRIGGER `listings_first_origin` AFTER INSERT ON `rail_settings` WHEN new.livemode = 1 AND new.origins <> '[]' BEGIN UPDATE listings SET next_probe_at = 0 WHERE merchant_id = new.merchant_id AND call <> 'tool'; END;
--> statement-breakpoint
-- A suspended or deleted account lists nothing, nor does a product that the operator switched off.
CREATE TRIGGER `listings_of_account` AFTER UPDATE OF `status` ON `accounts` WHEN old.status <> new.status BEGIN UPDATE listings SET good_at = NULL, next_probe_at = CASE WHEN new.status = 'active' AND call <> 'tool' THEN 0 END WHERE merchant_id = new.id; END;
--> statement-breakpoint
CREATE TRIGGER `listings_switched_off` AFTER INSERT ON `switched_off` WHEN new.subject LIKE 'product:%' BEGIN UPDATE listings SET good_at = NULL WHERE product_id = substr(new.subject, 9); END;
--> statement-breakpoint
CREATE TRIGGER `listings_switched_on` AFTER DELETE ON `switched_off` WHEN old.subject LIKE 'product:%' BEGIN UPDATE listings SET next_probe_at = 0 WHERE product_id = substr(old.subject, 9) AND call <> 'tool'; END;
--> statement-breakpoint
CREATE TABLE `listing_words` (`word` text NOT NULL, `listing_id` text NOT NULL, `weight` integer NOT NULL, PRIMARY KEY(`word`, `listing_id`)) WITHOUT ROWID;
--> statement-breakpoint
CREATE TRIGGER `listing_words_changed` AFTER UPDATE OF `words` ON `listings` WHEN old.words IS NOT new.words BEGIN DELETE FROM listing_words WHERE listing_id = old.id AND word IN (SELECT key FROM json_each(old.words)); INSERT INTO listing_words(word, listing_id, weight) SELECT key, new.id, value FROM json_each(new.words); END;
--> statement-breakpoint
CREATE TRIGGER `listing_words_removed` AFTER DELETE ON `listings` BEGIN DELETE FROM listing_words WHERE listing_id = old.id AND word IN (SELECT key FROM json_each(old.words)); END;
