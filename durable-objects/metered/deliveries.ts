import type { CommittedDelivery } from '#rules/metered/channel.ts';
import type { Tables } from '../tables.ts';

const PURGE_MAX = 5_000;

export const DELIVERY_TABLES = {
  deliveries:
    'delivery_id TEXT PRIMARY KEY, sequence INTEGER NOT NULL, amount TEXT NOT NULL, cumulative TEXT NOT NULL, ' +
    'signature TEXT NOT NULL, expires_at INTEGER NOT NULL',
  /** Announced amounts of deliveries that were committed with a lower amount. */
  announced: 'delivery_id TEXT PRIMARY KEY, amount TEXT NOT NULL',
};

type Row = { delivery_id: string; sequence: number; amount: string; cumulative: string; signature: string; expires_at: number };

/** Committed deliveries by id: a repeated commit gets the stored answer for as long as the session is retained. */
export class CommittedDeliveries {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  find(deliveryId: string): CommittedDelivery | null {
    const [row] = this.#tables.rows<Row>('SELECT * FROM deliveries WHERE delivery_id = ?', deliveryId);
    if (!row) return null;
    const { sequence, signature, expires_at: expiresAt } = row;
    const amounts = { amount: BigInt(row.amount), cumulative: BigInt(row.cumulative) };
    const [more] = this.#tables.rows<{ amount: string }>('SELECT amount FROM announced WHERE delivery_id = ?', deliveryId);
    return { deliveryId, sequence, signature, expiresAt, ...amounts, announced: BigInt(more?.amount ?? row.amount) };
  }

  add({ deliveryId, sequence, announced, amount, cumulative, signature, expiresAt }: CommittedDelivery): void {
    const amounts = [amount.toString(), cumulative.toString()] as const;
    this.#tables.write('INSERT INTO deliveries VALUES (?, ?, ?, ?, ?, ?)', deliveryId, sequence, ...amounts, signature, expiresAt);
    if (announced !== amount) this.#tables.write('INSERT INTO announced VALUES (?, ?)', deliveryId, announced.toString());
  }

  purge(): boolean {
    const ids = this.#tables.rows<{ delivery_id: string }>('SELECT delivery_id FROM deliveries LIMIT ?', PURGE_MAX);
    for (const { delivery_id: id } of ids)
      for (const table of Object.keys(DELIVERY_TABLES)) this.#tables.write(`DELETE FROM ${table} WHERE delivery_id = ?`, id);
    return ids.length < PURGE_MAX;
  }
}
