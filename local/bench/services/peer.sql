-- What a user would build instead, with the same guarantees: one function, one transaction, one round trip.
CREATE TABLE keys (hash text PRIMARY KEY, account text NOT NULL, is_revoked boolean NOT NULL DEFAULT false);
-- Unlogged: like our rate windows, these may be forgotten in a crash. Free pages for updates in place, here and below.
CREATE UNLOGGED TABLE rates (account text PRIMARY KEY, opened_at bigint NOT NULL, hits int NOT NULL) WITH (fillfactor = 10);
CREATE TABLE counters (id text PRIMARY KEY, granted bigint NOT NULL, used bigint NOT NULL, version bigint NOT NULL) WITH (fillfactor = 10);
CREATE TABLE operations (counter text, key text, fingerprint text NOT NULL, answer text NOT NULL, PRIMARY KEY (counter, key));

-- Answers '401', '429', '409', '403' or the body of a 200. `rate_limit` null: the caller counts by itself.
-- Two at once with one key: the second waits for the counter's row, then breaks the primary key, and is called again.
CREATE FUNCTION consume(key_hash text, counter_id text, idempotency_key text, body_hash text, units int, rate_limit int, now_ms bigint)
RETURNS TABLE (answer text, rate_hits int, is_replayed boolean) LANGUAGE plpgsql AS $$
DECLARE
  caller keys; known operations; left_units bigint; next_version bigint;
BEGIN
  is_replayed := false;
  SELECT * INTO caller FROM keys WHERE hash = key_hash;
  IF NOT FOUND OR caller.is_revoked THEN answer := '401'; RETURN NEXT; RETURN; END IF;
  IF rate_limit IS NOT NULL THEN
    UPDATE rates SET hits = CASE WHEN now_ms < opened_at + 1000 THEN hits + 1 ELSE 1 END,
                     opened_at = CASE WHEN now_ms < opened_at + 1000 THEN opened_at ELSE now_ms END
      WHERE account = caller.account RETURNING hits INTO rate_hits;
    IF rate_hits > rate_limit THEN answer := '429'; RETURN NEXT; RETURN; END IF;
  END IF;
  SELECT * INTO known FROM operations o WHERE o.counter = counter_id AND o.key = idempotency_key;
  IF FOUND THEN
    is_replayed := true;
    answer := CASE WHEN known.fingerprint = body_hash THEN known.answer ELSE '409' END;
    RETURN NEXT; RETURN;
  END IF;
  UPDATE counters c SET used = c.used + units, version = c.version + 1
    WHERE c.id = counter_id AND c.used + units <= c.granted RETURNING c.granted - c.used, c.version INTO left_units, next_version;
  IF NOT FOUND THEN answer := '403'; RETURN NEXT; RETURN; END IF;
  answer := json_build_object('consumed', true, 'consumption_id', counter_id || ':' || next_version, 'units', units, 'remaining', left_units);
  INSERT INTO operations VALUES (counter_id, idempotency_key, body_hash, answer);
  RETURN NEXT;
END $$;
