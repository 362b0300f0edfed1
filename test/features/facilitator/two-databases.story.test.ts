import { runInDurableObject } from 'cloudflare:test';
import { beforeAll, describe, expect, it } from 'vitest';
import { openTill, type Till } from '../../support/clients/facilitator-shop.ts';
import { bindDatabases, openOnly } from '../../support/fixtures/databases.ts';
import { withObjectFaults } from '../../support/people/agent.ts';
import { type Merchant, World } from '../../support/world.ts';

async function latestTransaction(...databases: D1Database[]): Promise<string> {
  const sql = 'SELECT tx_signature AS signature, created_at AS at FROM settlements ORDER BY created_at DESC LIMIT 1';
  const rows = await Promise.all(databases.map((database) => database.prepare(sql).first<{ signature: string; at: number }>()));
  return rows.flatMap((row) => (row ? [row] : [])).toSorted((a, b) => b.at - a.at)[0]!.signature;
}

describe('facilitator payment to a wallet shared by accounts of two databases', () => {
  const w = new World();
  let till: Till;
  let other: Merchant;
  beforeAll(async () => {
    till = await openTill(w);
    await bindDatabases(w, 'DB_2');
    openOnly(w, 'DB_2');
    other = await w.merchant();
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const setting = { key: other.key, body: { payout_wallet: till.payTo }, headers };
    expect((await w.call('PUT', '/v1/access/rail-settings/x402_solana_usdc', setting)).status).toBe(200);
  });

  const asked = (body: unknown, { key }: Merchant) => till.ask('settle', body, { key });
  const outcomes = (answers: Awaited<ReturnType<typeof asked>>[]) =>
    answers.map(({ status, body }) => [status, body.success ? 'success' : body.errorReason]).sort();
  const ONCE = [
    [200, 'duplicate_settlement'],
    [200, 'success'],
  ];

  it('one of two concurrent accounts gets the success, and gets it again', async () => {
    const body = await till.bodyFor();
    const both = () => Promise.all([asked(body, till.merchant), asked(body, other)]);
    const first = await both();
    expect(outcomes(first)).toEqual(ONCE);
    expect((await both()).map((answer) => answer.body.success)).toEqual(first.map((answer) => answer.body.success));
  });

  it('an account that comes after the payment of the other has landed is refused as a duplicate', async () => {
    const body = await till.bodyFor();
    expect((await asked(body, till.merchant)).body.success).toBe(true);
    const verified = await till.ask('verify', body, { key: other.key });
    expect([verified.status, verified.body.isValid, verified.body.invalidReason]).toEqual([200, false, 'duplicate_settlement']);
    expect(outcomes([await asked(body, other)])).toEqual([ONCE[0]]);
  });

  it('the success of one account never goes to the other, though the message object lost its data', async () => {
    for (const [owner, rival] of [
      [till.merchant, other],
      [other, till.merchant],
    ] as const) {
      const body = await till.bodyFor();
      expect((await asked(body, owner)).body.success).toBe(true);
      const signature = await latestTransaction(w.env.DB, w.env.DB_2 as D1Database);
      await runInDurableObject(w.env.ADMISSION.getByName(`message:${signature}`), async (_, { storage }) => storage.deleteAll());
      expect((await asked(body, rival)).body.success).toBe(false);
      expect((await asked(body, owner)).body.success).toBe(true);
    }
  });

  it('an account that crashed after its claim of the message can settle again', async () => {
    const body = await till.bodyFor();
    const { env } = withObjectFaults(w.env, { after: ({ verb }) => verb === 'claimMessage' });
    expect((await till.ask('settle', body, { key: other.key, env })).status).toBe(503);
    expect(outcomes([await asked(body, till.merchant)])).toEqual([ONCE[0]]);
    expect(outcomes([await asked(body, other)])).toEqual([ONCE[1]]);
  });
});
