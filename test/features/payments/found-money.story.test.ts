import { generateKeyPairSigner } from '@solana/kit';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { base58 } from '#core/encoding.ts';
import { claimKeyOf } from '#platform/db/outcome.ts';
import { newReferenceWorld } from '../../support/chain/own-reference.ts';
import { REPEATED } from '../../support/runner/env.ts';
import { rowsOf, withRowCount, worstOf } from '../../support/runner/rows-read.ts';
import { PAYMENT_SWEEPS } from '../../support/runner/sweeps.ts';
import type { Merchant, World } from '../../support/world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const CONFIRMED = ['payment.created', 'payment.submitted', 'payment.confirmed', 'membership.activated', 'receipt.created'];

describe('payment candidates', REPEATED, () => {
  let w: World;
  let merchant: Merchant;
  let product: { slug: string };
  beforeEach(async () => {
    w = await newReferenceWorld();
    merchant = await w.merchant();
    product = await w.product(merchant);
  });
  afterEach(() => vi.restoreAllMocks());

  const view = async (id: string) => (await w.call('GET', `/v1/payments/${id}`, { key: merchant.key })).body;
  const paid = async () => {
    const payment = await w.connect(product);
    return { id: payment.payment_id as string, signature: await w.chain.pay(await w.chain.wallet(), payment) };
  };
  const hide = (signature: string) => w.chain.fault({ kind: 'rpc_error', method: 'getTransaction', signature, times: 0, code: -32015 });
  const later = (ms: number) => {
    vi.restoreAllMocks();
    const now = Date.now();
    vi.spyOn(Date, 'now').mockImplementation(() => now + ms);
  };
  const readCandidate = async (signature: string) => {
    const row = w.env.DB.prepare('SELECT origin, attempt FROM payment_candidates WHERE tx_signature = ?').bind(signature);
    return row.first<{ origin: string; attempt: number }>();
  };

  it('a found transaction is recovered after its session failed, however long no node could read it', async () => {
    const { id, signature } = await paid();
    await hide(signature);
    for (const hours of [0, 1, 23, 26, 50]) {
      later(hours * HOUR);
      await w.sweepEach(PAYMENT_SWEEPS);
    }
    expect(await view(id)).toMatchObject({ status: 'FAILED' });
    await w.chain.call('local_clearFaults');
    later(60 * HOUR);
    await w.sweepEach(PAYMENT_SWEEPS);
    const recovered = await w.env.DB.prepare('SELECT id FROM payments WHERE recovers_payment_id = ?').bind(id).first<{ id: string }>();
    expect(await view(recovered!.id)).toMatchObject({ status: 'CONFIRMED', tx_signature: signature });
  });

  it('a found transaction that is late by its block is recorded as unmatched after an outage of any length', async () => {
    const payment = await w.connect(product);
    await w.chain.call('local_warp', 1100);
    const signature = await w.chain.pay(await w.chain.wallet(), payment);
    await w.chain.fault({ kind: 'http_503', method: 'getTransaction', times: 0 });
    for (const hours of [1, 26, 30]) {
      later(hours * HOUR);
      await w.sweepEach(PAYMENT_SWEEPS);
    }
    await w.chain.call('local_clearFaults');
    later(40 * HOUR);
    await w.sweepEach(PAYMENT_SWEEPS);
    expect(await view(payment.payment_id)).toMatchObject({ status: 'FAILED', unmatched: [{ tx_signature: signature, reason: 'late' }] });
  });

  it('an unreadable transaction does not delay others', async () => {
    // The list begins with the newest, so the hidden ones come before this payment.
    const { id } = await paid();
    const odd = [];
    for (let i = 0; i < 22; i++) odd.push((await paid()).signature);
    for (const signature of odd) await hide(signature);
    await w.sweepEach(PAYMENT_SWEEPS);
    expect(await w.eventTypes(id)).toEqual(CONFIRMED);
    expect(await w.env.DB.prepare("SELECT count(*) AS n FROM payment_candidates WHERE origin = 'found'").first('n')).toBe(22);
  });

  it('transactions are read in batches of twenty', async () => {
    const ids = [];
    for (let i = 0; i < 41; i++) ids.push((await paid()).id);
    await w.chain.call('local_resetCalls');
    await w.sweepEach(PAYMENT_SWEEPS);
    for (const id of ids) expect(await w.eventTypes(id)).toEqual(CONFIRMED);
    const calls = await w.chain.call<Record<string, number>>('local_calls');
    expect([calls.getTransaction, calls.getEpochInfo]).toEqual([41, 3]);
  });

  it('a transaction that pays something else is read once, however often the list is read again', async () => {
    const payment = await w.connect(product);
    const elsewhere = (await generateKeyPairSigner()).address;
    const signature = await w.chain.pay(await w.chain.wallet(), payment, { recipient: elsewhere });
    await w.chain.call('local_resetCalls');
    for (let i = 0; i < 4; i++) await w.sweepEach(PAYMENT_SWEEPS);
    expect(await w.chain.call('local_calls')).toMatchObject({ getTransaction: 1 });
    expect(await readCandidate(signature)).toMatchObject({ origin: 'judged' });
    later(HOUR);
    await w.sweepEach(PAYMENT_SWEEPS);
    expect(await readCandidate(signature)).toBeNull();
  });

  it('a made-up signature is dropped by the first check after an hour and no earlier', async () => {
    const payment = await w.connect(product);
    const signature = base58.encode(crypto.getRandomValues(new Uint8Array(64)));
    await w.confirm(payment.payment_id, signature);
    for (let attempt = 1; attempt <= 7; attempt++) {
      expect(await readCandidate(signature)).toMatchObject({ attempt: attempt - 1 });
      await w.deliver();
    }
    expect(w.queue.sent.filter(({ job }) => job.kind === 'recheckCandidate')).toEqual([]);
    for (const minutes of [12, 30, 55]) {
      later(minutes * MINUTE);
      await w.sweepEach(PAYMENT_SWEEPS);
      expect(await readCandidate(signature)).toMatchObject({ origin: 'named' });
    }
    later(2 * HOUR);
    await w.sweepEach(PAYMENT_SWEEPS);
    expect(await readCandidate(signature)).toBeNull();
  });

  describe('named transactions without a reference key', () => {
    const named = async () => {
      const payment = await w.connect(product);
      const signature = await w.chain.pay(await w.chain.wallet(), { ...payment, references: [] });
      return { id: payment.payment_id as string, signature };
    };
    const readStatus = (signature: string) =>
      w.env.DB.prepare('SELECT status FROM payments WHERE tx_signature = ?').bind(signature).first('status');

    it.each([
      ['was away', 'http_503', HOUR],
      ['kept no history', 'no_history', 30 * MINUTE],
    ])('a named transaction is checked again after a node that %s, and confirms', async (_why, kind, forMs) => {
      const { id, signature } = await named();
      await w.chain.fault({ kind, times: 0 });
      await w.confirm(id, signature);
      for (let attempt = 1; attempt <= 7; attempt++) await w.deliver();
      later(forMs);
      await w.sweepEach(PAYMENT_SWEEPS);
      expect(await readCandidate(signature)).toMatchObject({ origin: 'named' });
      await w.chain.call('local_clearFaults');
      later(3 * HOUR);
      await w.sweepEach(PAYMENT_SWEEPS);
      expect(await readStatus(signature)).toBe('CONFIRMED');
    });

    it.each(['http_503', 'null_first'])(
      'a named transaction stays a candidate while one node lacks it and the other answers %s, and confirms later',
      async (kind) => {
        const other = w.chain.node('b');
        const env = { ...w.env, RPC_URLS: `${w.chain.url},${other.url}` };
        const { id, signature } = await named();
        await w.chain.fault({ kind: 'no_history', times: 0 });
        // The first node lacks the transaction. The second one fails in one case and shows its status in the other.
        await other.fault({ kind, times: 0, method: kind === 'http_503' ? 'getSignatureStatuses' : 'getTransaction' });
        await w.confirm(id, signature, { env });
        later(2 * HOUR);
        await w.sweepEach(PAYMENT_SWEEPS, env);
        expect(await readCandidate(signature)).toMatchObject({ origin: 'named' });
        for (const node of [w.chain, other]) await node.call('local_clearFaults');
        later(8 * HOUR);
        await w.sweepEach(PAYMENT_SWEEPS, env);
        expect(await readStatus(signature)).toBe('CONFIRMED');
      },
    );
  });

  it('a transaction claimed in the sandbox still confirms its live session', async () => {
    const { id, signature } = await paid();
    await w.env.DB.prepare("INSERT INTO tx_claims (tx_key, livemode, kind, subject_id) VALUES (?1, 0, 'x402', ?2)")
      .bind(claimKeyOf(signature), crypto.randomUUID())
      .run();
    await w.sweepEach(PAYMENT_SWEEPS);
    expect(await w.eventTypes(id)).toEqual(CONFIRMED);
  });

  it('two thousand judged candidates do not slow a confirmation: it reads at most 40 rows', async () => {
    const payment = await w.connect(product);
    await w.chain.pay(await w.chain.wallet(), payment, { recipient: (await generateKeyPairSigner()).address });
    await w.sweepEach(PAYMENT_SWEEPS);
    await w.env.DB.prepare(
      `INSERT INTO payment_candidates (payment_id, tx_signature, livemode, origin, attempt, next_check_at, created_at, sent_at)
       SELECT payment_id, tx_signature || value, livemode, origin, attempt, next_check_at, created_at, sent_at
       FROM payment_candidates, json_each(?) WHERE origin = 'judged'`,
    )
      .bind(JSON.stringify(Array.from({ length: 1999 }, (_, i) => i)))
      .run();
    expect(await w.env.DB.prepare("SELECT count(*) AS n FROM payment_candidates WHERE origin = 'judged'").first('n')).toBe(2000);
    const { env, readings } = withRowCount(w.env);
    await w.confirm(payment.payment_id, base58.encode(crypto.getRandomValues(new Uint8Array(64))), { env });
    expect(rowsOf(readings), worstOf(readings)).toBeLessThanOrEqual(40);
  });

  it('a contended confirmation is finished by the next sweep if its message is lost', async () => {
    const { id, signature } = await paid();
    let hasEvents = false;
    const database = {
      prepare: (sql: string) => {
        hasEvents ||= sql.startsWith('insert into "acts"');
        return w.env.DB.prepare(sql);
      },
      // A batch with events always loses its race.
      batch: (statements: D1PreparedStatement[]) => {
        const loses = hasEvents;
        hasEvents = false;
        return loses ? Promise.reject(new Error('D1_ERROR: UNIQUE constraint failed: index acts_once')) : w.env.DB.batch(statements);
      },
    } as unknown as D1Database;
    const contended = await w.confirm(id, signature, { env: { ...w.env, DB: database } });
    expect([contended.status, contended.body.payment.status]).toEqual([200, 'PENDING_SIGNATURE']);
    w.queue.sent.length = 0;
    await w.chain.fault({ kind: 'rpc_error', method: 'getSignaturesForAddress', times: 0 });
    await w.sweepEach(PAYMENT_SWEEPS);
    expect(await w.eventTypes(id)).toEqual(CONFIRMED);
  });
});
