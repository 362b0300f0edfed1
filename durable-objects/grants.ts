import { DAY } from '#core/time.ts';
import { type Addition, type Balance, emptyBalance } from '#rules/balance.ts';
import { foldHistory, type HistoryEntry, playEntries, playUse, type Use } from '#rules/history.ts';
import { hashOf } from './blocks.ts';
import type { Tables } from './tables.ts';

/**
 * Record of a credited payment, retained forever. The last use counts, unless refunded. `keyHash` is the hash of the key a use was made
 * under.
 */
export interface Credited {
  grantedUnits: number | null;
  uses: { keyHash: string; tick: number; units: number; isRefunded: boolean }[];
  remaining: number | null;
  paidThrough: number | null;
}

/**
 * `payment_id` is null for a manual grant. `is_revoked` is 2 for a forgotten payment. `credited` is null for a manual grant and for a payment that was revoked before its
 * credit.
 */
export const GRANT_TABLES = {
  grants: `tick INTEGER PRIMARY KEY, payment_id TEXT UNIQUE, addition TEXT NOT NULL, added_at INTEGER NOT NULL,
    is_revoked INTEGER NOT NULL, credited TEXT`,
  checkpoint: 'id INTEGER PRIMARY KEY, tick INTEGER NOT NULL, balance TEXT NOT NULL',
  // Latest payment version seen, for every payment that was ever revoked. Retained forever.
  outcomes: 'payment_id TEXT PRIMARY KEY, payment_version INTEGER NOT NULL',
};
type GrantRow = {
  tick: number;
  payment_id: string | null;
  addition: string;
  added_at: number;
  is_revoked: number;
  credited: string | null;
};
type EntryRow = Pick<GrantRow, 'addition' | 'added_at'>;
/** `use` holds the usage before the addition. Absent on a payment that was revoked before its credit. */
type StoredAddition = Addition & { use?: Use; isFinal?: boolean };

export interface Grant {
  tick: number;
  addition: Addition;
  isAdded: boolean;
  /** Revoked or forgotten. */
  isRevoked: boolean;
  /** True for a payment of before an erasure of the customer. It is never credited again. */
  isForgotten: boolean;
  credited: Credited | null;
}

/** Balance right after the addition at `tick`. Earlier history need not be read again. */
interface Checkpoint {
  tick: number;
  balance: Balance;
}

/** Orphaned payments are rescanned for eight days. After this time an outcome is final, whether or not the object was notified. */
const DECIDED_AFTER_MS = 30 * DAY;
const ADVANCE_MAX = 1000;
const FORGOTTEN = 2;

/** Ordered history of additions to an entitlement. Used only inside operations of its ledger. */
export class Grants {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  findUse({ uses }: Credited, key: string): Credited['uses'][number] | undefined {
    const hash = hashOf(key);
    return uses.find((use) => use.keyHash === hash);
  }

  addUse(paymentId: string, credited: Credited, { key, ...use }: { key: string; tick: number; units: number }): void {
    this.setCredited(paymentId, { ...credited, uses: [...credited.uses, { keyHash: hashOf(key), ...use, isRefunded: false }] });
  }

  find(paymentId: string): Grant | null {
    const [row] = this.#tables.rows<GrantRow>('SELECT * FROM grants WHERE payment_id = ?', paymentId);
    if (!row) return null;
    const { use, ...addition }: StoredAddition = JSON.parse(row.addition);
    const credited: Credited | null = row.credited === null ? null : readCredited(row.credited);
    const isAdded = use !== undefined;
    const marks = { isRevoked: row.is_revoked !== 0, isForgotten: row.is_revoked === FORGOTTEN };
    return { tick: row.tick, addition, isAdded, ...marks, credited };
  }

  add(
    tick: number,
    now: number,
    { addition, use, paymentId, credited }: { addition: Addition; use: Use | null; paymentId: string | null; credited: Credited | null },
  ): void {
    const stored: StoredAddition = use ? { ...addition, use } : addition;
    const values = [tick, paymentId, JSON.stringify(stored), now, use ? 0 : 1, credited && pack(credited)];
    this.#tables.write('INSERT INTO grants VALUES (?, ?, ?, ?, ?, ?)', ...values);
  }

  setCredited(paymentId: string, credited: Credited): void {
    this.#tables.write('UPDATE grants SET credited = ? WHERE payment_id = ?', pack(credited), paymentId);
  }

  refundUse(paymentId: string, tick: number): void {
    const credited = this.find(paymentId)!.credited!;
    const uses = credited.uses.map((use) => (use.tick === tick ? { ...use, isRefunded: true } : use));
    this.setCredited(paymentId, { ...credited, uses });
  }

  setWithheld(paymentId: string, addition: Addition, credited: Credited): void {
    const values = [JSON.stringify(addition), pack(credited), paymentId];
    this.#tables.write('UPDATE grants SET addition = ?, credited = ? WHERE payment_id = ?', ...values);
  }

  /** Records the payment's version. Returns false if a newer version was seen before. */
  recordVersion(paymentId: string, paymentVersion: number): boolean {
    const sql = 'SELECT payment_version FROM outcomes WHERE payment_id = ?';
    const known = this.#tables.rows<{ payment_version: number }>(sql, paymentId)[0]?.payment_version ?? 0;
    if (paymentVersion > known) this.#tables.write('INSERT OR REPLACE INTO outcomes VALUES (?, ?)', paymentId, paymentVersion);
    return paymentVersion >= known;
  }

  forget({ tick }: Grant): void {
    this.#tables.write('DELETE FROM grants WHERE tick = ?', tick);
  }

  setRevoked({ tick }: Grant, isRevoked: boolean, balance: Balance, now: number): Balance {
    this.#tables.write('UPDATE grants SET is_revoked = ? WHERE tick = ?', isRevoked ? 1 : 0, tick);
    return this.#replayed(tick, balance, now);
  }

  /** Payments that were added after a time. */
  paidSince(at: number): string[] {
    const sql = "SELECT payment_id FROM grants WHERE added_at > ? AND payment_id NOT LIKE 'merge:%'";
    return this.#tables.rows<{ payment_id: string }>(sql, at).map(({ payment_id: id }) => id);
  }

  /**
   * Forgets payments that were added up to `tick`, but for `spared`, and all else that was added up to `through`. Returns false if nothing is
   * left.
   */
  forgetUpTo({ tick, through, spared }: { tick: number; through: number; spared: readonly string[] }): boolean {
    const isPayment = "payment_id IS NOT NULL AND payment_id NOT LIKE 'merge:%'";
    const forgotten = `is_revoked = ${FORGOTTEN} WHERE ${isPayment} AND tick <= ? AND payment_id NOT IN (SELECT value FROM json_each(?))`;
    this.#tables.write(`UPDATE grants SET ${forgotten}`, tick, JSON.stringify(spared));
    this.#tables.write(`DELETE FROM grants WHERE NOT (${isPayment}) AND added_at <= ?`, through);
    this.setCheckpoint({ tick: 0, balance: emptyBalance() });
    return this.#tables.rows(`SELECT 1 FROM grants WHERE is_revoked <> ${FORGOTTEN} LIMIT 1`).length > 0;
  }

  /** Balance as if what was forgotten had never been added. Units that were used stay used. */
  replayed(balance: Balance, now: number): Balance {
    return this.#replayed(Number.MAX_SAFE_INTEGER, balance, now);
  }

  /** Replaces the addition of a grant, as if it had been this one from the start. */
  replace({ tick }: Grant, addition: Addition, balance: Balance, now: number): Balance {
    const [row] = this.#tables.rows<EntryRow>('SELECT addition, added_at FROM grants WHERE tick = ?', tick);
    const { use }: StoredAddition = JSON.parse(row!.addition);
    const stored: StoredAddition = use ? { ...addition, use } : addition;
    this.#tables.write('UPDATE grants SET addition = ?, is_revoked = 0 WHERE tick = ?', JSON.stringify(stored), tick);
    return this.#replayed(tick, balance, now);
  }

  /** Balance after the grant at `tick` changed. */
  #replayed(tick: number, balance: Balance, now: number): Balance {
    const known = this.#checkpoint();
    const from = tick > known.tick ? known : this.#rebuilt(known);
    return foldHistory(balance, from.balance, this.#current(from.tick, Number.MAX_SAFE_INTEGER), now);
  }

  /**
   * Rebuilds the checkpoint from the start of history, because an earlier payment was revoked or reinstated after the checkpoint passed it.
   */
  #rebuilt({ tick, balance }: Checkpoint): Checkpoint {
    const checkpoint = { tick, balance: playUse(playEntries(emptyBalance(), this.#current(0, tick)), balance) };
    this.setCheckpoint(checkpoint);
    return checkpoint;
  }

  setCheckpoint({ tick, balance }: Checkpoint): void {
    this.#tables.write('INSERT OR REPLACE INTO checkpoint VALUES (1, ?, ?)', tick, JSON.stringify(balance));
  }

  /** Advances the checkpoint over final grants, at most ADVANCE_MAX of them. Final payments beyond that are marked. */
  finalize(paymentIds: string[], now: number): void {
    const from = this.#checkpoint();
    const left = new Set(paymentIds);
    const to = this.#advanced(from, left, now);
    if (to.tick > from.tick) this.setCheckpoint(to);
    if (left.size === 0) return;
    const named = 'payment_id IN (SELECT value FROM json_each(?)) AND tick > ?';
    const bindings = [JSON.stringify([...left]), to.tick];
    if (this.#tables.rows(`SELECT 1 FROM grants WHERE ${named} LIMIT 1`, ...bindings).length === 0) return;
    this.#tables.write(`UPDATE grants SET addition = json_set(addition, '$.isFinal', json('true')) WHERE ${named}`, ...bindings);
  }

  #advanced({ tick, balance }: Checkpoint, decided: Set<string>, now: number): Checkpoint {
    let to = { tick, balance };
    for (const row of this.#tables.each<GrantRow>('SELECT * FROM grants WHERE tick > ? ORDER BY tick LIMIT ?', tick, ADVANCE_MAX)) {
      const { isFinal = false }: StoredAddition = JSON.parse(row.addition);
      const isOpen =
        row.payment_id !== null &&
        row.is_revoked !== FORGOTTEN &&
        !isFinal &&
        !decided.delete(row.payment_id) &&
        row.added_at >= now - DECIDED_AFTER_MS;
      if (isOpen) break;
      to = { tick: row.tick, balance: row.is_revoked !== 0 ? to.balance : playEntries(to.balance, [entryOf(row)]) };
    }
    return to;
  }

  #checkpoint(): Checkpoint {
    const [row] = this.#tables.rows<{ tick: number; balance: string }>('SELECT tick, balance FROM checkpoint');
    return row ? { tick: row.tick, balance: JSON.parse(row.balance) } : { tick: 0, balance: emptyBalance() };
  }

  *#current(after: number, through: number): Iterable<HistoryEntry> {
    const sql = 'SELECT addition, added_at FROM grants WHERE tick > ? AND tick <= ? AND is_revoked = 0 ORDER BY tick';
    for (const row of this.#tables.each<EntryRow>(sql, after, through)) yield entryOf(row);
  }
}

type PackedUse = [keyHash: string, tick: number, units: number, isRefunded: 0 | 1];
type Packed = [grantedUnits: number | null, remaining: number | null, paidThrough: number | null, ...uses: PackedUse[]];

const packUse = ({ keyHash, tick, units, isRefunded }: Credited['uses'][number]): PackedUse => [keyHash, tick, units, isRefunded ? 1 : 0];

/** Packed without field names, because records are retained forever. */
function pack({ grantedUnits, remaining, paidThrough, uses }: Credited): string {
  const packed: Packed = [grantedUnits, remaining, paidThrough, ...uses.map(packUse)];
  return JSON.stringify(packed);
}

function readCredited(text: string): Credited {
  const [grantedUnits, remaining, paidThrough, ...uses]: Packed = JSON.parse(text);
  return {
    grantedUnits,
    remaining,
    paidThrough,
    uses: uses.map(([keyHash, tick, units, isRefunded]) => ({ keyHash, tick, units, isRefunded: isRefunded === 1 })),
  };
}

function entryOf({ addition: stored, added_at }: EntryRow): HistoryEntry {
  const { use, isFinal: _, ...addition }: StoredAddition = JSON.parse(stored);
  return { addition, at: added_at, use: use! };
}
