import { applyD1Migrations, runInDurableObject } from 'cloudflare:test';
import { beforeAll, describe, expect, it } from 'vitest';
import { openTill, type Till } from '../../support/clients/facilitator-shop.ts';
import { withObjectFaults } from '../../support/people/agent.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

/** Hash of the message that was claimed last in any of these. */
async function latestMessage(...databases: D1Database[]): Promise<string> {
  const sql = 'SELECT message_hash AS hash, created_at AS at FROM tx_claims ORDER BY created_at DESC LIMIT 1';
  const rows = await Promise.all(databases.map((database) => database.prepare(sql).first<{ hash: string; at: number }>()));
  return rows.flatMap((row) => (row ? [row] : [])).toSorted((a, b) => b.at - a.at)[0]!.hash;
}

describe('a payment to a wallet that accounts of two databases are paid to', () => {
  const w = new World();
  let till: Till;
  let other: Merchant;
  beforeAll(async () => {
    till = await openTill(w);
    await applyD1Migrations(testEnv.TEST_DB_2, testEnv.TEST_MIGRATIONS);
    w.env.DB_2 = testEnv.TEST_DB_2;
    other = await w.merchant();
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const setting = { key: other.key, body: { payout_wallet: till.payTo }, headers };
    expect((await w.call('PUT', '/v1/access/rail-settings/x402_solana_usdc', setting)).status).toBe(200);
  });

  const asked = (body: unknown, { key }: Merchant) => till.ask('settle', body, { key });
  const told = (answers: Awaited<ReturnType<typeof asked>>[]) =>
    answers.map(({ status, body }) => [status, body.success ? 'success' : body.errorReason]).sort();
  const ONCE = [
    [200, 'duplicate_settlement'],
    [200, 'success'],
  ];

  it('is one account’s success where both settle it at once, and again its own afterwards', async () => {
    const body = await till.bodyFor();
    const both = () => Promise.all([asked(body, till.merchant), asked(body, other)]);
    const first = await both();
    expect(told(first)).toEqual(ONCE);
    expect((await both()).map((answer) => answer.body.success)).toEqual(first.map((answer) => answer.body.success));
  });

  it('that one account has settled is never the other’s, though the object of its message has forgotten it', async () => {
    for (const [owner, rival] of [
      [till.merchant, other],
      [other, till.merchant],
    ] as const) {
      const body = await till.bodyFor();
      expect((await asked(body, owner)).body.success).toBe(true);
      const hash = await latestMessage(w.env.DB, w.env.DB_2 as D1Database);
      await runInDurableObject(w.env.ADMISSION.getByName(`message:${hash}`), async (_, { storage }) => storage.deleteAll());
      expect((await asked(body, rival)).body.success).toBe(false);
      expect((await asked(body, owner)).body.success).toBe(true);
    }
  });

  it('may be settled by the same account after a call of it that claimed the message and crashed', async () => {
    const body = await till.bodyFor();
    const { env } = withObjectFaults(w.env, { after: ({ verb }) => verb === 'claimMessage' });
    expect((await till.ask('settle', body, { key: other.key, env })).status).toBe(503);
    expect(told([await asked(body, till.merchant)])).toEqual([ONCE[0]]);
    expect(told([await asked(body, other)])).toEqual([ONCE[1]]);
  });
});
