// The entitlement object as commit 7839a4d has it, bundled by make.mjs.
// durable-objects/entitlement.ts
import { DurableObject } from "cloudflare:workers";

// worker/core/time.ts
var SECOND = 1e3;
var MINUTE = 60 * SECOND;
var HOUR = 60 * MINUTE;
var DAY = 24 * HOUR;
var addDays = (at, days) => at + days * DAY;

// worker/rules/balance.ts
var END_MAX = 864e13;
var NOTHING = { grantedUnits: 0, drawnUnits: 0, writtenOffUnits: 0, uncountedUnits: 0, unitsThrough: 0, unlimitedThrough: 0 };
var emptyBalance = () => ({ ...NOTHING, version: 0, updatedAt: 0 });
var isCount = (n) => Number.isSafeInteger(n) && n >= 0;
function assertBalance(balance) {
  const { grantedUnits, drawnUnits, writtenOffUnits, uncountedUnits, unitsThrough } = balance;
  const areCounts = [grantedUnits + uncountedUnits, ...Object.values(balance)].every((count) => isCount(count ?? 0));
  const isUsedUp = drawnUnits === grantedUnits;
  const holds = areCounts && writtenOffUnits <= drawnUnits && drawnUnits <= grantedUnits && (unitsThrough !== 0 || isUsedUp);
  if (!holds) throw new Error(`impossible balance: ${JSON.stringify(balance)}`);
  return balance;
}
var changed = (balance, now, change) => assertBalance({ ...balance, ...change, version: balance.version + 1, updatedAt: now });
var isOn = (through, now) => through === null || now < through;
var isNothing = ({ unitsThrough, unlimitedThrough }) => unitsThrough === 0 && unlimitedThrough === 0;
var leftOf = (balance) => balance.grantedUnits - balance.drawnUnits;
function remainingOf(balance, now) {
  if (isOn(balance.unlimitedThrough, now)) return null;
  return isOn(balance.unitsThrough, now) ? leftOf(balance) : 0;
}
var endsOf = (balance) => [leftOf(balance) > 0 ? balance.unitsThrough : 0, balance.unlimitedThrough].filter((end) => end !== 0);
function paidThroughOf(balance) {
  const ends = endsOf(balance);
  if (ends.length === 0) return balance.unitsThrough || null;
  return ends.includes(null) ? null : Math.max(...ends.map(Number));
}
function nextEndOf(balance, after) {
  const ends = endsOf(balance).filter((end) => end !== null && end > after);
  return ends.length > 0 ? Math.min(...ends.map(Number)) : null;
}
function statusOf(balance, now) {
  if (remainingOf(balance, now) !== 0) return "active";
  if (isNothing(balance)) return "revoked";
  return balance.unlimitedThrough !== 0 || leftOf(balance) > 0 ? "expired" : "exhausted";
}
function snapshotOf(balance, identity, now) {
  const remaining = remainingOf(balance, now);
  const usedUnits = balance.drawnUnits + balance.uncountedUnits;
  const grantedUnits = remaining === null ? null : balance.grantedUnits;
  const access = { status: statusOf(balance, now), grantedUnits, usedUnits, remaining };
  return { ...identity, ...access, paidThrough: paidThroughOf(balance), version: balance.version, updatedAt: balance.updatedAt };
}
function planConsume(balance, units, now) {
  if (!Number.isSafeInteger(units) || units < 1) throw new Error(`not a number of units: ${units}`);
  const remaining = remainingOf(balance, now);
  if (remaining === null) {
    const uncountedUnits = balance.uncountedUnits + units;
    if (!Number.isSafeInteger(balance.grantedUnits + uncountedUnits)) return { ok: false, reason: "entitlement_missing" };
    return { ok: true, isCounted: false, balance: changed(balance, now, { uncountedUnits }) };
  }
  const reason = statusOf(balance, now) === "expired" ? "subscription_expired" : "entitlement_missing";
  if (remaining < units) return { ok: false, reason };
  return { ok: true, isCounted: true, balance: changed(balance, now, { drawnUnits: balance.drawnUnits + units, unlimitedThrough: 0 }) };
}
function planRefund(balance, { units, isCounted }, now) {
  if (!isCounted) return changed(balance, now, { uncountedUnits: balance.uncountedUnits - units });
  const { grantedUnits, drawnUnits, writtenOffUnits } = balance;
  const gone = Math.min(units, writtenOffUnits);
  const left = { grantedUnits: grantedUnits - gone, drawnUnits: drawnUnits - units };
  return changed(balance, now, { ...left, writtenOffUnits: writtenOffUnits - gone });
}
function extended(through, days, now) {
  if (days === void 0) return through === 0 ? null : through;
  return days === null || through === null ? null : Math.min(END_MAX, addDays(Math.max(now, through), days));
}
function planAddition(balance, { units, days }, now) {
  if (![units ?? 0, days ?? 0].every(isCount)) throw new Error(`not numbers of units and days: ${units}, ${days}`);
  const live = leftOf(balance) > 0 ? balance : { ...balance, unitsThrough: 0 };
  const { unlimitedThrough, unitsThrough } = live;
  const isAnyOn = isOn(unitsThrough, now) || isOn(unlimitedThrough, now);
  const isMeant = (through) => units === void 0 && through !== 0 && (!isAnyOn || isOn(through, now));
  const addsUncounted = units === null || units === void 0 && isNothing(live) || isMeant(unlimitedThrough);
  const next = {
    grantedUnits: balance.grantedUnits + (units ?? 0),
    unitsThrough: typeof units === "number" || isMeant(unitsThrough) ? extended(unitsThrough, days, now) : balance.unitsThrough,
    unlimitedThrough: addsUncounted ? extended(unlimitedThrough, days, now) : unlimitedThrough
  };
  if (!Number.isSafeInteger(next.grantedUnits + balance.uncountedUnits)) return { ok: false, reason: "too_many" };
  return { ok: true, balance: changed(balance, now, next) };
}
function foldAdditions(balance, additions, now) {
  let standing = emptyBalance();
  for (const { addition, at } of additions) {
    const planned = planAddition(standing, addition, at);
    if (planned.ok) standing = planned.balance;
  }
  const writtenOffUnits = Math.max(balance.writtenOffUnits, balance.drawnUnits - standing.grantedUnits);
  const { grantedUnits, unitsThrough, unlimitedThrough } = standing;
  return changed(balance, now, { grantedUnits: grantedUnits + writtenOffUnits, writtenOffUnits, unitsThrough, unlimitedThrough });
}

// worker/core/crypto.ts
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { crc32 as crc32Of } from "node:zlib";
import { ed25519 } from "@noble/curves/ed25519.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 as sha256Of } from "@noble/hashes/sha2.js";

// worker/core/encoding.ts
import { hex as hexCodec, base58 as scure58, base64 as scure64, base64url as scure64url } from "@scure/base";
import canonicalize from "canonicalize";
var hex = hexCodec;
var base64 = scure64;

// worker/core/crypto.ts
var sha256 = (bytes) => sha256Of(bytes);
var SCRYPT = { N: 2 ** 14, r: 8, p: 5, maxmem: 64 * 1024 * 1024 };
var NOBODY = `$scrypt$ln=14,r=8,p=5$${base64.encode(new Uint8Array(16))}$${base64.encode(new Uint8Array(32))}`;

// worker/core/ids.ts
function uuid(bytes, version) {
  bytes[6] = version << 4 | bytes[6] & 15;
  bytes[8] = 128 | bytes[8] & 63;
  const text = hex.encode(bytes);
  return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}`;
}
var CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
function ulid(at, bytes) {
  let bits = BigInt(at);
  for (const byte of bytes) bits = bits << 8n | BigInt(byte);
  let text = "";
  for (let i = 0; i < 26; i++, bits >>= 5n) text = CROCKFORD[Number(bits & 31n)] + text;
  return text;
}
var ADDRESS_BYTES = 10;
function idOfAddress(address) {
  const bytes = new Uint8Array(16);
  bytes.set(address.subarray(0, 6), 0);
  bytes.set(sha256(address).subarray(0, 6), 6);
  bytes.set(address.subarray(6), 12);
  return uuid(bytes, 8);
}
var addressOf = (entitlementId) => {
  const bytes = hex.decode(entitlementId.replaceAll("-", ""));
  return new Uint8Array([...bytes.subarray(0, 6), ...bytes.subarray(12)]);
};
var consumptionIdOf = (entitlementId, tick) => `con_${ulid(tick, addressOf(entitlementId))}`;
function parseConsumptionId(text) {
  if (!/^con_[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(text)) return null;
  let bits = 0n;
  for (const digit of text.slice(4)) bits = bits << 5n | BigInt(CROCKFORD.indexOf(digit));
  const address = new Uint8Array(ADDRESS_BYTES);
  for (let i = ADDRESS_BYTES - 1; i >= 0; i--, bits >>= 8n) address[i] = Number(bits & 255n);
  return { entitlementId: idOfAddress(address), tick: Number(bits) };
}

// durable-objects/grants.ts
var GRANTS_TABLE = `
  CREATE TABLE grants (tick INTEGER PRIMARY KEY, payment_id TEXT UNIQUE, addition TEXT NOT NULL, added_at INTEGER NOT NULL,
    is_revoked INTEGER NOT NULL, credited TEXT)`;
var Grants = class {
  #ledger;
  constructor(ledger) {
    this.#ledger = ledger;
  }
  find(paymentId) {
    const [row] = this.#ledger.rows("SELECT * FROM grants WHERE payment_id = ?", paymentId);
    return row ? { isRevoked: row.is_revoked === 1, credited: row.credited === null ? null : JSON.parse(row.credited) } : null;
  }
  add(addition, payment) {
    const tick = this.#ledger.nextTick();
    const { paymentId = null, credited = null, isRevoked = false } = payment ?? {};
    const values = [tick, paymentId, JSON.stringify(addition), this.#ledger.now, isRevoked ? 1 : 0, credited && JSON.stringify(credited)];
    this.#ledger.write("INSERT INTO grants VALUES (?, ?, ?, ?, ?, ?)", ...values);
    return tick;
  }
  setCredited(paymentId, credited) {
    this.#ledger.write("UPDATE grants SET credited = ? WHERE payment_id = ?", JSON.stringify(credited), paymentId);
  }
  refundUse(paymentId, tick) {
    const credited = this.find(paymentId).credited;
    const uses = credited.uses.map((use) => use.tick === tick ? { ...use, isRefunded: true } : use);
    this.setCredited(paymentId, { ...credited, uses });
  }
  revoke(paymentId) {
    this.#ledger.write("UPDATE grants SET is_revoked = 1 WHERE payment_id = ?", paymentId);
  }
  /** What was not taken back. */
  standing() {
    return this.#ledger.rows("SELECT * FROM grants WHERE is_revoked = 0 ORDER BY tick").map(({ addition, added_at }) => ({ addition: JSON.parse(addition), at: added_at }));
  }
};

// durable-objects/ledger.ts
var FLUSH_MS = 2 * SECOND;
var KEEP_MS = DAY;
var PURGE_SLACK_MS = HOUR;
var PURGE_MAX = 1e3;
var EVENTS_MAX = 50;
var BACKOFF_MAX_MS = 60 * SECOND;
var RETRIES_MAX = 5;
var Ledger = class {
  #storage;
  #rules;
  #page;
  #hasTables = false;
  #isDirty = false;
  #oldestTick = null;
  #waiting = [];
  #isCommitting = false;
  /** As set by this instance; null: not known, so the next write sets it. */
  #alarmAt = null;
  #isAwake = false;
  #backoffUntil = 0;
  constructor(storage, rules) {
    this.#storage = storage;
    this.#rules = rules;
    this.#load();
  }
  /** Alone it is committed at once; while a commit is in flight it waits and goes with the others that came, in order. */
  run(now, operation) {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ now, operation, resolve: (answer) => resolve(answer), reject });
      if (!this.#isCommitting) void this.#commitWaiting();
    });
  }
  /** For alarm(): lets time pass, publishes, purges, and sets the next alarm. Doing it twice is harmless. */
  async wake(retryCount) {
    this.#alarmAt = null;
    this.#isAwake = true;
    try {
      await this.run(Date.now(), () => this.#rules.passTime());
      await this.#publish();
      await this.run(Date.now(), () => this.#purge());
      this.#backoffUntil = 0;
    } catch (error) {
      this.#backoffUntil = Date.now() + Math.min(FLUSH_MS * 2 ** retryCount, BACKOFF_MAX_MS);
      if (retryCount < RETRIES_MAX) throw error;
    } finally {
      this.#isAwake = false;
    }
    this.#arm();
  }
  get now() {
    return this.#page.seenAt;
  }
  get state() {
    return this.#page.state;
  }
  set state(state) {
    this.#page.state = state;
    this.#isDirty = true;
  }
  find(key) {
    return entryOf(this.rows("SELECT tick, fingerprint, content FROM operations WHERE key = ?", key));
  }
  at(tick) {
    return entryOf(this.rows("SELECT tick, fingerprint, content FROM operations WHERE tick = ?", tick));
  }
  /** A number for whatever happens now: unique in this object, growing, and close to the time in milliseconds. */
  nextTick() {
    this.#isDirty = true;
    this.#page.lastTick = Math.max(this.now, this.#page.lastTick + 1);
    return this.#page.lastTick;
  }
  record(tick, key, fingerprint, content) {
    this.write("INSERT INTO operations VALUES (?, ?, ?, ?)", tick, key, fingerprint, JSON.stringify(content));
    this.#oldestTick ??= tick;
  }
  amend(tick, content) {
    this.write("UPDATE operations SET content = ? WHERE tick = ?", JSON.stringify(content), tick);
  }
  /** Goes out with the state's present version: one event for each. */
  emit(event) {
    this.write("INSERT INTO outbox VALUES (?, ?)", this.#rules.versionOf(this.state), JSON.stringify(event));
  }
  rows(sql, ...bindings) {
    return this.#hasTables ? this.#storage.sql.exec(sql, ...bindings).toArray() : [];
  }
  write(sql, ...bindings) {
    this.#createTables();
    this.#storage.sql.exec(sql, ...bindings);
    this.#isDirty = true;
  }
  async #commitWaiting() {
    this.#isCommitting = true;
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        this.#isDirty = false;
        const answers = this.#storage.transactionSync(() => this.#apply(group));
        if (this.#isDirty) await this.#storage.sync();
        for (const [i, { resolve }] of group.entries()) resolve(answers[i]);
        if (group.length > 1 || this.#waiting.length > 0) await new Promise((resolve) => setImmediate(resolve));
      } catch (error) {
        for (const { reject } of group) reject(error);
        this.#load();
      }
    }
    this.#isCommitting = false;
  }
  #apply(group) {
    const answers = group.map(({ now, operation }) => {
      this.#page.seenAt = Math.max(this.#page.seenAt, now);
      return operation();
    });
    if (!this.#isDirty) return answers;
    if (this.#version() > this.#page.publishedVersion) this.#page.changedAt ??= Date.now();
    this.write("INSERT INTO page VALUES (1, ?) ON CONFLICT DO UPDATE SET content = excluded.content", JSON.stringify(this.#page));
    this.#arm();
    return answers;
  }
  #version = () => this.#rules.versionOf(this.#page.state);
  async #publish() {
    const told = await this.run(Date.now(), () => ({
      state: this.state,
      version: this.#version(),
      now: this.now,
      outbox: this.rows(`SELECT version, event FROM outbox ORDER BY version LIMIT ${EVENTS_MAX}`)
    }));
    if (told.version === this.#page.publishedVersion && told.outbox.length === 0) return;
    const events = told.outbox.map(({ event }) => JSON.parse(event));
    await this.#rules.publish(told.state, events, told.now);
    await this.run(Date.now(), () => {
      this.write("DELETE FROM outbox WHERE version <= ?", told.outbox.at(-1)?.version ?? 0);
      this.#page.publishedVersion = Math.max(this.#page.publishedVersion, told.version);
      const hasMore = this.rows("SELECT 1 FROM outbox WHERE version <= ? LIMIT 1", told.version).length > 0;
      this.#page.changedAt = hasMore ? 0 : this.#version() > told.version ? Date.now() : null;
    });
  }
  #purge() {
    const before = this.now - KEEP_MS;
    if (this.#oldestTick === null || this.#oldestTick >= before) return;
    this.write(
      `DELETE FROM operations WHERE tick IN (SELECT tick FROM operations WHERE tick < ? ORDER BY tick LIMIT ${PURGE_MAX})`,
      before
    );
    this.#oldestTick = this.#readOldestTick();
  }
  /** One slot for all that waits for a moment: publishing, the state's own time, purging. */
  #arm() {
    if (this.#isAwake) return;
    const publishAt = this.#page.changedAt === null ? null : this.#page.changedAt + FLUSH_MS;
    const purgeAt = this.#oldestTick === null ? null : this.#oldestTick + KEEP_MS + PURGE_SLACK_MS;
    const moments = [publishAt, this.#rules.dueAt(this.#page.state), purgeAt].filter((moment) => moment !== null);
    if (moments.length === 0) return;
    const alarmAt = Math.max(Math.min(...moments), this.#backoffUntil);
    if (alarmAt !== this.#alarmAt) void this.#storage.setAlarm(alarmAt);
    this.#alarmAt = alarmAt;
  }
  #load() {
    this.#alarmAt = null;
    this.#page = { state: this.#rules.empty, seenAt: 0, lastTick: 0, publishedVersion: 0, changedAt: null };
    this.#hasTables = this.#storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'page'").toArray().length > 0;
    const [row] = this.rows("SELECT content FROM page");
    if (row) this.#page = JSON.parse(row.content);
    this.#oldestTick = this.#readOldestTick();
  }
  #readOldestTick() {
    return this.rows("SELECT min(tick) AS tick FROM operations")[0]?.tick ?? null;
  }
  #createTables() {
    if (this.#hasTables) return;
    this.#storage.sql.exec(
      `CREATE TABLE page (id INTEGER PRIMARY KEY, content TEXT NOT NULL);
       CREATE TABLE operations (tick INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, fingerprint TEXT NOT NULL, content TEXT NOT NULL);
       CREATE TABLE outbox (version INTEGER PRIMARY KEY, event TEXT NOT NULL);
       ${this.#rules.tables}`
    );
    this.#hasTables = true;
  }
};
var entryOf = ([row]) => row ? { ...row, content: JSON.parse(row.content) } : null;

// durable-objects/entitlement.ts
var Entitlement = class extends DurableObject {
  #ledger;
  #grants;
  constructor(state, env) {
    super(state, env);
    this.#ledger = new Ledger(state.storage, {
      empty: { identity: null, balance: emptyBalance(), endsSeenThrough: 0 },
      tables: GRANTS_TABLE,
      versionOf: ({ balance }) => balance.version,
      dueAt: ({ balance, endsSeenThrough }) => nextEndOf(balance, endsSeenThrough),
      passTime: () => this.#passTime(),
      publish: async ({ identity, balance }, events, now) => {
        const snapshot = snapshotOf(balance, identity, now);
        await this.env.JOBS.send({ kind: "projectEntitlement", projection: { snapshot, events } });
      }
    });
    this.#grants = new Grants(this.#ledger);
  }
  consume(operation) {
    return this.#once("consume", operation, {
      replay: ({ tick, content }) => {
        if (content.isRefunded) return { ok: false, reason: "refunded" };
        return { ok: true, replayed: true, ...this.#consumption(tick, content), ...leftIn(content) };
      },
      judge: (operationKey) => {
        const made = this.#makeUse(operation.identity, operationKey, operation.fingerprint, operation.input.units, null);
        if (!made.ok) return { ...made, ...this.#left(), remaining: this.#left().remaining ?? 0 };
        if (made.content.remaining === 0) this.#emit("entitlement.exhausted");
        return { ok: true, replayed: false, ...this.#consumption(made.tick, made.content), ...leftIn(made.content) };
      }
    });
  }
  grant(operation) {
    return this.#once("grant", operation, {
      replay: ({ content }) => ({ ok: true, replayed: true, snapshot: content.snapshot }),
      judge: (operationKey) => {
        const { reason: _, ...addition } = operation.input;
        if (!this.#add(operation.identity, addition)) return { ok: false, reason: "too_many" };
        const tick = this.#grants.add(addition, null);
        const snapshot = this.#snapshot();
        this.#ledger.record(tick, operationKey, operation.fingerprint, { verb: "grant", snapshot });
        return { ok: true, replayed: false, snapshot };
      }
    });
  }
  refund(operation) {
    return this.#once("refund", operation, {
      replay: ({ content: { verb: _, ...answer } }) => ({ ok: true, replayed: true, ...answer }),
      judge: (operationKey) => {
        const {
          identity,
          fingerprint,
          input: { consumptionId }
        } = operation;
        const named = parseConsumptionId(consumptionId);
        const use = named?.entitlementId === identity.entitlementId ? this.#ledger.at(named.tick) : null;
        if (use?.content.verb !== "consume") return { ok: false, reason: "not_found" };
        if (use.content.isRefunded) return { ok: false, reason: "already_refunded" };
        const { units, paymentId } = use.content;
        this.#change(identity, planRefund(this.#ledger.state.balance, use.content, this.#ledger.now));
        this.#ledger.amend(use.tick, { ...use.content, isRefunded: true });
        if (paymentId !== null) this.#grants.refundUse(paymentId, use.tick);
        const freed = { consumptionId, units, ...this.#left() };
        this.#ledger.record(this.#ledger.nextTick(), operationKey, fingerprint, { verb: "refund", ...freed });
        return { ok: true, replayed: false, ...freed };
      }
    });
  }
  credit(credit) {
    return this.#ledger.run(credit.now, () => {
      this.#assertSame(credit.identity);
      const { paymentId, consume } = credit;
      const credited = this.#creditOnce(credit);
      const own = credited.uses.find(({ key }) => key === consume?.key);
      const last = credited.uses.at(-1);
      const answerOf = (consumption) => ({
        grantedUnits: credited.grantedUnits,
        consumption,
        ...leftIn(credited)
      });
      if (!consume) return answerOf({ by: "none" });
      if (own?.isRefunded) return answerOf({ by: "refunded" });
      if (last && !last.isRefunded) return answerOf({ by: own ? "mine" : "other", ...this.#consumption(last.tick, last) });
      if (this.#grants.find(paymentId).isRevoked) return answerOf({ by: "none" });
      const made = this.#makeUse(credit.identity, `credit:${paymentId}:${consume.key}`, "", consume.units, paymentId);
      if (!made.ok) return answerOf({ by: "none" });
      credited.uses.push({ key: consume.key, tick: made.tick, units: consume.units, isRefunded: false });
      Object.assign(credited, leftIn(made.content));
      this.#grants.setCredited(paymentId, credited);
      return answerOf({ by: "mine", ...this.#consumption(made.tick, made.content) });
    });
  }
  revoke({ identity, paymentId, now }) {
    return this.#ledger.run(now, () => {
      this.#assertSame(identity);
      const grant = this.#grants.find(paymentId);
      if (grant?.isRevoked) return;
      const { balance } = this.#ledger.state;
      if (grant) this.#grants.revoke(paymentId);
      else this.#grants.add({}, { paymentId, credited: null, isRevoked: true });
      this.#change(identity, grant ? foldAdditions(balance, this.#grants.standing(), this.#ledger.now) : balance);
    });
  }
  read(now) {
    return this.#ledger.run(now, () => this.#ledger.state.balance.version === 0 ? null : this.#snapshot());
  }
  async alarm(call) {
    await this.#ledger.wake(call?.retryCount ?? 0);
  }
  /** One effect per key; refusals are not remembered. Keys of different verbs never meet. */
  #once(verb, { identity, key, fingerprint, now }, { replay, judge }) {
    return this.#ledger.run(now, () => {
      this.#assertSame(identity);
      const known = this.#ledger.find(`${verb}:${key}`);
      if (!known) return judge(`${verb}:${key}`);
      if (known.fingerprint !== fingerprint) return { ok: false, reason: "conflict" };
      return replay(known);
    });
  }
  #assertSame({ entitlementId }) {
    const known = this.#ledger.state.identity?.entitlementId ?? entitlementId;
    if (known !== entitlementId) throw new Error(`this is the object of ${known}, not of ${entitlementId}`);
  }
  /** Adds what a payment bought, the first time. What was taken back before it came, or is beyond counting, adds nothing. */
  #creditOnce({ identity, paymentId, addition }) {
    const grant = this.#grants.find(paymentId);
    if (grant?.credited) return grant.credited;
    const before = this.#ledger.state.balance;
    const isAdded = !grant && this.#add(identity, addition);
    if (!grant && !isAdded)
      throw new Error(`a payment must not vanish in silence, but its units cannot be counted: ${JSON.stringify(addition)}`);
    const after = this.#ledger.state.balance;
    const addsUncounted = addition.units === null || after.unlimitedThrough !== before.unlimitedThrough;
    const grantedUnits = !isAdded ? 0 : addsUncounted ? null : addition.units ?? 0;
    const credited = { grantedUnits, uses: [], ...this.#left() };
    if (grant) this.#grants.setCredited(paymentId, credited);
    else this.#grants.add(addition, { paymentId, credited, isRevoked: !isAdded });
    if (!isAdded) this.#change(identity, after);
    return credited;
  }
  #makeUse(identity, key, fingerprint, units, paymentId) {
    const planned = planConsume(this.#ledger.state.balance, units, this.#ledger.now);
    if (!planned.ok) return planned;
    this.#change(identity, planned.balance);
    const tick = this.#ledger.nextTick();
    const content = { verb: "consume", units, isCounted: planned.isCounted, isRefunded: false, paymentId, ...this.#left() };
    this.#ledger.record(tick, key, fingerprint, content);
    return { ok: true, tick, content };
  }
  #add(identity, addition) {
    const planned = planAddition(this.#ledger.state.balance, addition, this.#ledger.now);
    if (!planned.ok) return false;
    this.#change(identity, planned.balance);
    this.#emit("entitlement.granted");
    return true;
  }
  /** Time ended something: everybody is told how things stand, and of the end of all access once. */
  #passTime() {
    const { identity, balance, endsSeenThrough } = this.#ledger.state;
    const { now } = this.#ledger;
    const end = nextEndOf(balance, endsSeenThrough);
    if (end === null || end > now) return;
    this.#ledger.state = { identity, balance: { ...balance, version: balance.version + 1, updatedAt: now }, endsSeenThrough: now };
    if (statusOf(balance, now) === "expired") this.#emit("entitlement.expired");
  }
  #change(identity, balance) {
    this.#ledger.state = { ...this.#ledger.state, identity, balance };
  }
  #emit = (type) => this.#ledger.emit({ type, snapshot: this.#snapshot() });
  #snapshot() {
    return snapshotOf(this.#ledger.state.balance, this.#ledger.state.identity, this.#ledger.now);
  }
  #left() {
    const { balance } = this.#ledger.state;
    return { remaining: remainingOf(balance, this.#ledger.now), paidThrough: paidThroughOf(balance) };
  }
  #consumption(tick, { units }) {
    return { consumptionId: consumptionIdOf(this.#ledger.state.identity.entitlementId, tick), units };
  }
};
var leftIn = ({ remaining, paidThrough }) => ({ remaining, paidThrough });
export {
  Entitlement
};
