// @module-tag volume
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { sweepAuditChain } from '#features/audit-log/chain.ts';
import { newCtx } from '#platform/context.ts';
import { addMember } from '../../support/people/team.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Body, type Merchant, World } from '../../support/world.ts';

const HISTORIES = 500;
const w = new World();

/** Account with its objects, as the model knows them. */
interface Shop {
  merchant: Merchant;
  viewer: string;
  name: string;
  refused: number;
  product: { id: string; name: string; isArchived: boolean } | null;
  key: { id: string; name: string } | null;
}

const call = (shop: Shop, method: string, path: string, body?: object, headers = {}) =>
  w.call(method, `/v1/${path}`, { key: shop.merchant.token, ...(body && { body }), headers });
const PRODUCT = { name: 'a', price: { asset: 'USDC', amount: '1' } };
const REFUSED_MAX = 100;

/** Acts. Each makes its calls and returns the actions that the log must have, in order. */
const ACTS: Record<string, (shop: Shop, name: string) => Promise<string[]>> = {
  createProduct: async (shop) => {
    const { body } = await call(shop, 'POST', 'products', PRODUCT);
    shop.product = { id: body.product_id, name: 'a', isArchived: false };
    return ['product.created'];
  },
  createTwice: async (shop) => {
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const [{ body }] = [await call(shop, 'POST', 'products', PRODUCT, headers), await call(shop, 'POST', 'products', PRODUCT, headers)];
    shop.product = { id: body.product_id, name: 'a', isArchived: false };
    return ['product.created'];
  },
  renameProduct: async ({ product, ...shop }, name) => {
    if (!product) return [];
    const { status } = await call(shop as Shop, 'PATCH', `products/${product.id}`, { name });
    const isChanged = status === 200 && product.name !== name;
    if (status === 200) product.name = name;
    return isChanged ? ['product.updated'] : [];
  },
  archiveProduct: async ({ product, ...shop }) => {
    if (!product) return [];
    await call(shop as Shop, 'POST', `products/${product.id}/archive`);
    const isChanged = !product.isArchived;
    product.isArchived = true;
    return isChanged ? ['product.archived'] : [];
  },
  unarchiveProduct: async ({ product, ...shop }) => {
    if (!product) return [];
    await call(shop as Shop, 'POST', `products/${product.id}/unarchive`);
    const isChanged = product.isArchived;
    product.isArchived = false;
    return isChanged ? ['product.unarchived'] : [];
  },
  createKey: async (shop) => {
    if (shop.key) return [];
    const { body } = await call(shop, 'POST', 'keys', { name: 'a', sandbox_mode: true });
    shop.key = { id: body.key.id, name: 'a' };
    return ['key.created'];
  },
  renameKey: async ({ key, ...shop }, name) => {
    if (!key) return [];
    await call(shop as Shop, 'PATCH', `keys/${key.id}`, { name });
    const isChanged = key.name !== name;
    key.name = name;
    return isChanged ? ['key.changed'] : [];
  },
  revokeKey: async (shop) => {
    if (!shop.key) return [];
    for (const _ of [1, 2]) await call(shop, 'DELETE', `keys/${shop.key.id}`);
    shop.key = null;
    return ['key.revoked'];
  },
  renameAccount: async (shop, name) => {
    await call(shop, 'PATCH', 'account/me', { display_name: name });
    const isChanged = shop.name !== name;
    shop.name = name;
    return isChanged ? ['account.updated'] : [];
  },
  refusedRole: async (shop) => {
    await w.call('POST', '/v1/products', { key: shop.viewer, body: PRODUCT });
    shop.refused++;
    return shop.refused > REFUSED_MAX ? [] : ['access.refused'];
  },
  invalidBody: async (shop) => {
    expect((await call(shop, 'POST', 'products', { name: '' })).status).toBe(422);
    return [];
  },
  read: async (shop) => {
    await call(shop, 'GET', 'products');
    return [];
  },
};

const readRows = async (shop: Shop) =>
  (await testEnv.DB.prepare('SELECT * FROM audit_entries WHERE merchant_id = ? ORDER BY seq').bind(shop.merchant.userId).all<Body>())
    .results;
/** Fields of each subject by its id, from the entries alone. Each change must begin with what the entries before it left. */
function rebuild(entries: Body[]): Map<string, Body> {
  const subjects = new Map<string, Body>();
  for (const { subject_id, action, outcome, details } of entries) {
    if (outcome === 'refused') continue;
    const { before = {}, after = {} } = JSON.parse(details);
    const known = subjects.get(subject_id) ?? {};
    const left = Object.fromEntries(Object.entries(before).filter(([name]) => name in known));
    expect(known, `${action} of ${subject_id}`).toMatchObject(left);
    subjects.set(subject_id, { ...known, ...after });
  }
  return subjects;
}

const verify = async (shop: Shop) => (await call(shop, 'GET', 'account/audit-log/verify')).body;

describe('histories of acts', () => {
  const shops: Shop[] = [];
  beforeAll(async () => {
    for (let i = 0; i < 4; i++) {
      const merchant = await w.merchant('scale');
      const viewer = (await addMember(w, merchant, 'viewer')).token;
      const { body } = await w.call('GET', '/v1/account/me', { key: merchant.token });
      shops.push({ merchant, viewer, name: body.display_name, refused: 0, product: null, key: null });
    }
  });

  it('each act has one entry, and no entry is without an act', async () => {
    const act = fc.tuple(fc.constantFrom(...Object.keys(ACTS)), fc.constantFrom('a', 'b'));
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 3 }), fc.array(act, { minLength: 1, maxLength: 5 }), async (i, history) => {
        const shop = shops[i]!;
        const before = (await readRows(shop)).length;
        const expected: string[] = [];
        for (const [name, value] of history) expected.push(...(await ACTS[name]!(shop, value)));
        const found = (await readRows(shop)).slice(before);
        expect(
          found.map(({ action }) => action),
          JSON.stringify(history),
        ).toEqual(expected);
      }),
      { numRuns: HISTORIES },
    );
    for (const shop of shops) {
      const seqs = (await readRows(shop)).map(({ seq }) => seq);
      expect(seqs).toEqual(seqs.map((_, n) => n + 1));
      const subjects = rebuild(await readRows(shop));
      const { items } = (await call(shop, 'GET', 'products?per_page=100')).body;
      expect(items.length).toBeGreaterThan(0);
      for (const { product_id, name, status, price } of items)
        expect(subjects.get(product_id), product_id).toMatchObject({ name, status, price });
      const keys: Body[] = (await call(shop, 'GET', 'keys')).body;
      for (const { id, name } of keys.filter((key) => key.revoked_at === null && subjects.has(key.id)))
        expect(subjects.get(id)).toMatchObject({ name });
      expect((await call(shop, 'GET', 'account/me')).body.display_name).toBe(shop.name);
      expect(subjects.get(shop.merchant.userId)?.display_name ?? shop.name).toBe(shop.name);
    }
  }, 180_000);

  it('a change of one byte in any stored entry is found', async () => {
    const ctx = newCtx(w.env, { requestId: 'req_chain', defer: () => {} });
    await sweepAuditChain(ctx);
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: 3 }),
        fc.nat(),
        fc.nat(),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        async (i, row, column, at, flip) => {
          const shop = shops[i]!;
          const rows = await readRows(shop);
          const entry = rows[row % rows.length]!;
          const names = Object.keys(entry).filter((name) => entry[name] !== null && !['merchant_id', 'seq'].includes(name));
          const name = names[column % names.length]!;
          const before = entry[name] as number | string | number[];
          const changed =
            typeof before === 'number'
              ? before + flip
              : typeof before === 'string'
                ? `${before.slice(0, at % before.length)}${String.fromCharCode(0x21 + (flip % 90))}${before.slice((at % before.length) + 1)}`
                : Uint8Array.from(before, (byte, n) => (n === at % before.length ? byte ^ flip : byte));
          if (changed === before) return;
          const set = (value: unknown) =>
            testEnv.DB.prepare(`UPDATE audit_entries SET ${name} = ? WHERE merchant_id = ? AND seq = ?`)
              .bind(Array.isArray(value) ? Uint8Array.from(value) : value, shop.merchant.userId, entry.seq)
              .run();
          await set(changed);
          const found = await verify(shop);
          await set(before);
          expect(found, `${name} of ${entry.seq}`).toMatchObject({ valid: false, broken_at: entry.seq });
        },
      ),
      { numRuns: 300 },
    );
    for (const shop of shops) expect((await verify(shop)).valid).toBe(true);
  }, 120_000);
});
