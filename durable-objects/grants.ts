import type { Addition, EntitlementSnapshot } from '../worker/balance.ts';
import type { Ledger } from './ledger.ts';

/** What can be used after an operation, as it was answered. */
export type Left = { remaining: number | null; paidThrough: number | null };
export const leftIn = ({ remaining, paidThrough }: Left): Left => ({ remaining, paidThrough });

/** What is remembered of an operation, by its verb. */
export type Content =
  | ({ verb: 'consume'; units: number; isCounted: boolean; isRefunded: boolean; paymentId: string | null } & Left)
  | { verb: 'grant'; snapshot: EntitlementSnapshot }
  | ({ verb: 'refund'; consumptionId: string; units: number } & Left);
export type Verb<Name extends Content['verb']> = Extract<Content, { verb: Name }>;

/** What is remembered of a payment for ever. Its last use is the one that counts, unless refunded. */
export interface Credited extends Left {
  grantedUnits: number | null;
  uses: { key: string; tick: number; units: number; isRefunded: boolean }[];
}

/** `payment_id` is null for a manual grant; `credited` for that, and for a payment that was taken back before it was credited. */
export const GRANTS_TABLE = `
  CREATE TABLE grants (tick INTEGER PRIMARY KEY, payment_id TEXT UNIQUE, addition TEXT NOT NULL, added_at INTEGER NOT NULL,
    is_revoked INTEGER NOT NULL, credited TEXT)`;
type GrantRow = { tick: number; addition: string; added_at: number; is_revoked: number; credited: string | null };

/** Everything that was ever added to an entitlement, in its order. Used inside operations of its ledger. */
export class Grants {
  readonly #ledger: Ledger<unknown, unknown, unknown>;

  constructor(ledger: Ledger<unknown, unknown, unknown>) {
    this.#ledger = ledger;
  }

  find(paymentId: string): { isRevoked: boolean; credited: Credited | null } | null {
    const [row] = this.#ledger.rows<GrantRow>('SELECT * FROM grants WHERE payment_id = ?', paymentId);
    return row ? { isRevoked: row.is_revoked === 1, credited: row.credited === null ? null : JSON.parse(row.credited) } : null;
  }

  add(addition: Addition, payment: { paymentId: string; credited: Credited | null; isRevoked: boolean } | null): number {
    const tick = this.#ledger.nextTick();
    const { paymentId = null, credited = null, isRevoked = false } = payment ?? {};
    const values = [tick, paymentId, JSON.stringify(addition), this.#ledger.now, isRevoked ? 1 : 0, credited && JSON.stringify(credited)];
    this.#ledger.write('INSERT INTO grants VALUES (?, ?, ?, ?, ?, ?)', ...values);
    return tick;
  }

  /** The credit of a payment that was taken back before: what it would have added is kept, for if it is given again. */
  creditRevoked(paymentId: string, addition: Addition, credited: Credited): void {
    this.#ledger.write('UPDATE grants SET addition = ? WHERE payment_id = ?', JSON.stringify(addition), paymentId);
    this.setCredited(paymentId, credited);
  }

  setCredited(paymentId: string, credited: Credited): void {
    this.#ledger.write('UPDATE grants SET credited = ? WHERE payment_id = ?', JSON.stringify(credited), paymentId);
  }

  refundUse(paymentId: string, tick: number): void {
    const credited = this.find(paymentId)!.credited!;
    const uses = credited.uses.map((use) => (use.tick === tick ? { ...use, isRefunded: true } : use));
    this.setCredited(paymentId, { ...credited, uses });
  }

  revoke(paymentId: string): void {
    this.#ledger.write('UPDATE grants SET is_revoked = 1 WHERE payment_id = ?', paymentId);
  }

  /** What was taken back stands again: how many units that is. One that was never credited is forgotten, to be credited as new. */
  reinstate(paymentId: string): number | null {
    const [row] = this.#ledger.rows<GrantRow>('SELECT * FROM grants WHERE payment_id = ? AND is_revoked = 1', paymentId);
    if (!row) return null;
    if (row.credited === null) this.#ledger.write('DELETE FROM grants WHERE tick = ?', row.tick);
    else this.#ledger.write('UPDATE grants SET is_revoked = 0 WHERE tick = ?', row.tick);
    return row.credited === null ? 0 : ((JSON.parse(row.addition) as Addition).units ?? 0);
  }

  /** What was not taken back. */
  standing(): { addition: Addition; at: number }[] {
    return this.#ledger
      .rows<GrantRow>('SELECT * FROM grants WHERE is_revoked = 0 ORDER BY tick')
      .map(({ addition, added_at }) => ({ addition: JSON.parse(addition) as Addition, at: added_at }));
  }
}
