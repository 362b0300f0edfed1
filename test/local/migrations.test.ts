import { readdirSync, readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, it } from 'vitest';

const FOLDER = new URL('../../migrations/', import.meta.url);
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith('.sql'));
const isFates = (name: string) => name.endsWith('_fates.sql');
const apply = (db: DatabaseSync, names: string[]) => {
  for (const name of names) db.exec(readFileSync(new URL(name, FOLDER), 'utf8'));
};

const NOW = Date.now();
const MINUTE = 60_000;
const DAY = 86_400_000;
const OLD = NOW - 40 * DAY;

type Row = Record<string, string | number | null>;
function insert(db: DatabaseSync, table: string, row: Row): void {
  const names = Object.keys(row);
  db.prepare(`INSERT INTO ${table} (${names.join()}) VALUES (${names.map(() => '?').join()})`).run(...Object.values(row));
}

/** A row that holds something in every column that must, and `row`. */
function fill(db: DatabaseSync, table: string, row: Row): void {
  const columns = db.prepare(`SELECT name, type FROM pragma_table_info('${table}') WHERE "notnull" = 1`).all() as {
    name: string;
    type: string;
  }[];
  insert(db, table, {
    ...Object.fromEntries(columns.map(({ name, type }) => [name, type === 'integer' ? 1 : `${row.id ?? name}-${name}`])),
    ...row,
  });
}

const signatureOf = (id: string) => `sig-${id}`;
const claim = (db: DatabaseSync, kind: string, id: string, at: number) =>
  insert(db, 'tx_claims', {
    tx_signature: signatureOf(id),
    message_hash: kind === 'settlement' ? `hash-${id}` : null,
    kind,
    subject_id: id,
    created_at: at,
  });

function payment(db: DatabaseSync, id: string, at: number, row: Row = {}): void {
  const facts = { status: 'CONFIRMED', slot: 77, confirmed_at: at, created_at: at, livemode: 1, tx_signature: signatureOf(id), nonce: id };
  fill(db, 'payments', { id, reference: 'r', ...facts, ...row });
  claim(db, 'payment', id, at);
}

function settlement(db: DatabaseSync, id: string, at: number, row: Row): void {
  const facts = { message_hash: `hash-${id}`, tx_signature: signatureOf(id), created_at: at, livemode: 1 };
  fill(db, 'settlements', { payment_id: id, ...facts, ...row });
  claim(db, 'settlement', id, at);
}

describe('the migration that moves what became of transactions onto their claims', () => {
  let db: DatabaseSync;
  beforeEach(() => {
    db = new DatabaseSync(':memory:');
    apply(db, FILES.slice(0, FILES.findIndex(isFates)));
  });
  const migrate = () => apply(db, FILES.filter(isFates));
  const claimOf = (id: string) => db.prepare('SELECT * FROM tx_claims WHERE subject_id = ?').get(id) as Row;

  it('keeps every payment as final or as dropped as it was, and those that are neither watched as before', () => {
    payment(db, 'final', OLD, { finalized_at: OLD + MINUTE });
    payment(db, 'orphan', OLD, { orphaned_at: OLD + MINUTE, orphan_suspected_at: OLD });
    payment(db, 'late-orphan', NOW - DAY, { orphaned_at: NOW - DAY });
    payment(db, 'fresh', NOW, { livemode: 0, orphan_suspected_at: NOW });
    migrate();
    expect(claimOf('final')).toMatchObject({
      kind: 'checkout',
      livemode: 1,
      slot: 77,
      final_at: OLD + MINUTE,
      dropped_at: null,
      next_look_at: null,
    });
    // What was given up long ago is not asked about again.
    expect(claimOf('orphan')).toMatchObject({ final_at: null, dropped_at: OLD + MINUTE, next_look_at: null });
    expect(claimOf('late-orphan')).toMatchObject({ dropped_at: NOW - DAY, next_look_at: NOW - DAY + 10 * MINUTE });
    // A doubt of before was silence, and proves nothing.
    expect(claimOf('fresh')).toMatchObject({
      livemode: 0,
      confirmed_at: NOW,
      next_look_at: NOW + MINUTE,
      doubted_at: null,
      final_at: null,
    });
    expect(
      db.prepare('SELECT count(*) AS n, sum(finalized_at IS NOT NULL) AS f, sum(orphaned_at IS NOT NULL) AS o FROM payments').get(),
    ).toEqual({
      n: 4,
      f: 1,
      o: 2,
    });
  });

  it('gives settlements their kind, leaves the pending to be taken up, and watches what was settled lately', () => {
    payment(db, 'sold', OLD, { finalized_at: OLD, slot: 5 });
    db.prepare("UPDATE tx_claims SET kind = 'settlement', message_hash = 'hash-sold' WHERE subject_id = 'sold'").run();
    fill(db, 'settlements', { payment_id: 'sold', purpose: 'access', status: 'settled', created_at: OLD, livemode: 1 });
    settlement(db, 'pending', NOW, { purpose: 'access', status: 'pending' });
    settlement(db, 'failed', NOW, { purpose: 'access', status: 'failed' });
    settlement(db, 'plan', NOW, { purpose: 'activation', status: 'settled' });
    settlement(db, 'old-plan', OLD, { purpose: 'activation', status: 'settled' });
    fill(db, 'receipts', { id: 'r', payment_id: 'plan', tx_signature: signatureOf('plan'), document: '{"slot":88}', link_seq: 1 });
    settlement(db, 'till', OLD, { purpose: 'facilitator', status: 'settled', answered_by: 'call-1' });
    migrate();
    expect(claimOf('sold')).toMatchObject({ kind: 'x402', slot: 5, message_hash: 'hash-sold', answered_by: 'unknown', next_look_at: null });
    expect(claimOf('pending')).toMatchObject({ kind: 'settlement', next_look_at: 0, confirmed_at: null, answered_by: null });
    expect(claimOf('failed')).toMatchObject({ kind: 'x402', next_look_at: null, confirmed_at: null });
    expect(claimOf('plan')).toMatchObject({ kind: 'activation', slot: 88, next_look_at: NOW + MINUTE, dropped_at: null });
    expect(claimOf('old-plan')).toMatchObject({ kind: 'activation', next_look_at: null, dropped_at: null });
    expect(claimOf('till')).toMatchObject({ kind: 'facilitator', answered_by: 'call-1', next_look_at: null });
  });

  it('keeps what plans were held, at the prices of then, and leaves money that was found unwatched', () => {
    const facts = { account_id: 'a', plan: 'starter', resulting_plan: 'growth', paid_through: NOW + DAY, created_at: OLD };
    fill(db, 'activations', { payment_id: 'p', ...facts });
    fill(db, 'unmatched_payments', { id: 'u', status: 'open' });
    migrate();
    expect(db.prepare('SELECT * FROM activations').get()).toMatchObject({ ...facts, amount: null, resulting_price: '49000000' });
    expect(db.prepare('SELECT final_at, dropped_at, next_look_at FROM unmatched_payments').get()).toEqual({
      final_at: null,
      dropped_at: null,
      next_look_at: null,
    });
  });

  it('keeps one transaction for one thing in each mode', () => {
    payment(db, 'one', NOW);
    migrate();
    const again = (livemode: number, subject: string) => () =>
      insert(db, 'tx_claims', { tx_signature: signatureOf('one'), livemode, kind: 'checkout', subject_id: subject, created_at: NOW });
    expect(again(1, 'two')).toThrow(/UNIQUE/);
    expect(again(0, 'two')).not.toThrow();
    expect(again(0, 'three')).toThrow(/UNIQUE/);
  });

  it('leaves what a release before it writes to be taken up: such a claim is due at once', () => {
    migrate();
    claim(db, 'payment', 'later', NOW);
    expect(claimOf('later')).toMatchObject({ livemode: 1, next_look_at: 0, slot: null });
  });

  it('moves a hundred thousand payments in seconds', () => {
    payment(db, 'seed', OLD, { finalized_at: OLD });
    db.exec(`CREATE TABLE numbers AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT i FROM n`);
    for (const [table, id] of [
      ['payments', 'id'],
      ['tx_claims', 'subject_id'],
    ] as const) {
      const columns = db.prepare(`SELECT name FROM pragma_table_info('${table}')`).all() as { name: string }[];
      const own = [id, 'tx_signature', 'nonce'];
      const values = columns.map(({ name }) => (own.includes(name) ? `${name} || i` : `"${name}"`)).join();
      db.exec(`INSERT INTO ${table} SELECT ${values} FROM ${table}, numbers`);
    }
    const began = performance.now();
    migrate();
    expect(performance.now() - began).toBeLessThan(15_000);
    expect(db.prepare('SELECT count(*) AS n, sum(final_at = ?) AS f FROM tx_claims').get(OLD)).toEqual({ n: 100_001, f: 100_001 });
  });
});
