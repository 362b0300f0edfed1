import { beforeAll, describe, expect, it } from 'vitest';
import { actOfEvent } from '#core/ids.ts';
import type { Env } from '#platform/context.ts';
import { expireNow } from '../../support/faults/expire-now.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { newAgent, type Shop, stall, withObjectFaults } from '../../support/people/agent.ts';
import { REPEATED } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

describe('access after confirmation', REPEATED, () => {
  const w = new World();
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await w.merchant();
  });
  const paid = async () => {
    const own: Shop = stall(w, merchant, await w.product(merchant, { usage_units: 2 }), await newAgent(w));
    const payment = await w.connect(own.product, { wallet_address: own.agent.wallet.address });
    return { own, id: payment.payment_id as string, signature: await w.chain.pay(own.agent.wallet, payment) };
  };
  /** Commits every batch and loses the answer of batch `number`. */
  const answerLost = (number: number): Env => {
    let batches = 0;
    return withFaults(w.env, { after: ({ kind }) => kind === 'batch' && ++batches === number }).env;
  };
  const fannedOut = () => w.queue.sent.flatMap(({ job }) => (job.kind === 'fanOut' ? job.actIds : []));

  it('a confirmation with a lost commit answer grants access', async () => {
    const { own, id, signature } = await paid();
    const { status, body } = await w.confirm(id, signature, { env: answerLost(2) });
    expect([status, body.payment.status]).toEqual([200, 'CONFIRMED']);
    expect((await own.consume()).status).toBe(200);
  });

  it('events of a confirmation with a lost commit answer are queued for fan-out without a sweep', async () => {
    const { id, signature } = await paid();
    w.queue.sent.length = 0;
    await w.confirm(id, signature, { env: answerLost(2) });
    const rows = await prepareOnEvents(w.env.DB, "SELECT id FROM events WHERE payment_id = ? AND type <> 'payment.created'").bind(id).all();
    expect(rows.results.length).toBe(4);
    expect(fannedOut()).toEqual([...new Set(rows.results.map((row) => actOfEvent(row.id as string)))]);
  });

  it('a repeated confirm grants access if the process died between commit and credit', async () => {
    const { own, id, signature } = await paid();
    const { env } = withObjectFaults(w.env, { before: ({ verb }) => verb === 'credit' });
    expect((await w.confirm(id, signature, { env })).status).toBe(200);
    expect((await own.consume()).status).toBe(403);
    expect((await w.confirm(id, signature)).body.already_confirmed).toBe(true);
    expect((await own.consume()).status).toBe(200);
    expect(await own.entitlement()).toMatchObject({ granted_units: 2, used_units: 1 });
  });

  it('a recovered session and an accepted unmatched payment grant access', async () => {
    const { own, id, signature } = await paid();
    await expireNow(w, id);
    const recovered = await w.confirm(id, signature);
    expect([recovered.status, recovered.body.meta.recovered_payment_id]).toEqual([410, expect.any(String)]);
    expect((await own.consume()).status).toBe(200);
    const second = await w.chain.pay(own.agent.wallet, (await w.call('GET', `/v1/payments/${id}`)).body, {
      recipient: merchant.wallet.address,
      units: 5_000_001n,
    });
    await w.confirm(id, second);
    const body = { tx_signature: second };
    const accepted = await w.call('POST', `/v1/payments/${id}/accept-unmatched`, { key: merchant.key, body });
    expect(accepted.body.status).toBe('CONFIRMED');
    expect(await own.entitlement()).toMatchObject({ granted_units: 4 });
  });

  it('a repeated confirm does not credit a payment that the chain dropped', async () => {
    const { own, id, signature } = await paid();
    const { env, calls } = withObjectFaults(w.env, { before: ({ verb }) => verb === 'credit' });
    await w.confirm(id, signature, { env });
    await w.env.DB.prepare('UPDATE payments SET orphaned_at = 1 WHERE id = ?').bind(id).run();
    await w.confirm(id, signature, { env });
    expect(calls.filter(({ verb }) => verb === 'credit')).toHaveLength(1);
    expect((await own.consume()).status).toBe(403);
  });
});

describe('broadcast with a lost answer', REPEATED, () => {
  const w = new World();
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await w.merchant();
  });
  const signed = async () => {
    const buyer = await w.chain.wallet();
    const payment = await w.connect(await w.product(merchant), { wallet_address: buyer.address });
    return { id: payment.payment_id as string, transaction: await w.chain.sign(buyer, payment.transaction) };
  };
  const send = (id: string, transaction: string, env = w.env) =>
    w.call('POST', `/v1/payments/${id}/transaction`, { body: { transaction }, env });
  const refuse = () => w.chain.fault({ kind: 'rpc_error', method: 'sendTransaction', code: -32002, message: 'Blockhash not found' });
  const status = async (id: string) => (await w.call('GET', `/v1/payments/${id}`)).body.status;
  const otherIsHeldUp = async (id: string) => {
    const account = (await w.chain.wallet()).address;
    const { status: code, body } = await w.call('POST', `/v1/pay/${id}/solana-pay`, { body: { account } });
    return code === 409 && body.meta.reason === 'in_flight';
  };

  it('a refused second attempt does not fail the payment: the first transaction confirms it', async () => {
    const { id, transaction } = await signed();
    await w.chain.fault({ kind: 'fail_after_broadcast', method: 'sendTransaction' });
    await refuse();
    const sent = await send(id, transaction);
    expect([sent.status, sent.body.payment?.status]).toEqual([200, 'PENDING_CONFIRMATION']);
    expect(await otherIsHeldUp(id)).toBe(true);
    await w.deliver();
    expect(await status(id)).toBe('CONFIRMED');
  });

  it('a refused resend of the same bytes does not delete the candidate', async () => {
    const { id, transaction } = await signed();
    await w.chain.fault({ kind: 'fail_after_broadcast', method: 'sendTransaction', times: 2 });
    expect((await send(id, transaction)).status).toBe(200);
    await refuse();
    expect((await send(id, transaction)).status).toBe(200);
    expect(await otherIsHeldUp(id)).toBe(true);
    await w.deliver();
    expect(await status(id)).toBe('CONFIRMED');
  });

  it('a concurrent refused request with the same bytes does not delete the candidate', async () => {
    const { id, transaction } = await signed();
    await refuse();
    let second = 0;
    const prepare = (sql: string): D1PreparedStatement => {
      const statement = w.env.DB.prepare(sql);
      if (!/^delete from "payment_candidates"/i.test(sql)) return statement;
      const late = async () => {
        second = (await send(id, transaction)).status;
      };
      const bind = (...values: unknown[]) => ({ raw: () => late().then(() => statement.bind(...values).raw()) });
      return { bind } as unknown as D1PreparedStatement;
    };
    let batches = 0;
    const batch = (statements: D1PreparedStatement[]) => {
      batches++;
      return w.env.DB.batch(statements);
    };
    // Only the deletion after the refusal is delayed. The first write is a batch.
    const database = { prepare: (sql: string) => (batches === 0 ? w.env.DB.prepare(sql) : prepare(sql)), batch } as unknown as D1Database;
    const first = await send(id, transaction, { ...w.env, DB: database });
    expect([second, first.status, first.body.payment?.status]).toEqual([200, 200, 'PENDING_CONFIRMATION']);
    expect(await otherIsHeldUp(id)).toBe(true);
    await w.deliver();
    expect(await status(id)).toBe('CONFIRMED');
  });
});
