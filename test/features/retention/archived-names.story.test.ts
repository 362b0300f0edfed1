import { beforeAll, describe, expect, it } from 'vitest';
import { sweepArchive } from '#features/retention/archive.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { changeActs } from '../../support/fixtures/acts.ts';
import { archiveAll, ctxAt, OLD } from '../../support/fixtures/old-books.ts';
import { MembersWorld } from '../../support/people/members.ts';
import { testEnv } from '../../support/runner/env.ts';
import type { Merchant } from '../../support/world.ts';

const HOUR = 3_600_000;
const PERSON = '771234567';
const TICKET_TEXT = 'Wetter-Geheim';

interface Stored {
  merchant: Merchant;
  receiptIds: string[];
  paymentIds: string[];
}

describe('names in the archive of a deleted account', () => {
  const w = new MembersWorld({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  const { DB } = testEnv;
  let chats = 77_000;
  const bucket = () => w.env.ARCHIVE!;

  /** Archives a merchant with a member's name in events, payment and ticket. */
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
    const ticket = { subject: TICKET_TEXT, body: `${TICKET_TEXT} once more` };
    expect((await w.call('POST', '/v1/support/tickets', { key: merchant.key, body: ticket })).status).toBe(200);
    await w.settleDown();
    await DB.batch([
      DB.prepare('UPDATE payments SET finalized_at = confirmed_at + 20000 WHERE finalized_at IS NULL AND confirmed_at IS NOT NULL'),
      DB.prepare('UPDATE tx_claims SET final_at = confirmed_at + 20000, next_check_at = NULL WHERE final_at IS NULL'),
    ]);
    await archiveAll(w);
    return stored;
  }
  const listKeys = async ({ merchant }: Stored): Promise<string[]> =>
    (await bucket().list({ prefix: `${merchant.userId}/` })).objects.map(({ key }) => key);
  const readText = async (stored: Stored): Promise<string> =>
    (await Promise.all((await listKeys(stored)).map(async (key) => (await bucket().get(key))!.text()))).join('');
  const erasedAt = ({ merchant }: Stored) =>
    DB.prepare('SELECT erased_at FROM accounts WHERE id = ?').bind(merchant.userId).first('erased_at');
  async function remove({ merchant }: Stored): Promise<void> {
    expect((await w.call('DELETE', '/v1/account/account', { key: merchant.token })).status).toBe(200);
  }
  async function erase(stored: Stored, env = w.env): Promise<void> {
    for (let round = 0; round < 8 && (await erasedAt(stored)) === null; round++) await w.sweepAlone('erasures', env).catch(() => null);
  }
  /** Deletes replaced objects, which happens an hour after their replacement. */
  const forgetDrafts = () => sweepArchive(ctxAt(w.env, 2 * HOUR));
  const readProofs = async ({ receiptIds, paymentIds }: Stored) => [
    ...(await Promise.all(receiptIds.map(async (id) => (await w.call('GET', `/v1/receipt/${id}/verify`)).body.valid))),
    ...(await Promise.all(receiptIds.map(async (id) => (await w.call('GET', `/v1/receipt/${id}/public`)).body.document))),
    ...(await Promise.all(paymentIds.map(async (id) => (await w.call('GET', `/v1/payments/${id}`)).body.tx_signature))),
  ];

  let ada: Stored;
  let bystander: Stored;
  beforeAll(async () => {
    [ada, bystander] = [await archived(), await archived()];
  });

  it('deletion removes names from the archive and leaves every line and proof in position', async () => {
    const before = await readText(ada);
    for (const name of [PERSON, TICKET_TEXT, '"bea"']) expect(before).toContain(name);
    const proven = await readProofs(ada);
    await remove(ada);
    await erase(ada);
    expect(await erasedAt(ada)).toEqual(expect.any(Number));
    // Replaced objects stay readable for running requests.
    expect((await listKeys(ada)).filter((key) => !key.endsWith('.nameless.jsonl')).length).toBeGreaterThan(0);
    await forgetDrafts();
    const after = await readText(ada);
    for (const name of [PERSON, TICKET_TEXT, '"bea"']) expect(after).not.toContain(name);
    expect(after.split('\n').map((line) => line.length)).toEqual(before.split('\n').map((line) => line.length));
    expect(await readProofs(ada)).toEqual(proven);
    expect(proven.slice(0, 2)).toEqual([true, true]);
    expect(await DB.prepare('SELECT count(*) AS n FROM archive_drafts').first('n')).toBe(0);
  });

  it('names of other accounts stay in the archive', async () => {
    const text = await readText(bystander);
    for (const name of [PERSON, TICKET_TEXT]) expect(text).toContain(name);
  });

  it('an interrupted erasure removes every name and neither loses nor duplicates an object', async () => {
    for (let failsAt = 1; failsAt <= 24; failsAt += 3) {
      const stored = failsAt === 1 ? bystander : await archived();
      const [objects, proven] = [(await listKeys(stored)).length, await readProofs(stored)];
      await remove(stored);
      const { env } = withFaults(w.env, { after: ({ number }) => number === failsAt });
      await w.sweepAlone('erasures', env).catch(() => null);
      await erase(stored);
      await forgetDrafts();
      expect([failsAt, (await listKeys(stored)).length]).toEqual([failsAt, objects]);
      const text = await readText(stored);
      for (const name of [PERSON, TICKET_TEXT]) expect([failsAt, text.includes(name)]).toEqual([failsAt, false]);
      expect(await readProofs(stored)).toEqual(proven);
    }
  });

  it('names are not archived during the erasure', async () => {
    const merchant = await w.merchant();
    const ticket = { subject: TICKET_TEXT, body: TICKET_TEXT };
    await w.call('POST', '/v1/support/tickets', { key: merchant.key, body: ticket });
    while (w.queue.sent.length > 0) await w.deliver();
    const stored: Stored = { merchant, receiptIds: [], paymentIds: [] };
    await remove(stored);
    await changeActs(DB, 'merchant_id = ?', [merchant.userId], ([event]) => Object.assign(event!.data.object, { subject: TICKET_TEXT }));
    await DB.prepare('UPDATE acts SET fanned_out_at = 1, is_personal = 1 WHERE merchant_id = ?').bind(merchant.userId).run();
    await sweepArchive(ctxAt(w.env, OLD));
    expect(await listKeys(stored)).toEqual([]);
    await erase(stored);
    await sweepArchive(ctxAt(w.env, OLD));
    expect([(await listKeys(stored)).length, (await readText(stored)).includes(TICKET_TEXT)]).toEqual([1, false]);
  });

  it('the erasure waits for an archive that does not answer, and the account stays unfinished', async () => {
    const stored = await archived();
    await remove(stored);
    const away = new Proxy(bucket(), {
      get: (target, name) => (name === 'get' ? async () => null : Reflect.get(target, name).bind(target)),
    });
    await erase(stored, { ...w.env, ARCHIVE: away } as typeof w.env);
    expect([await erasedAt(stored), (await readText(stored)).includes(PERSON)]).toEqual([null, true]);
    await erase(stored);
    await forgetDrafts();
    expect([await erasedAt(stored), (await readText(stored)).includes(PERSON)]).toEqual([expect.any(Number), false]);
  });
});
