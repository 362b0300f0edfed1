import { beforeEach, describe, expect, it } from 'vitest';
import { customerIdOf } from '#core/ids.ts';
import { signText } from '../../support/chain/wallet.ts';
import { archiveAll } from '../../support/fixtures/old-books.ts';
import { watchCopy } from '../../support/people/entitlement-copy.ts';
import { addMember } from '../../support/people/team.ts';
import { type Body, type Merchant, World } from '../../support/world.ts';

let w: World;
let ada: Merchant;
let eve: Merchant;
let weather: Body;
let maps: Body;

beforeEach(async () => {
  w = new World();
  [ada, eve] = [await w.merchant(), await w.merchant()];
  weather = await w.product(ada, { name: 'Weather', access_period_days: 30 });
  maps = await w.product(eve, { name: 'Maps', access_period_days: 30 });
});

const fold = () => w.sweepAlone('analytics');
const idOf = ({ userId }: Merchant, customer_ref: string, livemode = true) => customerIdOf(userId, livemode, { customerRef: customer_ref });
const exportOf = (id: string, key: string, query = '') => w.call('GET', `/v1/customers/${id}/export${query}`, { key });
const ids = (rows: Body[], field: string): string[] => rows.map((row) => row[field]).sort();

describe('GET /v1/customers/{customer_id}/export', () => {
  it('exports everything of the customer at one merchant, and nothing of another customer, merchant or mode', async () => {
    const [grace, alan] = [await w.chain.wallet(), await w.chain.wallet()];
    const storeCopy = await watchCopy(w, ada, weather.product_id, { customerRef: 'user-1' });
    const { confirmed: first } = await w.purchase(weather, grace, { customer_ref: 'user-1', email: 'grace@example.com' });
    const { confirmed: second } = await w.purchase(weather, alan, { customer_ref: 'user-1' });
    await w.purchase(weather, grace, { customer_ref: 'user-2', email: 'other@example.com' });
    await w.purchase(maps, grace, { customer_ref: 'user-1', email: 'eve-only@example.com' });
    const handoff = { customer_ref: 'user-1', email: 'handoff@example.com' };
    expect(
      (await w.call('POST', `/v1/products/${weather.product_id}/handoffs`, { key: ada.key, body: handoff })).body.code,
    ).toBeUndefined();
    await storeCopy();
    await fold();
    const { status, body, headers } = await exportOf(idOf(ada, 'user-1'), ada.token);
    expect([status, headers.get('content-disposition')]).toEqual([200, 'attachment; filename="export.json"']);
    const paid = [first.payment.payment_id, second.payment.payment_id].sort();
    expect(ids(body.payments, 'payment_id')).toEqual(paid);
    expect(ids(body.receipts, 'receipt_id')).toEqual([first.payment.receipt_id, second.payment.receipt_id].sort());
    expect(body.emails).toEqual([{ payment_id: first.payment.payment_id, email: 'grace@example.com' }]);
    expect(ids(body.handoffs, 'email')).toEqual(['handoff@example.com']);
    expect([body.memberships.length, body.entitlements.length, body.customer.customer_ref]).toEqual([1, 1, 'user-1']);
    expect(body.timeline.length).toBeGreaterThan(3);
    expect(body.truncated).toEqual([]);
    expect(JSON.stringify(body)).not.toMatch(/other@|eve-only@|user-2|Maps/);
    expect((await exportOf(idOf(ada, 'user-1'), eve.token)).status).toBe(404);
    expect((await exportOf(idOf(ada, 'user-1'), ada.token, '?mode=sandbox')).status).toBe(404);
    expect((await exportOf(crypto.randomUUID(), ada.token)).status).toBe(404);
  });

  it('each export has an entry in the audit log, with the mode and the person', async () => {
    const grace = await w.chain.wallet();
    await w.purchase(weather, grace, { customer_ref: 'user-1' });
    await fold();
    const id = idOf(ada, 'user-1');
    for (let count = 0; count < 2; count++) expect((await exportOf(id, ada.token)).status).toBe(200);
    expect((await exportOf(id, eve.token)).status).toBe(404);
    const { items } = (await w.call('GET', '/v1/account/audit-log?action=customer.exported', { key: ada.token })).body;
    const entry = { actor: { kind: 'person', id: ada.userId }, subject: { type: 'customer', id }, livemode: true };
    expect(items).toMatchObject([entry, entry]);
  });

  it('exports archived payments and receipts too', async () => {
    const grace = await w.chain.wallet();
    const sold: Body[] = [];
    for (let i = 0; i < 3; i++) sold.push((await w.purchase(weather, grace, { customer_ref: 'user-1' })).confirmed.payment);
    while (w.queue.sent.length > 0) await w.deliver();
    await w.env.DB.batch([
      w.env.DB.prepare('UPDATE payments SET finalized_at = confirmed_at + 20000 WHERE finalized_at IS NULL'),
      w.env.DB.prepare('UPDATE tx_claims SET final_at = confirmed_at + 20000, next_check_at = NULL WHERE final_at IS NULL'),
    ]);
    await fold();
    await archiveAll(w);
    expect(await w.env.DB.prepare('SELECT count(*) AS n FROM archived_payments').first<number>('n')).toBeGreaterThan(0);
    const { body } = await exportOf(idOf(ada, 'user-1'), ada.token);
    expect(ids(body.payments, 'payment_id')).toEqual(ids(sold, 'payment_id'));
    expect(ids(body.receipts, 'receipt_id')).toEqual(ids(sold, 'receipt_id'));
  });

  it('refuses keys and roles without access to privacy', async () => {
    await w.purchase(weather, await w.chain.wallet(), { customer_ref: 'user-1' });
    await fold();
    const id = idOf(ada, 'user-1');
    const refused = await exportOf(id, ada.key);
    expect([refused.status, refused.body.meta]).toEqual([403, { reason: 'token_required' }]);
    for (const [role, expected] of [
      ['admin', 200],
      ['developer', 403],
      ['finance', 403],
      ['support', 403],
      ['viewer', 403],
    ] as const)
      expect((await exportOf(id, (await addMember(w, ada, role)).token)).status, role).toBe(expected);
  });
});

describe('GET /v1/buyer/export', () => {
  const read = (token: string, path: string) => w.call('GET', `/v1/buyer${path}`, { key: token });

  it('exports what the lists show to a wallet, and nothing of another wallet', async () => {
    const [grace, alan] = [await w.chain.wallet(), await w.chain.wallet()];
    await w.purchase(weather, grace);
    await w.purchase(maps, grace, { customer_ref: 'user-1' });
    await w.purchase(weather, alan, { email: 'alan@example.com' });
    await fold();
    const { body: nonce } = await w.call('POST', '/v1/buyer/wallet/nonce', { body: { wallet_address: grace.address } });
    const proof = {
      wallet_address: grace.address,
      signed_message: await signText(grace, nonce.message),
      message_nonce: nonce.message_nonce,
    };
    const token = (await w.call('POST', '/v1/buyer/wallet', { body: proof })).body.token;
    const { status, body } = await read(token, '/export');
    expect(status).toBe(200);
    for (const list of ['purchases', 'access', 'subscriptions'])
      expect(body[list], list).toEqual(expect.arrayContaining((await read(token, `/${list}`)).body.items));
    expect([body.purchases.length, body.access.length, body.sellers.length, body.truncated]).toEqual([2, 1, 2, []]);
    expect(JSON.stringify(body)).not.toContain('alan@');
    for (const key of [ada.token, ada.key]) expect((await read(key, '/export')).status).toBe(401);
  });

  it('exports one seller to a customer of a portal link', async () => {
    const grace = await w.chain.wallet();
    await w.purchase(weather, grace, { customer_ref: 'user-1' });
    await w.purchase(maps, grace, { customer_ref: 'user-1' });
    const portal = await w.call('POST', '/v1/customers/portal-sessions', { key: ada.key, body: { customer: { customer_ref: 'user-1' } } });
    const link = new URL(portal.body.url).searchParams.get('token');
    const { token } = (await w.call('POST', '/v1/buyer/portal-link/redeem', { body: { token: link } })).body;
    const { body } = await read(token, '/export');
    expect(body.purchases.map(({ product_name }: Body) => product_name)).toEqual(['Weather']);
    expect(body.sellers.map(({ account_id }: Body) => account_id)).toEqual([ada.userId]);
  });
});
