import { beforeAll, describe, expect, it } from 'vitest';
import { sweepReceiptChains } from '#features/receipts/hash-chain.ts';
import { sweepArchive } from '#features/retention/archive.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { archiveAll, ctxAt, OLD } from '../../support/fixtures/old-books.ts';
import { MembersWorld } from '../../support/people/members.ts';
import { testEnv } from '../../support/runner/env.ts';
import type { Merchant } from '../../support/world.ts';

const HOUR = 3_600_000;
const PERSON = '771234567';
const WORDS = 'Wetter-Geheim';

interface Stored {
  merchant: Merchant;
  receiptIds: string[];
  paymentIds: string[];
}

describe('names in the archive of an account that is deleted', () => {
  const w = new MembersWorld({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  const { DB } = testEnv;
  let chats = 77_000;
  const bucket = () => w.env.ARCHIVE!;

  /** A merchant whose archive names a member, in events and in the payment, and repeats the words of a ticket. */
  async function archived(): Promise<Stored> {
    const merchant = await w.merchant();
    const chat = `-100${++chats}`;
    await w.claim(merchant, 'telegram', chat);
    const club = await w.club(merchant, { provider: 'telegram', chat_id: chat });
    const stored: Stored = { merchant, receiptIds: [], paymentIds: [] };
    for (let sale = 0; sale < 2; sale++) {
      const { payment, confirmed } = await w.join(club, PERSON);
      stored.receiptIds.push(confirmed.receipt_id);
      stored.paymentIds.push(payment.payment_id);
    }
    const ticket = { subject: WORDS, body: `${WORDS} once more` };
    expect((await w.call('POST', '/v1/support/tickets', { key: merchant.key, body: ticket })).status).toBe(200);
    await w.settleDown();
    await sweepReceiptChains(ctxAt(w.env, 0));
    await DB.batch([
      DB.prepare('UPDATE payments SET finalized_at = confirmed_at + 20000 WHERE finalized_at IS NULL AND confirmed_at IS NOT NULL'),
      DB.prepare('UPDATE tx_claims SET final_at = confirmed_at + 20000, next_look_at = NULL WHERE final_at IS NULL'),
    ]);
    await archiveAll(w);
    return stored;
  }
  const keysOf = async ({ merchant }: Stored): Promise<string[]> =>
    (await bucket().list({ prefix: `${merchant.userId}/` })).objects.map(({ key }) => key);
  const textOf = async (stored: Stored): Promise<string> =>
    (await Promise.all((await keysOf(stored)).map(async (key) => (await bucket().get(key))!.text()))).join('');
  const erasedAt = ({ merchant }: Stored) =>
    DB.prepare('SELECT erased_at FROM accounts WHERE id = ?').bind(merchant.userId).first('erased_at');
  async function remove({ merchant }: Stored): Promise<void> {
    expect((await w.call('DELETE', '/v1/account/account', { key: merchant.token })).status).toBe(200);
  }
  async function erase(stored: Stored, env = w.env): Promise<void> {
    for (let round = 0; round < 8 && (await erasedAt(stored)) === null; round++) await w.sweepAlone('erasures', env).catch(() => null);
  }
  /** What is left of an object that another took the place of goes an hour later. */
  const forgetDrafts = () => sweepArchive(ctxAt(w.env, 2 * HOUR));
  const provenOf = async ({ receiptIds, paymentIds }: Stored) => [
    ...(await Promise.all(receiptIds.map(async (id) => (await w.call('GET', `/v1/receipt/${id}/verify`)).body.valid))),
    ...(await Promise.all(receiptIds.map(async (id) => (await w.call('GET', `/v1/receipt/${id}/public`)).body.document))),
    ...(await Promise.all(paymentIds.map(async (id) => (await w.call('GET', `/v1/payments/${id}`)).body.tx_signature))),
  ];

  let ada: Stored;
  let bystander: Stored;
  beforeAll(async () => {
    [ada, bystander] = [await archived(), await archived()];
  });

  it('are there before, and gone after it, with every line where it was', async () => {
    const before = await textOf(ada);
    for (const name of [PERSON, WORDS, '"bea"']) expect(before).toContain(name);
    const proven = await provenOf(ada);
    await remove(ada);
    await erase(ada);
    expect(await erasedAt(ada)).toEqual(expect.any(Number));
    // Whoever was told the old object's name a moment ago can still read it.
    expect((await keysOf(ada)).filter((key) => !key.endsWith('.nameless.jsonl')).length).toBeGreaterThan(0);
    await forgetDrafts();
    const after = await textOf(ada);
    for (const name of [PERSON, WORDS, '"bea"']) expect(after).not.toContain(name);
    expect(after.split('\n').map((line) => line.length)).toEqual(before.split('\n').map((line) => line.length));
    expect(await provenOf(ada)).toEqual(proven);
    expect(proven.slice(0, 2)).toEqual([true, true]);
    expect(await DB.prepare('SELECT count(*) AS n FROM archive_drafts').first('n')).toBe(0);
  });

  it('of every other account stay', async () => {
    const text = await textOf(bystander);
    for (const name of [PERSON, WORDS]) expect(text).toContain(name);
  });

  it('go wherever their erasing is cut, and no object is lost or kept twice', async () => {
    for (let failsAt = 1; failsAt <= 24; failsAt += 3) {
      const stored = failsAt === 1 ? bystander : await archived();
      const [objects, proven] = [(await keysOf(stored)).length, await provenOf(stored)];
      await remove(stored);
      const { env } = withFaults(w.env, { after: ({ number }) => number === failsAt });
      await w.sweepAlone('erasures', env).catch(() => null);
      await erase(stored);
      await forgetDrafts();
      expect([failsAt, (await keysOf(stored)).length]).toEqual([failsAt, objects]);
      const text = await textOf(stored);
      for (const name of [PERSON, WORDS]) expect([failsAt, text.includes(name)]).toEqual([failsAt, false]);
      expect(await provenOf(stored)).toEqual(proven);
    }
  });

  it('do not get there while they are being erased, nor is the account done with before they are out', async () => {
    const merchant = await w.merchant();
    const ticket = { subject: WORDS, body: WORDS };
    await w.call('POST', '/v1/support/tickets', { key: merchant.key, body: ticket });
    while (w.queue.sent.length > 0) await w.deliver();
    const stored: Stored = { merchant, receiptIds: [], paymentIds: [] };
    await remove(stored);
    await DB.prepare("UPDATE events SET data = json_set(data, '$.object.subject', ?), fanned_out_at = 1 WHERE merchant_id = ?")
      .bind(WORDS, merchant.userId)
      .run();
    await sweepArchive(ctxAt(w.env, OLD));
    expect(await keysOf(stored)).toEqual([]);
    await erase(stored);
    await sweepArchive(ctxAt(w.env, OLD));
    expect([(await keysOf(stored)).length, (await textOf(stored)).includes(WORDS)]).toEqual([1, false]);
  });

  it('wait where the archive does not answer, and the account with them', async () => {
    const stored = await archived();
    await remove(stored);
    const away = new Proxy(bucket(), {
      get: (target, name) => (name === 'get' ? async () => null : Reflect.get(target, name).bind(target)),
    });
    await erase(stored, { ...w.env, ARCHIVE: away } as typeof w.env);
    expect([await erasedAt(stored), (await textOf(stored)).includes(PERSON)]).toEqual([null, true]);
    await erase(stored);
    await forgetDrafts();
    expect([await erasedAt(stored), (await textOf(stored)).includes(PERSON)]).toEqual([expect.any(Number), false]);
  });
});
