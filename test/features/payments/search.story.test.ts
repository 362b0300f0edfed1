import { beforeAll, describe, expect, it } from 'vitest';
import { type Merchant, World } from '../../support/world.ts';

interface Sale {
  payment: string;
  receipt: string;
  signature: string;
  wallet: string;
  email: string;
}

const EMAIL = 'Rosalind.Franklin@example.com';

describe('search of payments, receipts and memberships', () => {
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
  const readIds = async (path: Path, q: string, key?: string | null, more?: string): Promise<string[]> => {
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

  it.each(['signature', 'wallet', 'email'] as const)('four leading characters of the %s find a sale in all three lists', async (name) => {
    for (const path of PATHS)
      for (const length of [4, 11, sale[name].length])
        expect([path, length, await readIds(path, sale[name].slice(0, length))]).toEqual([path, length, [ids[path]]]);
  });

  it.each(['payment', 'receipt'] as const)('the beginning of the %s id finds a sale in all three lists', async (name) => {
    for (const path of PATHS) {
      for (const q of [sale[name].slice(0, 18), sale[name], sale[name].toUpperCase()])
        expect([path, q, await readIds(path, q)]).toEqual([path, q, [ids[path]]]);
      for (const length of [4, 8, 9, 12, 13, 14]) expect(await readIds(path, sale[name].slice(0, length))).toContain(ids[path]);
    }
  });

  it('full-text search serves queries that match no prefix or are shorter than four characters', async () => {
    for (const path of PATHS) expect([path, (await readIds(path, 'crystallography')).length]).toEqual([path, 2]);
    for (const path of ['payments', 'memberships'] as const) expect(await readIds(path, 'o-5')).toEqual([ids[path]]);
    for (const path of PATHS) {
      expect([path, await readIds(path, sale.wallet.slice(1))]).toEqual([path, []]);
      expect([path, await readIds(path, sale.signature.slice(0, 3))]).toEqual([path, []]);
    }
  });

  it('search combines with the other filters of the list', async () => {
    expect(await readIds('payments', 'rosa', undefined, '&status=CONFIRMED&asset=USDC')).toEqual([ids.payments]);
    expect(await readIds('payments', 'rosa', undefined, '&status=FAILED')).toEqual([]);
    expect(await readIds('receipts', 'rosa', undefined, `&wallet=${sale.wallet}`)).toEqual([ids.receipts]);
    expect(await readIds('memberships', 'rosa', undefined, '&status=active')).toEqual([ids.memberships]);
    expect(await readIds('memberships', 'rosa', undefined, '&status=expired')).toEqual([]);
  });

  it('search finds nothing for another merchant or in the other mode', async () => {
    const eve = await w.merchant();
    for (const key of [eve.key, ada.sandboxKey])
      for (const path of PATHS)
        for (const q of Object.values(sale)) expect([path, q, await readIds(path, q.slice(0, 20), key)]).toEqual([path, q, []]);
  });

  it('an empty query on the list of memberships is 422', async () => {
    const { status, body } = await search('memberships', '');
    expect([status, body.detail[0].loc]).toEqual([422, ['query', 'q']]);
  });
});
