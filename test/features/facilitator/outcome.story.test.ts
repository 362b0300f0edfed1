import { beforeAll, describe, expect, it } from 'vitest';
import { openTill, type Till } from '../../support/clients/facilitator-shop.ts';
import { letTimePass, readOutcome, sweepUntilBelieved, watchOnce } from '../../support/faults/finality.ts';
import { consumer, received } from '../../support/people/consumer.ts';
import { REPEATED } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

describe('facilitator payment dropped by the cluster', REPEATED, () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  let till: Till;
  beforeAll(async () => {
    till = await openTill(w);
  });
  const readSettlement = async (signature: string) =>
    (await w.env.DB.prepare('SELECT payment_id, status FROM settlements WHERE tx_signature = ?')
      .bind(signature)
      .first<{ payment_id: string; status: string }>())!;

  it('a drop and a return each send one webhook with the known transaction', async () => {
    const endpoint = await consumer(w, till.merchant, 'ok', { event_types: ['payment.orphaned', 'payment.finalized'] });
    const { body } = await till.ask('settle', await till.bodyFor());
    expect(body.success).toBe(true);
    const { payment_id: id } = await readSettlement(body.transaction);
    const receiveEvents = async () => {
      await w.deliver();
      await w.attempt();
      return (await received(endpoint)).map((got) => JSON.parse(got.body)).filter(({ subject }) => subject.id === id);
    };
    await w.chain.fault({ kind: 'vanish', signature: body.transaction });
    await sweepUntilBelieved(w);
    await Promise.all([w.sweepAlone('finality'), w.sweepAlone('finality')]);
    const [dropped, ...more] = await receiveEvents();
    expect(more).toEqual([]);
    expect(dropped).toMatchObject({
      type: 'payment.orphaned',
      subject: { type: 'payment', version: 1 },
      data: {
        object: {
          tx_signature: body.transaction,
          payer_wallet: body.payer,
          recipient_wallet: till.payTo,
          price: { base_units: '10000' },
          orphaned_at: expect.any(String),
        },
      },
    });
    await w.chain.call('local_landAgain', body.transaction);
    await letTimePass(w, 601);
    await w.sweepAlone('finality');
    const events = await receiveEvents();
    expect(events.map(({ type }) => type)).toEqual(['payment.orphaned', 'payment.finalized']);
    expect(events[1].data.object).toMatchObject({ tx_signature: body.transaction, finalized_at: expect.any(String) });
    expect(events[1].data.object.orphaned_at).toBeUndefined();
    expect(await readOutcome(id)).toMatchObject({ kind: 'facilitator', final_at: expect.any(Number), dropped_at: null });
  });

  for (const when of ['before', 'after'] as const)
    it(`a crash ${when} any trip of the sweep sends each event once`, async () => {
      let cut = 0;
      for (let isCut = true; isCut; ) {
        cut++;
        const { body } = await till.ask('settle', await till.bodyFor());
        const { payment_id: id } = await readSettlement(body.transaction);
        await w.chain.fault({ kind: 'vanish', signature: body.transaction });
        await letTimePass(w, 61);
        await watchOnce(w);
        await letTimePass(w, 31);
        isCut = (await watchOnce(w, { [when]: ({ number }: { number: number }) => number === cut })) >= cut;
        await letTimePass(w, 61);
        await watchOnce(w);
        expect(await w.eventTypes(id), `cut ${cut}`).toEqual(['payment.orphaned']);
        await w.chain.call('local_landAgain', body.transaction);
        await letTimePass(w, 3601);
        await watchOnce(w, { [when]: ({ number }: { number: number }) => number === cut });
        await letTimePass(w, 3601);
        await watchOnce(w);
        expect(await w.eventTypes(id), `cut ${cut}`).toEqual(['payment.orphaned', 'payment.finalized']);
      }
      expect(cut).toBeGreaterThan(5);
    });

  it('an unchanged payment becomes final without an event', async () => {
    const { body } = await till.ask('settle', await till.bodyFor());
    await letTimePass(w, 61);
    await w.sweepAlone('finality');
    const { payment_id: id } = await readSettlement(body.transaction);
    expect((await readOutcome(id)).final_at).not.toBeNull();
    expect(await w.eventTypes(id)).toEqual([]);
  });
});

describe('facilitator payment that failed on chain', REPEATED, () => {
  const w = new World();
  let till: Till;
  beforeAll(async () => {
    till = await openTill(w);
  });

  it('the payment is checked again after a minute and a day, and a fork on which it succeeds settles it once', async () => {
    const body = await till.bodyFor();
    // The transaction is not sent at first, and the wallet is empty when it executes.
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
    await till.ask('settle', body);
    const held = await w.chain.call<{ value: { amount: string } }>('getTokenAccountBalance', await findUsdcAccount(till));
    await w.chain.pay(till.agent.wallet, {
      recipient: (await w.chain.wallet(0n)).address,
      memo: 'moved',
      price: { base_units: held.value.amount },
      references: [],
    });
    await w.env.DB.prepare("UPDATE settlements SET created_at = created_at - 6000 WHERE status = 'pending'").run();
    const failed = (await till.ask('settle', body)).body;
    expect(failed).toMatchObject({ success: false, errorReason: 'invalid_exact_svm_transaction_failed' });
    const row = () =>
      w.env.DB.prepare('SELECT status, failure_reason, next_check_at - ? AS due FROM settlements WHERE tx_signature = ?')
        .bind(Date.now(), failed.transaction)
        .first<{ status: string; failure_reason: string; due: number }>();
    const first = (await row())!;
    expect([first.status, first.failure_reason, Math.round(first.due / 60_000)]).toEqual(['failed', 'transaction_failed', 1]);
    const checkNow = async () => {
      await w.env.DB.prepare('UPDATE settlements SET next_check_at = 0 WHERE tx_signature = ?').bind(failed.transaction).run();
      await w.sweepAlone('settlements');
    };
    await checkNow();
    expect(Math.round((await row())!.due / 3_600_000)).toBe(24);
    await w.chain.fault({ kind: 'vanish', signature: failed.transaction });
    await w.chain.call('local_fundUsdc', till.agent.wallet.address, '10000');
    await w.chain.call('local_landAgain', failed.transaction);
    await checkNow();
    expect(await row()).toMatchObject({ status: 'settled', failure_reason: null });
    const answers = [(await till.ask('settle', body)).body, (await till.ask('settle', body)).body];
    expect(answers[0]).toMatchObject({ success: true });
    expect(answers[1]).toEqual(answers[0]);
  });
});

async function findUsdcAccount({ agent }: Till): Promise<string> {
  const { associatedTokenAccount } = await import('#solana/checkout-transaction.ts');
  const { USDC } = await import('../../support/chain/chain.ts');
  return associatedTokenAccount(agent.wallet.address, USDC);
}
