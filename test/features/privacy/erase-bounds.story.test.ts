import { eq } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import { customerIdOf, type MembershipId, newId, type ProductId } from '#core/ids.ts';
import { forgetAll } from '#core/isolate/memory.ts';
import { MINUTE } from '#core/time.ts';
import { listUnerasedMembers, planErasedMembership } from '#features/privacy/erasure/access.store.ts';
import { listDueErasures } from '#features/privacy/erasure/customer.store.ts';
import { sweepErasedCustomers } from '#features/privacy/erasure/sweep.ts';
import { loadScope } from '#platform/chain/scope.ts';
import { newCtx } from '#platform/context.ts';
import { commit, isAborted, unchanged } from '#platform/db/commit.ts';
import { shardsOf } from '#platform/db/each-database.ts';
import { erasingOf } from '#platform/db/search/erasing.ts';
import { memberships } from '#platform/db/tables/memberships.ts';
import { buyerKeyOf } from '#rules/access/buyers.ts';
import { MeteredShop } from '../../support/clients/metered.ts';
import { runScenario } from '../../support/clients/sandbox.ts';
import { newKey } from '../../support/people/agent.ts';
import { completeErasures, ErasureCase, erasuresLeft, findWord } from '../../support/people/erased-customer.ts';
import { mailConfig } from '../../support/servers/mail.ts';
import { type Body, type Merchant, World } from '../../support/world.ts';

describe('bounds of an erasure', () => {
  let opened: ErasureCase;
  let w: World;
  let ada: Merchant;
  let product: Body;
  let ref: string;
  beforeEach(async () => {
    opened = await ErasureCase.open({}, new World(mailConfig()));
    ({ w, ada, product, ref } = opened);
  });
  const idOf = (customerRef: string) => opened.idOf({ customerRef });
  const get = (path: string) => opened.get(path);
  const post = (path: string, body: object, key = ada.key) => opened.post(path, body, key);
  const erase = (id: string = idOf(ref), body: object = { end_access: true }) => post(`customers/${id}/erase`, body, ada.token);
  const settle = () => opened.settle();
  const buy = async (input: object = { customer_ref: ref, email: 'ada@example.com' }, wallet = w.chain.wallet()) => {
    const sale = await opened.buy(input, wallet);
    await settle();
    return sale;
  };
  const consume = (customer: object = { customer_ref: ref }) =>
    post('access/entitlements/consume', { product_id: product.product_id, customer });
  const stateOf = (id: string) => get(`customers/${id}/state`);
  const watch = (customer: Parameters<ErasureCase['watch']>[0]) => opened.watch(customer);

  it('an old payment that is confirmed again gives no access', async () => {
    const wallet = await w.chain.wallet();
    await watch({ walletAddress: wallet.address });
    const sales = [await buy(), await buy({}, Promise.resolve(wallet))];
    const ids = [idOf(ref), customerIdOf(ada.userId, true, { walletAddress: wallet.address })];
    for (const id of ids) expect((await erase(id)).status).toBe(202);
    await completeErasures(w);
    forgetAll();
    for (const { payment, signature } of sales) expect((await w.confirm(payment.payment_id, signature)).status).toBe(200);
    await settle();
    for (const id of ids) expect((await stateOf(id)).products.every(({ access }: Body) => !access)).toBe(true);
    expect((await consume({ wallet_address: wallet.address })).status).toBe(403);
  });

  it('a wallet that was merged into the customer has for itself what it buys afterwards', async () => {
    const wallet = await w.chain.wallet();
    const customer = { walletAddress: wallet.address };
    await watch(customer);
    await buy({}, Promise.resolve(wallet));
    await buy();
    const alias = customerIdOf(ada.userId, true, customer);
    expect((await post(`customers/${idOf(ref)}/merge`, { from: alias })).status).toBe(200);
    await settle();
    expect((await erase()).status).toBe(202);
    await completeErasures(w);
    await buy({}, Promise.resolve(wallet));
    expect((await consume({ wallet_address: wallet.address })).status).toBe(200);
    expect(await get(`customers/${alias}`)).toMatchObject({ customer_id: alias, status: 'active', access: { active: 1 } });
    expect((await stateOf(idOf(ref))).products.every(({ access }: Body) => !access)).toBe(true);
  });

  it('a purchase of the same product during the erasure is the next customer’s', async () => {
    await post('customers', { customer_ref: ref });
    // The analytics read both purchases in the same run.
    await w.purchase(product, await w.chain.wallet(), { customer_ref: ref, email: 'ada@example.com' });
    await opened.copies[0]!();
    while (w.queue.sent.length > 0) await w.deliver();
    expect((await erase()).status).toBe(202);
    await buy({ customer_ref: ref, email: 'next@example.com' });
    await completeErasures(w);
    const next = (await get(`customers/state?customer_ref=${ref}`)).customer_id;
    expect(next).not.toBe(idOf(ref));
    expect((await consume()).status).toBe(200);
    const { items } = await get('memberships');
    expect(items.map(({ status, customer }: Body) => [status, customer.email ?? null]).sort()).toEqual([
      ['active', 'next@example.com'],
      ['cancelled', null],
    ]);
    await settle();
    expect(await get(`customers/${next}`)).toMatchObject({ status: 'active', totals: { payments: 1 } });
    expect((await get(`customers/${idOf(ref)}`)).status).toBe('erased');
  });

  it('another customer with the same erased reference blocks no erasure', async () => {
    await buy();
    const taken = `erased:${idOf(ref).slice(0, 8)}`;
    await buy({ customer_ref: 'other' });
    await w.env.DB.prepare("UPDATE customers SET customer_ref = ?, erased_at = 1, status = 'erased' WHERE customer_ref = 'other'")
      .bind(taken)
      .run();
    await w.env.DB.prepare("UPDATE memberships SET customer_ref = ?, customer_key = ? WHERE customer_ref = 'other'")
      .bind(taken, `ref:${taken}`)
      .run();
    expect((await erase()).status).toBe(202);
    await completeErasures(w);
    expect(await findWord(ref)).toEqual([]);
    const { customer_ref } = await get(`customers/${idOf(ref)}`);
    expect(customer_ref).toMatch(/^erased:[0-9a-f]{8}$/);
    expect(customer_ref).not.toBe(taken);
  });

  it('a request names no reference of an erased customer', async () => {
    const customer_ref = 'erased:0123abcd';
    const { product_id, slug } = product;
    const answers = [
      await post(`products/p/${slug}/connect`, { customer_ref }),
      await post('customers', { customer_ref }),
      await post('access/entitlements/grant', { product_id, customer: { customer_ref }, days: 1, reason: 'test' }),
      await consume({ customer_ref }),
      await post(`products/${product_id}/handoffs`, { customer_ref }),
      await post('access/payment-sessions', { product_id, customer_ref }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 422, 422, 422]);
  });

  it('a stranger who begins checkouts does not delay the erasure, and its open checkouts end', async () => {
    await buy();
    const open = await w.connect(product, { customer_ref: ref });
    expect((await erase()).status).toBe(202);
    expect(Date.parse((await get(`payments/${open.payment_id}`)).expires_at)).toBeLessThanOrEqual(Date.now());
    const stranger = await w.connect(product, { customer_ref: ref });
    await completeErasures(w);
    expect((await get(`customers/${idOf(ref)}`)).status).toBe('erased');
    expect((await get(`payments/${stranger.payment_id}`)).customer_ref).toBe(ref);
    expect((await get(`payments/${open.payment_id}`)).customer_ref).toMatch(/^erased:/);
  });

  it('refuses while a signed payment is under way', async () => {
    await buy();
    const { payment_id } = await w.connect(product, { customer_ref: ref });
    const setStatus = (status: string) =>
      w.env.DB.prepare("UPDATE payments SET status = ? WHERE customer_ref = ? AND status LIKE 'PENDING%'").bind(status, ref).run();
    await setStatus('PENDING_CONFIRMATION');
    const refused = await erase();
    expect([refused.status, refused.body.meta]).toEqual([409, { reason: 'payment_pending' }]);
    await setStatus('PENDING_SIGNATURE');
    expect((await erase()).status).toBe(202);
    expect((await get(`payments/${payment_id}`)).status).toBe('PENDING_SIGNATURE');
  });

  it('a wallet that buys during its erasure is active afterwards and can be erased again', async () => {
    const wallet = await w.chain.wallet();
    await watch({ walletAddress: wallet.address });
    const id = customerIdOf(ada.userId, true, { walletAddress: wallet.address });
    await buy({ email: 'first@example.com' }, Promise.resolve(wallet));
    expect((await erase(id)).status).toBe(202);
    await buy({ email: 'second@example.com' }, Promise.resolve(wallet));
    await completeErasures(w);
    expect(await get(`customers/${id}`)).toMatchObject({ status: 'active', emails: [{ email: 'second@example.com' }] });
    expect((await stateOf(id)).products).toMatchObject([{ access: true }]);
    // The archive still has lines of the first erasure. A second one would overwrite its progress.
    await w.env.DB.prepare(`UPDATE customers SET erasure = '{"hasEnded":true}' WHERE wallet_address IS NOT NULL`).run();
    expect(await erase(id)).toMatchObject({ status: 409, body: { meta: { reason: 'erasing' } } });
    await w.env.DB.prepare('UPDATE customers SET erasure = NULL').run();
    expect((await erase(id)).body).toMatchObject({ status: 'erasing', emails: [] });
    await completeErasures(w);
    expect((await get(`customers/${id}`)).status).toBe('erased');
    expect(await findWord('second@example.com')).toEqual([]);
  });

  it('an erasure with a failing step waits and delays no other', async () => {
    await buy();
    await post('customers', { customer_ref: 'broken' });
    expect((await erase(idOf('broken'))).status).toBe(202);
    await w.env.DB.prepare("UPDATE customers SET erasure = json_set(erasure, '$.keys', 1) WHERE erase_at IS NOT NULL").run();
    expect((await erase()).status).toBe(202);
    const due = () =>
      w.env.DB.prepare("SELECT max(erase_at) AS at FROM customers WHERE json_type(erasure, '$.keys') = 'integer'").first<number>('at');
    const before = (await due())!;
    await w.sweepAlone('erasedCustomers').catch(() => null);
    expect(await due()).toBeGreaterThan(before);
    await completeErasures(w, w.env, 1);
    await completeErasures(w, w.env, 1);
    expect([await erasuresLeft(), (await get(`customers/${idOf(ref)}`)).status]).toEqual([1, 'erased']);
    await w.env.DB.prepare('UPDATE customers SET erase_at = NULL, erasure = NULL').run();
  });

  it('an email to somebody else with the same address, and answers of the next customer, remain', async () => {
    await buy({ customer_ref: ref, email: ada.email });
    await w.env.DB.prepare(
      `INSERT INTO mails (id, account_id, template, facts, address, address_key, status, attempt, lease_until, request_id, created_at, ended_at)
      SELECT randomblob(16), account_id, 'passkey_suspect', '{"named":"key","at":"now"}', address, address_key, 'sent', 1, 0, 'r', 1, 1
      FROM mails WHERE address_key IS NOT NULL AND template = 'buyer_receipt' LIMIT 1`,
    ).run();
    const alerts = () => w.env.DB.prepare("SELECT facts FROM mails WHERE template = 'passkey_suspect'").first('facts');
    const receipts = () =>
      w.env.DB.prepare("SELECT count(*) AS n FROM mails WHERE template = 'buyer_receipt' AND facts <> '{}' AND account_id = unhex(?)")
        .bind(ada.userId.replaceAll('-', ''))
        .first('n');
    expect([await alerts(), await receipts()]).toEqual([expect.stringContaining('key'), 1]);
    expect((await erase()).status).toBe(202);
    await w.sweepAlone('erasedCustomers');
    const headers = { 'Idempotency-Key': newKey() };
    const body = { customer_ref: ref, email: 'next@example.com', metadata: { k: 'v' } };
    const made = () => w.call('POST', '/v1/customers', { key: ada.key, headers, body });
    const first = await made();
    expect(first.status).toBe(201);
    await completeErasures(w);
    expect((await made()).body).toEqual(first.body);
    expect([await alerts(), await receipts()]).toEqual([expect.stringContaining('key'), 0]);
    expect(await findWord('next@example.com')).not.toEqual([]);
  });

  it('the object of a metered session shows the erased reference', async () => {
    const shop = await MeteredShop.open(w, { body: { customer: { customer_ref: ref } } });
    const read = () => w.call('GET', shop.path, { key: shop.key });
    expect((await read()).body.customer).toEqual({ customer_ref: ref });
    expect((await w.call('POST', `${shop.path}/close`, { key: shop.key, headers: { 'Idempotency-Key': newKey() } })).status).toBe(200);
    await settle();
    await post('customers', { customer_ref: ref }, shop.key);
    const { token: key, userId } = shop.merchant;
    const id = customerIdOf(userId, false, { customerRef: ref });
    const erased = await w.call('POST', `/v1/customers/${id}/erase?mode=sandbox`, { key, body: { end_access: true } });
    expect(erased.status).toBe(202);
    await completeErasures(w);
    expect((await read()).body.customer).toEqual({ customer_ref: erased.body.customer_ref });
  });

  it('a run that has no time left goes on at once', async () => {
    await buy();
    expect((await erase()).status).toBe(202);
    const ctx = newCtx(w.env, { requestId: 'req_sweep', defer: () => {} });
    const [shard] = shardsOf(ctx);
    const swept = await sweepErasedCustomers({ ...shard!, elapsedMs: () => MINUTE });
    expect(swept.end).toBe('bound');
  });

  it('an erased customer absorbs no other, and neither it nor one under erasure gets a portal session', async () => {
    for (const customer_ref of [ref, 'other']) await post('customers', { customer_ref });
    const open = () => post('customers/portal-sessions', { customer_id: idOf(ref) });
    const merge = () => post(`customers/${idOf(ref)}/merge`, { from: idOf('other') });
    expect((await erase()).status).toBe(202);
    expect([(await merge()).status, (await open()).body.meta]).toEqual([409, { reason: 'erasing' }]);
    await completeErasures(w);
    expect([(await merge()).status, (await open()).body.meta]).toEqual([422, { reason: 'erased' }]);
  });

  it('an address leads its buyer to the seller no longer, unless another purchase names it, and parked copies go', async () => {
    const own = { customer_ref: ref, email: 'own@example.com' };
    await buy(own);
    await buy({ ...own, email: 'shared@example.com' });
    await buy({ customer_ref: 'other', email: 'shared@example.com' });
    const leads = async (email: string) =>
      w.env.DB.prepare('SELECT count(*) AS n FROM buyer_sellers WHERE buyer_key = ? AND merchant_id = unhex(?)')
        .bind(buyerKeyOf({ kind: 'email', email }), ada.userId.replaceAll('-', ''))
        .first('n');
    const snapshot = { merchantId: ada.userId, livemode: true, customer: { customerRef: ref }, updatedAt: 1 };
    const parked = { kind: 'projectEntitlement', projection: { snapshot, events: [] } };
    await w.env.DB.prepare("INSERT INTO parked_messages VALUES ('m1', 'svc-jobs-dead', 'projectEntitlement', ?, 'failed', 1)")
      .bind(JSON.stringify(parked))
      .run();
    expect([await leads('own@example.com'), await leads('shared@example.com')]).toEqual([1, 1]);
    expect((await erase()).status).toBe(202);
    await completeErasures(w);
    expect([await leads('own@example.com'), await leads('shared@example.com'), await findWord(ref)]).toEqual([0, 1, []]);
  });

  it('a customer of a sandbox session is erased by the clock of the session, within minutes by the clock on the wall', async () => {
    const { session_id } = await runScenario(w, ada, 'payment_confirmed', { advance_seconds: 40 * 86_400 });
    await settle();
    const customerRef = `${session_id}:buyer`;
    const id = customerIdOf(ada.userId, false, { customerRef });
    const asked = Date.now();
    const { status, body } = await w.call('POST', `/v1/customers/${id}/erase?mode=sandbox`, { key: ada.token, body: { end_access: true } });
    expect(status).toBe(202);
    const { erasure, erased_at } = (await w.env.DB.prepare(
      'SELECT erasure, erased_at FROM customers WHERE erase_at IS NOT NULL',
    ).first<Body>())!;
    expect(JSON.parse(erasure).callsEndAt - asked).toBeLessThan(5 * MINUTE);
    expect(erased_at - asked).toBeGreaterThan(30 * 24 * 60 * MINUTE);
    await completeErasures(w);
    expect(body.customer_ref).toMatch(/:erased:[0-9a-f]{8}$/);
    expect(await findWord(customerRef)).toEqual([]);
  });

  it('a delivery that moves while its membership is erased stops the write', async () => {
    await buy();
    expect((await erase()).status).toBe(202);
    const ctx = await loadScope(newCtx(w.env, { requestId: 'req_erase', defer: () => {} }), {
      merchantId: ada.userId as never,
      livemode: true,
    });
    const [row] = await listDueErasures(ctx, 1);
    const erasing = erasingOf(ctx, row!, row!.erasure!);
    await w.env.DB.prepare(
      `INSERT INTO placements (membership_id, merchant_id, livemode, provider, status, work, attempts, payment_id, lease_until, created_at, version)
      SELECT id, merchant_id, 1, 'telegram', 'pending', 'give', 0, last_payment_id, 0, 0, 1 FROM memberships WHERE customer_ref LIKE 'erased:%'
      AND email IS NOT NULL`,
    ).run();
    const [member] = await listUnerasedMembers(erasing, erasing.keys[0]!, 1);
    await w.env.DB.prepare('UPDATE placements SET version = 2').run();
    const stored = commit(ctx, { ...unchanged(null), writes: planErasedMembership(erasing, member!) });
    expect(isAborted(await stored.catch((error: unknown) => error))).toBe(true);
    await completeErasures(w);
    expect([
      await findWord('ada@example.com'),
      (await w.env.DB.prepare('SELECT count(*) AS n FROM placements').first('n')) as number,
    ]).toEqual([[], 0]);
  });

  it('every address of a customer is erased, also beyond a page of addresses', async () => {
    await buy();
    const [member] = await w.db.select().from(memberships).where(eq(memberships.customerRef, ref));
    const addresses = Array.from({ length: 120 }, (_, i) => `planted-${i}@example.com`);
    for (const email of addresses)
      await w.db.insert(memberships).values({
        ...member!,
        id: newId<MembershipId>(Date.now(), ada.userId),
        productId: newId<ProductId>(Date.now(), ada.userId),
        email,
      });
    await w.env.DB.prepare("UPDATE memberships SET status = 'expired' WHERE email LIKE 'planted-%'").run();
    expect((await erase()).status).toBe(202);
    await w.sweepAlone('erasedCustomers');
    const { erasure } = (await w.env.DB.prepare('SELECT erasure FROM customers WHERE erase_at IS NOT NULL').first<Body>())!;
    expect(JSON.parse(erasure).emails).toEqual(expect.arrayContaining(addresses));
    await completeErasures(w, w.env, 40);
    expect(await findWord('planted-')).toEqual([]);
  });
});
