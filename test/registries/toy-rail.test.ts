import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { RailRow } from '#rules/rails.ts';
import { readyToBePaid, withConfig } from '../support/people/agent.ts';
import { checkOf, openSession, readiness } from '../support/people/sale.ts';
import { type Merchant, World } from '../support/world.ts';

// Loads the service again with the added row, because it was loaded before this file.
const TOY = vi.hoisted(() => {
  vi.resetModules();
  return 'toy_usdc';
});
// Two lines that a sixth rail needs apart from its file: its row and its registry line.
vi.mock('#rules/rails.ts', async (original) => {
  const rails = await original<typeof import('#rules/rails.ts')>();
  const row = {
    name: 'USDC by toy',
    kind: 'toy',
    asset: 'USDC',
    supports: ['one_off'],
    needs: ['CHALLENGE_KEYS'],
    pricing: 'exact',
    needsRate: false,
    showsIdentity: false,
    needsLiveModeConfirmed: true,
    takesFee: false,
  } satisfies RailRow;
  return { ...rails, RAILS: { ...rails.RAILS, [TOY]: row } };
});
vi.mock('#features/rails/registry.ts', async (original) => {
  const [{ getRail }, { toyRail }] = await Promise.all([original<typeof import('#features/rails/registry.ts')>(), import('./toy-rail.ts')]);
  return { getRail: (railId: string) => (railId === TOY ? toyRail : getRail(railId as Parameters<typeof getRail>[0])) };
});

describe('sixth rail: one row, one file and one registry line', () => {
  const w = new World();
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
    await readyToBePaid(w, ada);
  });

  const listed = async (path: string, env = w.env) => {
    const { body } = await w.call('GET', path, { key: ada.key, env });
    return body.items.find(({ rail_id }: { rail_id: string }) => rail_id === TOY);
  };
  const over = (product: { product_id: string }) => listed(`/v1/access/products/${product.product_id}/available-rails`);
  const sold = (terms: Record<string, unknown> = {}) => w.product(ada, { allowed_rails: [TOY], live_mode_confirmed: true, ...terms });

  it('the public list of rails shows its row and the status from its file', async () => {
    const row = { rail_id: TOY, name: 'USDC by toy', kind: 'toy', asset: 'USDC', decimals: 6, supports: ['one_off'] };
    expect(await listed('/v1/access/rails')).toMatchObject({ ...row, status: 'available' });
    const mute = new World();
    await mute.chain.fault({ kind: 'http_503', times: 0 });
    expect(await listed('/v1/access/rails', mute.env)).toMatchObject({ status: 'degraded', reason: 'rpc_unavailable' });
    const discovered = (await w.call('GET', '/.well-known/x402')).body.rails.map(({ rail_id }: { rail_id: string }) => rail_id);
    expect(discovered).toContain(TOY);
  });

  it('the rail is unavailable and sells nothing without the configuration that its row needs', async () => {
    const without = withConfig(w, { CHALLENGE_KEYS: '' });
    expect(await listed('/v1/access/rails', without)).toMatchObject({ status: 'unavailable', reason: 'not_configured' });
    const terms = { name: 'Weather', price: { asset: 'USDC', amount: '5' }, allowed_rails: [TOY] };
    const refused = await w.call('POST', '/v1/products', { key: ada.token, body: terms, env: without });
    expect([refused.status, refused.body.detail[0].type]).toEqual([422, 'rail_unavailable']);
  });

  it('the rail has a setting of its own, which the merchant can switch', async () => {
    const unset = { rail_id: TOY, enabled: true, payout_wallet: null, updated_at: null };
    expect(await listed('/v1/access/rail-settings')).toMatchObject(unset);
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const path = `/v1/access/rail-settings/${TOY}`;
    expect((await w.call('PUT', path, { key: ada.key, body: { enabled: false }, headers })).body.enabled).toBe(false);
    expect(await over(await sold())).toMatchObject({ status: 'unavailable', reason: 'rail_enabled', fix: { method: 'PUT', path } });
    const again = { 'Idempotency-Key': crypto.randomUUID() };
    await w.call('PUT', path, { key: ada.key, body: { enabled: true }, headers: again });
  });

  it('the rail sells products that name it and all suitable ones, and readiness checks it', async () => {
    const product = await sold();
    expect([product.allowed_rails, product.default_rail]).toEqual([[TOY], TOY]);
    expect(await over(product)).toMatchObject({ status: 'available' });
    const answer = await readiness(w, ada, `product_id=${product.product_id}`);
    expect(answer).toMatchObject({ ready: true, blocking: [] });
    expect(checkOf(answer, 'rail_enabled').message).toContain(TOY);
    expect((await w.product(ada)).allowed_rails).toContain(TOY);
  });

  it('an unsupported price asset, identity requirement or unconfirmed live mode is refused with its fix', async () => {
    const asked = await w.product(ada, { requires_identity: 'telegram' });
    expect(asked.allowed_rails).not.toContain(TOY);
    expect(await over(asked)).toMatchObject({ reason: 'rail_enabled', fix: { body: { requires_identity: null } } });
    const inSol = await w.product(ada, { price: { asset: 'SOL', amount: '1' } });
    expect(inSol.allowed_rails).not.toContain(TOY);
    expect(await over(inSol)).toMatchObject({ reason: 'price_set', fix: { detail: `${TOY} requires a price in USDC. Change the price.` } });
    const hasty = await sold({ live_mode_confirmed: false });
    expect(await over(hasty)).toMatchObject({ reason: 'live_mode_confirmed' });
    expect((await readiness(w, ada, `product_id=${hasty.product_id}`)).blocking).toEqual(['live_mode_confirmed']);
  });

  it('the rail reports the result of its own probe and its own price warning', async () => {
    const bare = await sold({ payout_wallet: (await w.chain.wallet(0n)).address });
    expect(await over(bare)).toMatchObject({ status: 'unavailable', reason: 'payout_ata_exists' });
    expect((await readiness(w, ada, `product_id=${bare.product_id}`)).blocking).toEqual(['payout_ata_exists']);
    const dear = await sold({ price: { asset: 'USDC', amount: '11' } });
    const check = checkOf(await readiness(w, ada, `product_id=${dear.product_id}`), 'price_set');
    expect(check).toMatchObject({ status: 'warn', message: 'More than 10 USDC is much for a toy.' });
  });

  it('the rail is no rail of the hosted checkout: a payment session over it is refused', async () => {
    const product = await sold();
    const { status } = await openSession(w, ada, { product_id: product.product_id, rail_id: TOY });
    expect(status).toBe(422);
    const offer = (await w.call('GET', `/v1/products/p/${product.slug}`)).body;
    expect(offer.accepted_assets).toEqual([]);
  });
});
