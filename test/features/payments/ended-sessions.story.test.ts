import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { base58 } from '#core/encoding.ts';
import { sweepEndedSessions } from '#features/payments/watch/ended-sessions.ts';
import { expireNow } from '../../support/faults/expire-now.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { sweepIn } from '../../support/runner/shards.ts';
import { type Merchant, World } from '../../support/world.ts';

const DAY = 86_400_000;
const BYTES_MAX = 400;
const w = new World();
const unsent = () => base58.encode(crypto.getRandomValues(new Uint8Array(64)));
const count = async (sql: string, ...values: unknown[]) =>
  (await prepareOnEvents(w.env.DB, `SELECT count(*) AS n FROM ${sql}`)
    .bind(...values)
    .first<{ n: number }>())!.n;

const sweep = (now = Date.now(), env = w.env) => sweepIn(env, sweepEndedSessions, { now });

describe('unpaid session a month after its end', () => {
  let ada: Merchant;
  let product: { product_id: string; slug: string };
  beforeAll(async () => {
    ada = await w.merchant();
    product = await w.product(ada, { access_period_days: 30 });
  });
  afterEach(() => w.env.DB.prepare('DELETE FROM payments WHERE status <> ?').bind('CONFIRMED').run());

  /** Opens and fails a session that ended 31 days ago by the chain's clock. */
  async function longOver(input: Record<string, unknown> = {}) {
    const payment = await w.connect(product, input);
    await expireNow(w, payment.payment_id);
    await w.deliver();
    const back = `UPDATE payments SET expires_at = expires_at - ${31 * DAY} WHERE id = ?`;
    await w.env.DB.prepare(back).bind(payment.payment_id).run();
    return payment;
  }
  const read = async (id: string, key?: string) => {
    const { now: _, ...payment } = (await w.call('GET', `/v1/payments/${id}`, key === undefined ? {} : { key })).body;
    return payment;
  };
  const isEnded = async (id: string) => (await count('ended_sessions WHERE id = ?', id)) === 1;

  it('an archived session is answered unchanged from its stub, and its row and events are deleted', async () => {
    const { payment_id: id } = await longOver({ customer_ref: 'customer-1', email: 'buyer@example.com' });
    const [asBuyer, asOwner] = [await read(id), await read(id, ada.key)];
    await sweep();
    expect([await isEnded(id), await count('payments WHERE id = ?', id), await count('events WHERE payment_id = ?', id)]).toEqual([
      true,
      0,
      0,
    ]);
    expect(asBuyer).toMatchObject({ status: 'FAILED', failure_code: 'session_expired' });
    expect(await read(id)).toEqual(asBuyer);
    expect(await read(id, ada.key)).toEqual(asOwner);
    const stranger = await w.merchant();
    expect((await w.call('GET', `/v1/payments/${id}`, { key: stranger.key })).status).toBe(404);
  });

  it('a session is not archived within its month or while a candidate is pending', async () => {
    const young = await w.connect(product);
    await expireNow(w, young.payment_id);
    const searched = await longOver();
    const named = unsent();
    const columns = 'payment_id, tx_signature, livemode, origin, attempt, next_check_at, created_at';
    await w.env.DB.prepare(`INSERT INTO payment_candidates (${columns}) VALUES (?, ?, 1, 'named', 0, ?, ?)`)
      .bind(searched.payment_id, named, Date.now() + DAY, Date.now())
      .run();
    await sweep();
    expect([await isEnded(young.payment_id), await isEnded(searched.payment_id)]).toEqual([false, false]);
    await w.env.DB.prepare('DELETE FROM payment_candidates WHERE payment_id = ?').bind(searched.payment_id).run();
    await sweep();
    expect(await isEnded(searched.payment_id)).toBe(true);
  });

  it('a made-up signature is refused with 410 session_expired and does not restore the session', async () => {
    const { payment_id: id } = await longOver();
    await sweep();
    const { status, body } = await w.confirm(id, unsent());
    expect([status, body.code, await isEnded(id)]).toEqual([410, 'session_expired', true]);
  });

  it('money for an archived session is recorded as unmatched and can be accepted', async () => {
    const payment = await longOver({ customer_ref: 'customer-2' });
    const { payment_id: id } = payment;
    await sweep();
    expect(await isEnded(id)).toBe(true);
    const signature = await w.chain.pay(await w.chain.wallet(), payment);
    expect((await w.confirm(id, signature)).status).toBe(410);
    expect((await read(id, ada.key)).status).toBe('FAILED');
    const [unmatched] = (await w.call('GET', '/v1/payments?status=FAILED', { key: ada.key })).body.items[0].unmatched;
    expect(unmatched).toMatchObject({ payment_id: id, tx_signature: signature, reason: 'late', status: 'open' });
    // A session with unmatched money is never archived again.
    await sweep();
    expect([await isEnded(id), await count('payments WHERE id = ? AND is_retained = 1', id)]).toEqual([false, 1]);
    const accepted = await w.call('POST', `/v1/payments/${id}/accept-unmatched`, { key: ada.key, body: { tx_signature: signature } });
    expect([accepted.status, accepted.body]).toMatchObject([
      200,
      { status: 'CONFIRMED', recovers_payment_id: id, customer_ref: 'customer-2', price: payment.price, tx_signature: signature },
    ]);
  });

  it('unreported money for an archived session is found by its reference key', async () => {
    const payment = await longOver();
    await sweep();
    await w.chain.pay(await w.chain.wallet(), payment);
    await w.sweepAll();
    await w.sweepAll();
    expect(await isEnded(payment.payment_id)).toBe(false);
    expect(await count('unmatched_payments WHERE payment_id = ?', payment.payment_id)).toBe(1);
  });

  it.each([
    ['as it ends', 'sweep'],
    ['right after it ended', 'confirm'],
  ] as const)('money recorded %s is not lost', async (_when, late) => {
    const payment = await longOver();
    const { payment_id: id } = payment;
    const signature = await w.chain.pay(await w.chain.wallet(), payment);
    const runs = {
      sweep: (env = w.env) => sweep(Date.now(), env),
      confirm: async (env = w.env) => expect((await w.confirm(id, signature, { env })).status).toBe(410),
    };
    let batches = 0;
    const storing = late === 'sweep' ? 1 : 2;
    const batch = async (statements: D1PreparedStatement[]) => {
      if (++batches === storing) await runs[late === 'sweep' ? 'confirm' : 'sweep']();
      return w.env.DB.batch(statements);
    };
    const DB = { prepare: (sql: string) => w.env.DB.prepare(sql), batch } as unknown as D1Database;
    await runs[late]({ ...w.env, DB });
    expect(batches).toBeGreaterThanOrEqual(storing);
    expect([await isEnded(id), await count('unmatched_payments WHERE payment_id = ?', id)]).toEqual([false, 1]);
  });

  it(`a stub takes at most ${BYTES_MAX} bytes`, async () => {
    const insert = (from: number) =>
      w.env.DB.prepare(
        `INSERT INTO ended_sessions (id, merchant_id, livemode, product_id, nonce, reference, asset, price_amount, recipient_wallet, customer_ref,
            expires_at, late_grace_seconds, created_at, updated_at, version)
          WITH RECURSIVE rows(n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM rows WHERE n < ${from + 9999})
          SELECT printf('019a0000-%04d-7000-8000-%012d', n / 10, n), '${ada.userId}', 1, '${product.product_id}',
            printf('%022d', (n * 7919) % 1000003), printf('%044d', n), 'USDC', '12500000', printf('%044d', 7), 'customer-' || n,
            1790000000000 + n, 120, 1790000000000 + n, 1790000000000 + n, 2 FROM rows`,
      ).run();
    // The first insert fills free pages, so only the second one is measured.
    const before = (await insert(1)).meta.size_after;
    const after = (await insert(10_001)).meta.size_after;
    await w.env.DB.prepare('DELETE FROM ended_sessions').run();
    expect((after - before) / 10_000).toBeLessThanOrEqual(BYTES_MAX);
    expect((after - before) / 10_000).toBeGreaterThan(200);
  });

  it('one sweep archives 251 sessions', async () => {
    const copies = `INSERT INTO payments SELECT * FROM copies`;
    const { payment_id: id } = await longOver();
    const make = `CREATE TABLE copies AS WITH RECURSIVE rows(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM rows WHERE n < 250)
      SELECT p.* FROM rows, payments p WHERE p.id = '${id}'`;
    await w.env.DB.batch(
      [
        make,
        "UPDATE copies SET id = unhex(substr(hex(id), 1, 20) || printf('%012d', rowid)), nonce = nonce || '-' || rowid",
        copies,
        'DROP TABLE copies',
      ].map((sql) => w.env.DB.prepare(sql)),
    );
    expect(await sweep()).toEqual({ taken: 251, end: 'empty' });
    expect(await count('ended_sessions WHERE substr(id, 1, 10) = substr(?, 1, 10)', id)).toBe(251);
    expect((await sweep()).taken).toBe(0);
  });
});
