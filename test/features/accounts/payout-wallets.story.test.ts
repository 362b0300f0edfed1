import { beforeEach, describe, expect, it } from 'vitest';
import { addMember } from '../../support/people/team.ts';
import { MailWorld, verifyAddress } from '../../support/servers/mail.ts';
import type { Merchant } from '../../support/world.ts';

describe('GET /v1/account/payouts', () => {
  const w = new MailWorld();
  let ada: Merchant;
  beforeEach(async () => {
    ada = await w.merchant();
  });

  const list = async (key: string, query = '') => (await w.call('GET', `/v1/account/payouts${query}`, { key })).body;
  const setRail = (key: string, payout_wallet: string) =>
    w.call('PUT', '/v1/access/rail-settings/solana_usdc', {
      key,
      body: { payout_wallet },
      headers: { 'Idempotency-Key': crypto.randomUUID() },
    });
  const newAddress = async () => (await w.chain.wallet(0n)).address;

  it('each known wallet names the rail and products that it is paid for, by address', async () => {
    const [mine, other] = [ada.wallet.address, await newAddress()];
    const [first, second] = [await w.product(ada), await w.product(ada)];
    const third = await w.product(ada, { payout_wallet: other });
    expect((await setRail(ada.token, mine)).status).toBe(200);
    const known = {
      [mine]: [
        { type: 'rail', id: 'solana_usdc' },
        { type: 'product', id: second.product_id },
        { type: 'product', id: first.product_id },
      ],
      [other]: [{ type: 'product', id: third.product_id }],
    };
    const { items, total } = await list(ada.key);
    expect([items, total]).toEqual([
      [mine, other].sort().map((wallet_address) => ({ wallet_address, known_since: expect.any(String), used_by: known[wallet_address] })),
      2,
    ]);
    const pages = [await list(ada.key, '?per_page=1'), await list(ada.key, '?per_page=1&page=2')];
    expect(pages.map(({ items, has_more }) => [items[0].wallet_address, has_more])).toEqual(
      [mine, other].sort().map((wallet, i) => [wallet, i === 0]),
    );
  });

  it('a known wallet that nothing pays is listed, and a disowned one is not', async () => {
    const old = await newAddress();
    const { product_id } = await w.product(ada, { payout_wallet: old });
    const moved = await w.call('PATCH', `/v1/products/${product_id}`, { key: ada.token, body: { payout_wallet: ada.wallet.address } });
    expect(moved.status).toBe(200);
    expect((await list(ada.key)).items).toContainEqual({ wallet_address: old, known_since: expect.any(String), used_by: [] });
    const disowned = await w.call('POST', '/v1/account/payouts/disown', { key: ada.token, body: { wallet_address: old } });
    expect(disowned.status).toBe(200);
    expect((await list(ada.key)).items.map(({ wallet_address }: { wallet_address: string }) => wallet_address)).toEqual([
      ada.wallet.address,
    ]);
  });

  it('the sandbox lists the wallets that its own settings name, without a date, and live mode does not list them', async () => {
    const wallet = await newAddress();
    const { product_id } = await w.product({ ...ada, key: ada.sandboxKey }, { payout_wallet: wallet });
    expect((await list(ada.sandboxKey)).items).toEqual([{ wallet_address: wallet, used_by: [{ type: 'product', id: product_id }] }]);
    expect((await list(ada.token, '?mode=sandbox')).total).toBe(1);
    expect((await list(ada.key)).items).toEqual([]);
  });

  it('another account sees none of it, and a role without payouts is refused', async () => {
    await w.product(ada);
    await verifyAddress(w, ada);
    const eve = await w.merchant();
    expect(await list(eve.key)).toMatchObject({ items: [], total: 0 });
    const support = await addMember(w, ada, 'support');
    expect(await list(support.token)).toMatchObject({ code: 'invalid_authorization', meta: { reason: 'role' } });
  });
});
