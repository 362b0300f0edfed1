import { beforeAll, describe, expect, it } from 'vitest';
import { type Merchant, World } from '../../support/world.ts';

/** What names a sale: each is searched for by its first characters. */
interface Sale {
  payment: string;
  receipt: string;
  signature: string;
  wallet: string;
  email: string;
}

const EMAIL = 'Rosalind.Franklin@example.com';

describe('search by the beginning of what names a sale', () => {
  const w = new World();
  let ada: Merchant;
  let sale: Sale;
  let membership: string;
  const ids: Record<string, string> = {};

  const search = (path: string, q: string, key: string | null = ada.key, more = '') =>
    w.call('GET', `/v1/${path}?q=${encodeURIComponent(q)}${more}`, { key });
  const FIELDS = { payments: 'payment_id', receipts: 'receipt_id', memberships: 'membership_id' } as const;
  type Path = keyof typeof FIELDS;
  const PATHS = Object.keys(FIELDS) as Path[];
  const idsOf = async (path: Path, q: string, key?: string | null, more?: string): Promise<string[]> => {
    const { status, body } = await search(path, q, key, more);
    expect([path, q, status, body.total]).toEqual([path, q, 200, body.items?.length]);
    return body.items.map((item: Record<string, string>) => item[FIELDS[path]]);
  };

  beforeAll(async () => {
    ada = await w.merchant();
    const product = await w.product(ada, { name: 'Crystallography weekly', access_period_days: 30 });
    const buyer = await w.chain.wallet();
    const { payment, confirmed, signature } = await w.purchase(product, buyer, { email: EMAIL, customer_ref: 'photo-51' });
    sale = { payment: payment.payment_id, receipt: confirmed.receipt_id, signature, wallet: buyer.address, email: EMAIL };
    await w.purchase(product, await w.chain.wallet(), { email: 'other@example.org' });
    membership = (await w.call('GET', `/v1/memberships/lookup?payment_id=${sale.payment}`, { key: ada.key })).body.membership_id;
    Object.assign(ids, { payments: sale.payment, receipts: sale.receipt, memberships: membership });
  });

  it.each(['signature', 'wallet', 'email'] as const)('finds a sale in all three lists by four characters of its %s', async (name) => {
    for (const path of PATHS)
      for (const length of [4, 11, sale[name].length])
        expect([path, length, await idsOf(path, sale[name].slice(0, length))]).toEqual([path, length, [ids[path]]]);
  });

  it.each(['payment', 'receipt'] as const)('finds a sale in all three lists by the beginning of its %s id', async (name) => {
    for (const path of PATHS) {
      for (const q of [sale[name].slice(0, 18), sale[name], sale[name].toUpperCase()])
        expect([path, q, await idsOf(path, q)]).toEqual([path, q, [ids[path]]]);
      for (const length of [4, 8, 9, 12, 13, 14]) expect(await idsOf(path, sale[name].slice(0, length))).toContain(ids[path]);
    }
  });

  it('looks for words if nothing begins with them or if they are shorter than four characters', async () => {
    for (const path of PATHS) expect([path, (await idsOf(path, 'crystallography')).length]).toEqual([path, 2]);
    for (const path of ['payments', 'memberships'] as const) expect(await idsOf(path, 'o-5')).toEqual([ids[path]]);
    for (const path of PATHS) {
      expect([path, await idsOf(path, sale.wallet.slice(1))]).toEqual([path, []]);
      expect([path, await idsOf(path, sale.signature.slice(0, 3))]).toEqual([path, []]);
    }
  });

  it('joins the other filters of the list', async () => {
    expect(await idsOf('payments', 'rosa', undefined, '&status=CONFIRMED&asset=USDC')).toEqual([ids.payments]);
    expect(await idsOf('payments', 'rosa', undefined, '&status=FAILED')).toEqual([]);
    expect(await idsOf('receipts', 'rosa', undefined, `&wallet=${sale.wallet}`)).toEqual([ids.receipts]);
    expect(await idsOf('memberships', 'rosa', undefined, '&status=active')).toEqual([ids.memberships]);
    expect(await idsOf('memberships', 'rosa', undefined, '&status=expired')).toEqual([]);
  });

  it('shows nothing to another merchant or in the other mode', async () => {
    const eve = await w.merchant();
    for (const key of [eve.key, ada.sandboxKey])
      for (const path of PATHS)
        for (const q of Object.values(sale)) expect([path, q, await idsOf(path, q.slice(0, 20), key)]).toEqual([path, q, []]);
  });

  it('refuses an empty text on the list of memberships', async () => {
    const { status, body } = await search('memberships', '');
    expect([status, body.detail[0].loc]).toEqual([422, ['query', 'q']]);
  });
});
