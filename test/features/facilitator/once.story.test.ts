import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Isolate, openTill, reasonOf, type Till } from '../../support/clients/facilitator-shop.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { letDoubtsAge } from '../../support/people/agent.ts';
import { testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

/** A server serves for every `success: true`, so each payment that moved money must get exactly one. */
describe('facilitator: one success per payment', () => {
  const w = new World();
  let till: Till;
  beforeAll(async () => {
    till = await openTill(w);
  });
  afterEach(async () => {
    vi.unstubAllGlobals();
    await w.chain.call('local_clearFaults');
  });

  const sent = async () => (await w.chain.call<Record<string, number>>('local_calls')).sendTransaction ?? 0;
  /** Makes pending settlements due, as if the last check were long ago. */
  const later = () =>
    testEnv.DB.prepare(
      "UPDATE settlements SET next_check_at = 0, created_at = created_at - 10000 WHERE status = 'pending' AND purpose = 'facilitator'",
    ).run();
  const deafen = () => w.chain.fault({ kind: 'http_503', method: 'getTransaction', times: 1000 });
  const statuses = (answers: Response[]) => answers.map(({ status }) => status).sort();
  const TEN = Array.from({ length: 10 });

  it('ten concurrent visits with one payment: one is served', async () => {
    const send = await till.startServer().buy();
    const before = await till.settlements();
    expect(statuses(await Promise.all(TEN.map(send)))).toEqual([200, ...Array(9).fill(402)]);
    expect(reasonOf(await send())).toBe('duplicate_settlement');
    expect(await till.settlements()).toBe(before + 1);
  });

  it('ten concurrent visits over three isolates: one is served', async () => {
    const send = await till.startServer(await till.newIsolates(3)).buy();
    expect(statuses(await Promise.all(TEN.map(send)))).toEqual([200, ...Array(9).fill(402)]);
  });

  it('the same account gets the result again, from another isolate too', async () => {
    const { askOf, bodyFor } = till;
    const [one, other, third] = (await till.newIsolates(3)) as [Isolate, Isolate, Isolate];
    const body = await bodyFor();
    expect([await askOf(one, 'verify', body), await askOf(other, 'verify', body)]).toMatchObject([{ isValid: true }, { isValid: true }]);
    const first = await askOf(one, 'settle', body);
    expect(first.success).toBe(true);
    // A repeat gets the first result byte for byte, and no later verify passes.
    expect(JSON.stringify(await askOf(other, 'settle', body))).toBe(JSON.stringify(first));
    expect(await askOf(third, 'verify', body)).toMatchObject({ isValid: false, invalidReason: 'duplicate_settlement' });
  });

  it('another account with the same payout wallet gets duplicate_settlement', async () => {
    const eve = await w.merchant();
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const setting = { key: eve.key, body: { payout_wallet: till.payTo }, headers };
    expect((await w.call('PUT', '/v1/access/rail-settings/x402_solana_usdc', setting)).status).toBe(200);
    const body = await till.bodyFor();
    expect((await till.ask('settle', body)).body.success).toBe(true);
    const theirs = await till.ask('settle', body, { key: eve.key });
    expect(theirs.body).toMatchObject({ success: false, errorReason: 'duplicate_settlement' });
  });

  it('eight concurrent settles: one succeeds, and the transaction is sent once', async () => {
    const { ask, bodyFor } = till;
    const body = await bodyFor();
    const before = await sent();
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask('settle', body)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(answers.filter((answer) => answer.body.success)).toHaveLength(1);
    for (const { body: lost } of answers.filter((answer) => !answer.body.success))
      expect(['duplicate_settlement', 'settlement_pending']).toContain(lost.errorReason);
    expect((await sent()) - before).toBe(1);
    expect(new Set(answers.map((answer) => answer.body.transaction)).size).toBe(1);
  });

  for (const [swept, sweep] of [
    ['before the sweep', async () => {}] as const,
    ['after it', async () => later().then(() => w.sweepAlone('settlements'))] as const,
  ])
    it(`a buyer who returns ${swept} after settlement_pending is served once`, async () => {
      const server = till.startServer();
      const send = await server.buy();
      await deafen();
      const first = await send();
      expect([first.status, reasonOf(first)]).toEqual([402, 'settlement_pending']);
      await w.chain.call('local_clearFaults');
      await sweep();
      const before = await sent();
      server.settleTogether(2);
      expect(statuses(await Promise.all([send(), send()]))).toEqual([200, 402]);
      expect(reasonOf(await send())).toBe('duplicate_settlement');
      expect(await sent()).toBe(before);
    });

  it('a payment verified twice and pending at first is settled by a repeated settle', async () => {
    const { ask, bodyFor } = till;
    const body = await bodyFor();
    await ask('verify', body);
    await ask('verify', body);
    await deafen();
    const waiting = (await ask('settle', body)).body;
    expect(waiting).toMatchObject({ success: false, errorReason: 'settlement_pending' });
    await w.chain.call('local_clearFaults');
    expect((await ask('verify', body)).body.isValid).toBe(true);
    expect((await ask('settle', body)).body).toMatchObject({ success: true, transaction: waiting.transaction });
    expect((await ask('verify', body)).body).toMatchObject({ isValid: false, invalidReason: 'duplicate_settlement' });
  });

  it('a payment that was never broadcast is sent by the next visit and not by a sweep', async () => {
    const send = await till.startServer().buy();
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
    expect(reasonOf(await send())).toBe('settlement_pending');
    const [before, settled] = [await sent(), await till.settlements()];
    for (let i = 0; i < 3; i++) await later().then(() => w.sweep());
    expect([await sent(), await till.settlements()]).toEqual([before, settled]);
    expect(statuses([await send(), await send()])).toEqual([200, 402]);
    expect([await sent(), await till.settlements()]).toEqual([before + 1, settled + 1]);
  });

  it('a payment that cannot land any more fails for good, and no money moves', async () => {
    const { ask, bodyFor } = till;
    const body = await bodyFor();
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
    const { transaction } = (await ask('settle', body)).body;
    await w.chain.call('local_warp', 600);
    // A first absence is a doubt. Only a later second one counts as proof.
    await later().then(() => w.sweepAlone('settlements'));
    await letDoubtsAge(w);
    await later().then(() => w.sweepAlone('settlements'));
    const failed = { success: false, errorReason: 'invalid_exact_svm_transaction_failed', transaction };
    expect([(await ask('settle', body)).body, (await ask('settle', body)).body]).toMatchObject([failed, failed]);
    expect((await ask('verify', body)).body).toMatchObject({ isValid: false, invalidReason: failed.errorReason });
  });

  for (const when of ['before', 'after'] as const)
    for (const swept of [false, true])
      it(`a database trip that breaks ${when} its effect leaves one success${swept ? ', also after a sweep' : ''}`, async () => {
        const { ask, bodyFor } = till;
        let broken = 0;
        for (let isBroken = true; isBroken; ) {
          broken++;
          const body = await bodyFor();
          const { env, trips } = withFaults(w.env, { [when]: ({ number }: { number: number }) => number === broken });
          const first = await ask('settle', body, { env });
          isBroken = trips.length >= broken;
          const detail = `${when} ${broken}: ${JSON.stringify(first.body)}`;
          expect([200, 503], detail).toContain(first.status);
          await later();
          if (swept) await w.sweepAlone('settlements');
          expect((await ask('verify', body)).body.isValid, detail).toBe(first.body.success !== true);
          const again = [await ask('settle', body), await ask('settle', body)];
          expect(again[1]!.body, detail).toMatchObject({ success: true });
          for (const answer of [first, ...again].filter(({ body: { success } }) => success))
            expect(answer.body, detail).toEqual(again[1]!.body);
          expect((await ask('verify', body)).body, detail).toMatchObject({ isValid: false, invalidReason: 'duplicate_settlement' });
        }
        expect(broken).toBeGreaterThan(3);
      });

  for (const when of ['before', 'after'] as const)
    it(`a first call that loses the database ${when} it assigns the success leaves one success`, async () => {
      const { ask, bodyFor } = till;
      const watched = withFaults(w.env);
      expect((await ask('settle', await bodyFor(), { env: watched.env })).body.success).toBe(true);
      const last = watched.trips.length;
      const body = await bodyFor();
      const { env } = withFaults(w.env, { [when]: ({ number }: { number: number }) => number >= last });
      expect((await ask('settle', body, { env })).body).toMatchObject({ success: false, errorReason: 'settlement_pending' });
      expect([(await ask('settle', body)).body.success, (await ask('settle', body)).body.success]).toEqual([true, true]);
      expect((await ask('verify', body)).body).toMatchObject({ isValid: false, invalidReason: 'duplicate_settlement' });
    });
});
