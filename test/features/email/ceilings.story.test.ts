import { afterEach, describe, expect, it } from 'vitest';
import { DAY, SECOND } from '#core/time.ts';
import { newCtx } from '#platform/context.ts';
import { admissionObject } from '#platform/objects.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';
import { MailWorld, verifyAddress } from '../../support/servers/mail.ts';

const DAY_SECONDS = DAY / SECOND;

describe('limits of merchant-caused emails (F4: emails to strangers)', () => {
  afterEach(endSkips);

  const settle = async (w: MailWorld) => {
    for (let jobs = w.queue.sent.splice(0); jobs.length > 0; jobs = w.queue.sent.splice(0)) await w.deliver(jobs.map(({ job }) => job));
    await w.post();
  };
  const receiptsTo = async (w: MailWorld, email: string) => (await w.posted()).taken.filter(({ body }) => body.to[0] === email).length;

  /** Field `email` of a seller's receipts, newest first. */
  const readNotes = async (w: MailWorld, { key }: { key: string }): Promise<(string | undefined)[]> =>
    (await w.call('GET', '/v1/receipts?per_page=100', { key })).body.items.map(({ email }: { email?: string }) => email);

  it('an email counts once, however often it is retried', async () => {
    const w = new MailWorld({ MERCHANT_EMAILS_PER_DAY: '1' });
    const product = await w.product(await w.merchant());
    await w.habit('broken');
    await w.purchase(product, await w.chain.wallet(), { email: 'quinn@example.com' });
    await settle(w);
    await w.habit('ok');
    await w.due();
    const [mail] = await w.rows();
    await w.post([{ mailId: mail!.id as never }]);
    expect(await receiptsTo(w, 'quinn@example.com')).toBe(1);
  });

  it('emails stop at the operator’s daily limit, except those with a token', async () => {
    // The limit is per deployment, so the email of the previous test counts.
    const w = new MailWorld({ MERCHANT_EMAILS_PER_DAY: '3' });
    const ada = await w.merchant();
    await verifyAddress(w, ada);
    const product = await w.product(ada);
    const receipts: string[] = [];
    const buy = async (email: string) => receipts.push((await w.purchase(product, await w.chain.wallet(), { email })).confirmed.receipt_id);
    await buy('kim@example.com');
    const proof = { key: ada.key, body: { email: 'mia@example.com' } };
    expect((await w.call('POST', `/v1/receipt/${receipts[0]}/send-proof`, proof)).status).toBe(200);
    await settle(w);
    await buy('leo@example.com');
    await w.call('POST', '/v1/auth/password/forgot', { body: { email: ada.email } });
    await settle(w);
    const to = async () => (await w.posted()).taken.map(({ body }) => body.to[0]);
    expect(new Set(await to())).toEqual(new Set([ada.email, 'kim@example.com', 'mia@example.com']));
    await skipTime(w.chain, DAY_SECONDS + 1);
    await buy('nina@example.com');
    await settle(w);
    expect(await to()).toContain('nina@example.com');
  });

  it('one address gets at most ten receipts a day over all sellers and payers', async () => {
    const w = new MailWorld();
    const sellers = [await w.merchant(), await w.merchant()];
    const products = [await w.product(sellers[0]!), await w.product(sellers[1]!)];
    const buy = async (email: string, index = 0) => w.purchase(products[index % 2]!, await w.chain.wallet(), { email });
    for (let index = 0; index < 12; index++) await buy(index % 2 === 0 ? 'grace@example.com' : 'Grace@Example.com', index);
    await buy('henry@example.com');
    await settle(w);
    const sent = [
      await receiptsTo(w, 'grace@example.com'),
      await receiptsTo(w, 'Grace@Example.com'),
      await receiptsTo(w, 'henry@example.com'),
    ];
    expect([sent[0]! + sent[1]!, sent[2]]).toEqual([10, 1]);
    const notes = (await Promise.all(sellers.map((seller) => readNotes(w, seller)))).flat();
    expect([notes.filter((note) => note === 'limit').length, notes.length]).toEqual([2, 13]);
  });

  it('the buyers of a free account get at most a hundred receipts a day', async () => {
    const w = new MailWorld();
    const merchant = await w.merchant('free');
    const product = await w.product(merchant);
    const ctx = newCtx(w.env, { requestId: 'req_ceiling', defer: () => {} });
    const name = `receipts of account ${merchant.userId}`;
    for (let index = 0; index < 99; index++)
      await admissionObject(ctx, `emails:${name}`).hit([{ name, max: 100, windowMs: DAY }], ctx.wallNow);
    for (const email of ['olga@example.com', 'paul@example.com']) {
      await w.purchase(product, await w.chain.wallet(), { email });
      await settle(w);
    }
    expect([await receiptsTo(w, 'olga@example.com'), await receiptsTo(w, 'paul@example.com')]).toEqual([1, 0]);
    expect((await w.rows()).at(-1)).toMatchObject({ status: 'dropped', error: `limit: ${name}`, address: null });
    expect(await readNotes(w, merchant)).toEqual(['limit', undefined]);
    const [withheld] = (await w.call('GET', '/v1/receipts', { key: merchant.key })).body.items;
    const one = await w.call('GET', `/v1/receipt/${withheld.receipt_id}`, { key: merchant.key });
    const proof = await w.call('GET', `/v1/receipt/${withheld.receipt_id}/public`);
    expect([one.body.email, proof.status, proof.body.email]).toEqual(['limit', 200, undefined]);
  });
});
