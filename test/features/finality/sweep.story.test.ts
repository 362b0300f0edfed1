import type { KeyPairSigner } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { actIdOf } from '#core/ids.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { FIRST_CHECK, letTimePass, readOutcome, SECOND_PROOF, sweepUntilBelieved, watchOnce } from '../../support/faults/finality.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { claimKeyOfSql } from '../../support/fixtures/multiply.ts';
import { withObjectFaults } from '../../support/people/agent.ts';
import { REPEATED, testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

/** Copies a confirmed payment `count` times, each with its own transaction on chain. */
async function confirmMany(w: World, buyer: KeyPairSigner, like: string, count: number): Promise<void> {
  const columns = async (table: string) =>
    (await testEnv.DB.prepare(`SELECT name FROM pragma_table_info('${table}')`).all<{ name: string }>()).results.map(({ name }) => name);
  const copy = async (table: string, key: string, changes: Record<string, string>) => {
    const values = (await columns(table)).map((name) => changes[name] ?? name).join();
    return testEnv.DB.prepare(`INSERT INTO ${table} SELECT ${values} FROM ${table} WHERE ${key} = ?3`);
  };
  const payment = await copy('payments', 'id', { id: '?1', tx_signature: '?2', nonce: '?1', membership_id: 'NULL' });
  const claim = await copy('tx_claims', 'subject_id', { tx_key: claimKeyOfSql('?2'), tx_signature: '?2', subject_id: '?1' });
  const ids = Array.from({ length: count }, () => crypto.randomUUID());
  const signatures = await w.chain.landMany(buyer, ids);
  await testEnv.DB.batch(ids.flatMap((id, i) => [payment, claim].map((statement) => statement.bind(id, signatures[i], like))));
}

describe('finality sweep', REPEATED, () => {
  const w = new World();
  let merchant: Merchant;
  let buyer: KeyPairSigner;
  beforeAll(async () => {
    merchant = await w.merchant();
    buyer = await w.chain.wallet();
  });
  const bought = async () => {
    const product = await w.product(merchant, { access_period_days: 30, session_seconds: 3600 });
    const { payment, signature } = await w.purchase(product, buyer);
    return { id: payment.payment_id as string, signature, product };
  };
  const countFinal = (productId: string) =>
    prepareOnEvents(
      testEnv.DB,
      `SELECT count(p.finalized_at) AS payments, count(c.final_at) AS claims,
         (SELECT count(*) FROM events e WHERE e.type = 'payment.finalized' AND e.product_id = ?1) AS events
       FROM payments p JOIN tx_claims c ON c.subject_id = p.id WHERE p.product_id = ?1`,
    )
      .bind(productId)
      .first();

  it('the sweep finalizes a payment at its entitlement object, and an object failure does not delay finality', async () => {
    const { id } = await bought();
    await w.deliver();
    await letTimePass(w, FIRST_CHECK);
    await w.sweepAlone('finality');
    const jobs = w.queue.sent.splice(0).map(({ job }) => job);
    const recorded: string[] = [];
    const { env } = withObjectFaults(w.env, { before: ({ verb }) => recorded.push(verb) > 0 && verb === 'finalize' });
    expect(await w.deliver(jobs, env)).toEqual({ retried: 0 });
    expect(recorded).toContain('finalize');
    expect(await w.eventTypes(id)).toContain('payment.finalized');
  });

  it('the sweep handles 451 payments in one run, with database trips per page and not per payment', async () => {
    const { id, product } = await bought();
    await confirmMany(w, buyer, id, 450);
    await letTimePass(w, FIRST_CHECK);
    w.queue.sent.length = 0;
    await w.chain.call('local_resetCalls');
    const { env, trips } = withFaults(w.env);
    await w.sweepAlone('finality', env);
    expect(await countFinal(product.product_id)).toEqual({ payments: 451, claims: 451, events: 451 });
    expect(trips.length).toBeLessThan(60);
    expect((await w.chain.call<Record<string, number>>('local_calls')).getSignatureStatuses).toBeLessThanOrEqual(3);
    const recorded = w.queue.sent.flatMap(({ job }) => (job.kind === 'hintFinal' ? [job.paymentIds.length] : []));
    expect([Math.max(...recorded) <= 50, recorded.reduce((sum, count) => sum + count, 0)]).toEqual([true, 451]);
  });

  it('two concurrent sweeps make each payment final once', async () => {
    const { id, product } = await bought();
    await confirmMany(w, buyer, id, 60);
    await letTimePass(w, FIRST_CHECK);
    await Promise.all([w.sweepAlone('finality'), w.sweepAlone('finality')]);
    await letTimePass(w, FIRST_CHECK);
    await w.sweepAlone('finality');
    expect(await countFinal(product.product_id)).toEqual({ payments: 61, claims: 61, events: 61 });
  });

  it('a payment that cannot be final does not block the others of its batch', async () => {
    const { id, product } = await bought();
    await confirmMany(w, buyer, id, 10);
    // Another act already has the payment's next version.
    const version = await testEnv.DB.prepare('SELECT version FROM payments WHERE id = ?').bind(id).first<number>('version');
    const next = actIdOf(0, id, id, version! + 1);
    await testEnv.DB.prepare(
      `INSERT INTO acts (id, merchant_id, livemode, types, body, is_personal, request_id, created_at)
       SELECT ?2, merchant_id, livemode, '', unhex('00' || hex('[]')), 0, 'req', 0 FROM payments WHERE id = ?1`,
    )
      .bind(id, next)
      .run();
    await letTimePass(w, FIRST_CHECK);
    await w.sweepAlone('finality');
    expect(await countFinal(product.product_id)).toEqual({ payments: 10, claims: 10, events: 10 });
    await testEnv.DB.prepare('DELETE FROM acts WHERE id = ?').bind(next).run();
    await letTimePass(w, FIRST_CHECK);
    await w.sweepAlone('finality');
    expect(await countFinal(product.product_id)).toEqual({ payments: 11, claims: 11, events: 11 });
  });

  const land = (signature: string) => w.chain.call('local_landAgain', signature);
  const STAGES = {
    'the first look': async () => letTimePass(w, FIRST_CHECK),
    'the second proof': async () => {
      await letTimePass(w, FIRST_CHECK);
      await watchOnce(w);
      await letTimePass(w, SECOND_PROOF);
    },
    'the return': async (signature: string) => {
      await sweepUntilBelieved(w);
      await land(signature);
      await letTimePass(w, 601);
    },
  };

  for (const when of ['before', 'after'] as const)
    it.each(Object.entries(STAGES))(
      `a crash ${when} any trip of %s leaves each payment final, dropped and returned at most once`,
      async (_stage, until) => {
        let cut = 0;
        for (let isCut = true; isCut; ) {
          cut++;
          const [lasting, gone] = [await bought(), await bought()];
          await w.chain.fault({ kind: 'vanish', signature: gone.signature });
          await until(gone.signature);
          isCut = (await watchOnce(w, { [when]: ({ number }: { number: number }) => number === cut })) >= cut;
          await land(gone.signature);
          // Every check that a crash interrupted is due again after these pauses.
          for (const seconds of [FIRST_CHECK, FIRST_CHECK, 3601]) {
            await letTimePass(w, seconds);
            await watchOnce(w);
          }
          const types = await w.eventTypes(gone.id);
          const count = (type: string) => types.filter((one) => one === type).length;
          expect([count('payment.finalized'), count('payment.orphaned') <= 1, count('membership.renewed')], `cut ${cut}`).toEqual([
            1,
            true,
            count('payment.orphaned'),
          ]);
          expect(await readOutcome(gone.id)).toMatchObject({ final_at: expect.any(Number), dropped_at: null, next_check_at: null });
          expect((await w.eventTypes(lasting.id)).filter((type) => type === 'payment.finalized')).toHaveLength(1);
        }
        expect(cut).toBeGreaterThan(4);
      },
    );
});
