import { generateKeyPairSigner } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Env } from '#platform/context.ts';
import { RAIL_IDS } from '#rules/product-rails.ts';
import { NETWORKS } from '#solana/assets.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { USDC } from '../../support/chain/chain.ts';
import { walletSignIn } from '../../support/chain/wallet.ts';
import { tokenSignedIn } from '../../support/clients/session.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { feePayerOf, newKey, withConfig } from '../../support/people/agent.ts';
import { type Merchant, World } from '../../support/world.ts';

const X402 = 'x402_solana_usdc';
const MPP = 'mpp_solana_usdc';
const freshWallet = async (): Promise<string> => (await generateKeyPairSigner()).address;

describe('GET /v1/access/rails', () => {
  const w = new World();
  const rails = async (env: Env = w.env) => {
    const { status, body } = await w.call('GET', '/v1/access/rails', { env });
    expect(status).toBe(200);
    return Object.fromEntries(body.items.map((rail: { rail_id: string }) => [rail.rail_id, rail]));
  };

  it('the list is public and has all five rails with their current status', async () => {
    await w.chain.call('local_fundSol', feePayerOf(w), '1000000000');
    const listed = await rails();
    const at = { network: NETWORKS.devnet.caip2 };
    const usdc = { ...at, asset: 'USDC', mint: USDC, decimals: 6, name: expect.any(String) };
    const soon = { status: 'unavailable', reason: 'not_configured', supports: ['automatic'] };
    expect(listed).toEqual({
      solana_usdc: {
        ...usdc,
        rail_id: 'solana_usdc',
        kind: 'checkout',
        status: 'available',
        supports: ['checkout', 'one_off', 'recurring'],
      },
      solana_sol: {
        ...at,
        rail_id: 'solana_sol',
        kind: 'checkout',
        asset: 'SOL',
        decimals: 9,
        name: expect.any(String),
        status: 'available',
        supports: ['checkout', 'one_off', 'recurring'],
      },
      solana_usdc_subscription: { ...usdc, ...soon, rail_id: 'solana_usdc_subscription', kind: 'subscription' },
      x402_solana_usdc: {
        ...usdc,
        rail_id: X402,
        kind: 'x402',
        status: 'available',
        supports: ['pay_per_request', 'one_off', 'recurring'],
      },
      mpp_solana_usdc: {
        ...usdc,
        rail_id: MPP,
        kind: 'mpp',
        status: 'unavailable',
        reason: 'not_configured',
        supports: ['metered'],
      },
    });
  });

  it('the SOL rail is degraded while the SOL price is unknown', async () => {
    expect((await rails(withConfig(w, { PRICE_URL: '' }))).solana_sol).toMatchObject({
      status: 'degraded',
      reason: 'price_source_missing',
    });
    const mute = new World();
    await mute.prices({ answer: 'down' });
    expect((await rails(mute.env)).solana_sol).toMatchObject({ status: 'degraded', reason: 'price_unavailable' });
  });

  it('the x402 rail is not_configured without one of its keys', async () => {
    for (const name of ['FEE_PAYER_KEYS', 'CHALLENGE_KEYS'])
      expect((await rails(withConfig(w, { [name]: '' })))[X402]).toMatchObject({ status: 'unavailable', reason: 'not_configured' });
  });
});

describe('PUT /v1/access/rail-settings/{rail_id}', () => {
  const w = new World();
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });
  interface Options {
    key?: string;
    idempotencyKey?: string;
    env?: Env;
    rail?: string;
  }
  const put = (body: unknown, { key = ada.key, idempotencyKey = newKey(), rail = X402, ...rest }: Options = {}) =>
    w.call('PUT', `/v1/access/rail-settings/${rail}`, { key, body, headers: { 'Idempotency-Key': idempotencyKey }, ...rest });
  const read = async (key = ada.key, rail = X402) =>
    (await w.call('GET', '/v1/access/rail-settings', { key })).body.items.find((item: { rail_id: string }) => item.rail_id === rail);
  const readPayoutEvents = async (who: Merchant) => {
    const sql = "SELECT data, livemode FROM events WHERE merchant_id = ? AND type = 'payout.changed' ORDER BY seq";
    const { results } = await prepareOnEvents(w.env.DB, sql).bind(who.userId).all<{ data: string; livemode: number }>();
    return results.map(({ data }) => [JSON.parse(data).previous?.payout_wallet, JSON.parse(data).object.payout_wallet]);
  };
  const signedInAgo = (who: Merchant, minutes: number) => tokenSignedIn(w, who.userId, minutes);
  const expectSignIn = ({ status, body }: Awaited<ReturnType<typeof put>>) =>
    expect([status, body.code, body.meta?.reason]).toEqual([403, 'invalid_authorization', 'sign_in_required']);

  const UNSET = { payout_wallet: null, payout_ata: null, ata_exists: null, create_ata_transaction: null, updated_at: null };

  it('every rail has default settings until they are set', async () => {
    const bob = await w.merchant();
    const { body } = await w.call('GET', '/v1/access/rail-settings', { key: bob.key });
    expect(body.items.map((item: { rail_id: string }) => item.rail_id)).toEqual([...RAIL_IDS]);
    for (const item of body.items) {
      const origins = item.rail_id === X402 ? { origins: [] } : {};
      expect(item).toEqual({ rail_id: item.rail_id, enabled: true, ...UNSET, ...origins });
    }
  });

  it('a key can set the first wallet of a rail, and changing it requires a fresh sign-in', async () => {
    const bob = await w.merchant();
    const [first, second, third] = [await freshWallet(), await freshWallet(), await freshWallet()];
    const by = { key: bob.key };
    expect((await put({ payout_wallet: first }, by)).body.payout_wallet).toBe(first);
    expectSignIn(await put({ payout_wallet: second }, by));
    expectSignIn(await put({ payout_wallet: second }, { key: await signedInAgo(bob, 16) }));
    expect(await readPayoutEvents(bob)).toEqual([[null, first]]);
    // A request that changes no wallet needs no sign-in.
    expect((await put({ payout_wallet: first, enabled: false }, by)).body).toMatchObject({ enabled: false, payout_wallet: first });
    expect((await put({ enabled: true }, by)).body).toMatchObject({ enabled: true, payout_wallet: first });
    expect((await put({ payout_wallet: second }, { key: await signedInAgo(bob, 14) })).body.payout_wallet).toBe(second);
    expect((await put({ payout_wallet: third }, { key: bob.token })).body.payout_wallet).toBe(third);
    expect(await readPayoutEvents(bob)).toEqual([
      [null, first],
      [first, second],
      [second, third],
    ]);
    expect((await read(bob.key)).payout_wallet).toBe(third);
    // A wallet that was paid before stays known, and null is always allowed.
    for (const free of [first, null]) expect((await put({ payout_wallet: free }, by)).body.payout_wallet).toBe(free);
    expect((await read(bob.key, 'solana_usdc')).payout_wallet).toBeNull();
  });

  it('setting a rail wallet requires a fresh sign-in if payouts used the account wallet', async () => {
    const { body: session } = await walletSignIn(w, await w.chain.wallet(0n));
    const { body: key } = await w.call('POST', '/v1/keys', { key: session.token, body: { name: 'server' } });
    expectSignIn(await put({ payout_wallet: await freshWallet() }, { key: key.raw_key }));
    expect((await put({ payout_wallet: await freshWallet() }, { key: session.token })).status).toBe(200);
  });

  it('a key cannot change the payout through a product of the rail', async () => {
    const bob = await w.merchant();
    await put({ payout_wallet: await freshWallet() }, { key: bob.key });
    const sold = { name: 'Weather', price: { asset: 'USDC', amount: '0.01' }, live_mode_confirmed: true, allowed_rails: [X402] };
    const { body: product } = await w.call('POST', '/v1/products', { key: bob.key, body: sold });
    const path = `/v1/products/${product.product_id}`;
    expectSignIn(await w.call('PATCH', path, { key: bob.key, body: { payout_wallet: await freshWallet() } }));
    expect((await w.call('PATCH', path, { key: bob.token, body: { payout_wallet: await freshWallet() } })).status).toBe(200);
  });

  it('the sandbox setting is separate and changes freely', async () => {
    const bob = await w.merchant();
    const live = await freshWallet();
    await put({ payout_wallet: live }, { key: bob.key });
    for (let i = 0; i < 2; i++) expect((await put({ payout_wallet: await freshWallet() }, { key: bob.sandboxKey })).status).toBe(200);
    expect((await read(bob.key)).payout_wallet).toBe(live);
    const other = await w.merchant();
    expect((await read(other.key)).payout_wallet).toBeNull();
  });

  it.each([
    ['an address no key signs for', async () => associatedTokenAccount(await freshWallet(), USDC), 'invalid_wallet_address'],
    ['no address', async () => 'nonsense', 'invalid_wallet_address'],
    ['a number', async () => 7, 'validation_error'],
  ])('%s is refused as a payout wallet', async (_, wallet, code) => {
    const refused = await put({ payout_wallet: await wallet() });
    expect([refused.status, refused.body.code]).toEqual([422, code]);
    expect(await read()).toEqual({ rail_id: X402, enabled: true, origins: [], ...UNSET });
  });

  it('an unknown rail is 404', async () => {
    for (const rail of ['visa', 'constructor', 'X402_SOLANA_USDC']) expect((await put({}, { rail })).body.code).toBe('not_found');
  });

  it('the SOL rail needs no token account', async () => {
    const bob = await w.merchant();
    const wallet = await freshWallet();
    const { status, body } = await put({ payout_wallet: wallet }, { key: bob.key, rail: 'solana_sol' });
    expect([status, body.payout_wallet, body.ata_exists]).toEqual([200, wallet, null]);
    expect([body.payout_ata, body.create_ata_transaction]).toEqual([null, null]);
  });

  it('a missing USDC account is reported with the transaction that creates it', async () => {
    const bob = await w.merchant();
    const owner = await w.chain.wallet(0n);
    const { body } = await put({ payout_wallet: owner.address }, { key: bob.key });
    expect(body).toMatchObject({ ata_exists: false, payout_ata: await associatedTokenAccount(owner.address, USDC) });
    expect((await read(bob.key)).ata_exists).toBe(false);
    const wire = await w.chain.sign(owner, body.create_ata_transaction);
    await w.chain.call('sendTransaction', wire, { encoding: 'base64' });
    const mended = await read(bob.key);
    expect([mended.ata_exists, mended.create_ata_transaction]).toEqual([true, null]);
  });

  it('the setting is stored with ata_exists null while the node is down', async () => {
    const elsewhere = new World();
    const bob = await elsewhere.merchant();
    await elsewhere.chain.fault({ kind: 'http_503', times: 0 });
    const wallet = await freshWallet();
    const headers = { 'Idempotency-Key': newKey() };
    const { status, body } = await elsewhere.call('PUT', `/v1/access/rail-settings/${X402}`, {
      key: bob.key,
      body: { payout_wallet: wallet },
      headers,
    });
    expect([status, body.payout_wallet, body.ata_exists]).toEqual([200, wallet, null]);
  });

  describe('rail setting under an Idempotency-Key', () => {
    const readRows = async (who: Merchant) =>
      (await w.env.DB.prepare('SELECT version, payout_wallet FROM rail_settings WHERE merchant_id = ?').bind(who.userId).all()).results;

    it('a repeated request is replayed byte for byte, and another body is a conflict', async () => {
      const bob = await w.merchant();
      const [wallet, idempotencyKey] = [await freshWallet(), newKey()];
      const first = await put({ payout_wallet: wallet }, { key: bob.key, idempotencyKey });
      await put({ enabled: false }, { key: bob.key });
      const again = await put({ payout_wallet: wallet }, { key: bob.key, idempotencyKey });
      expect([again.headers.get('Idempotent-Replayed'), JSON.stringify(again.body)]).toEqual(['true', JSON.stringify(first.body)]);
      const other = await put({ payout_wallet: await freshWallet() }, { key: bob.key, idempotencyKey });
      expect([other.status, other.body.code]).toEqual([409, 'idempotency_conflict']);
      expect(await readRows(bob)).toEqual([{ version: 2, payout_wallet: wallet }]);
      // The key is scoped to the path, so it is free for another rail.
      expect((await put({ enabled: false }, { key: bob.key, idempotencyKey, rail: 'solana_usdc' })).status).toBe(200);
    });

    it('a refusal is not stored, and its key works after a fresh sign-in', async () => {
      const bob = await w.merchant();
      await put({ payout_wallet: await freshWallet() }, { key: bob.key });
      const [body, idempotencyKey] = [{ payout_wallet: await freshWallet() }, newKey()];
      expectSignIn(await put(body, { key: bob.key, idempotencyKey }));
      const passed = await put(body, { key: bob.token, idempotencyKey });
      expect([passed.status, passed.headers.has('Idempotent-Replayed')]).toEqual([200, false]);
    });

    it('ten concurrent requests under one key set it once, and ten first wallets leave one', async () => {
      const bob = await w.merchant();
      const [wallet, idempotencyKey] = [await freshWallet(), newKey()];
      const same = await Promise.all(Array.from({ length: 10 }, () => put({ payout_wallet: wallet }, { key: bob.key, idempotencyKey })));
      const passed = same.filter(({ status }) => status === 200);
      expect(passed.length).toBeGreaterThan(0);
      expect(new Set(passed.map(({ body }) => JSON.stringify(body))).size).toBe(1);
      for (const { status, body } of same) if (status !== 200) expect(body.code).toBe('idempotency_race');
      expect(await readRows(bob)).toEqual([{ version: 1, payout_wallet: wallet }]);
      const carl = await w.merchant();
      const wallets = await Promise.all(Array.from({ length: 10 }, freshWallet));
      const rivals = await Promise.all(wallets.map((payout_wallet) => put({ payout_wallet }, { key: carl.key })));
      const won = rivals.filter(({ status }) => status === 200);
      expect(won).toHaveLength(1);
      for (const { status, body } of rivals)
        if (status !== 200) expect([status, body.code, body.meta.reason]).toEqual([403, 'invalid_authorization', 'sign_in_required']);
      expect(await readRows(carl)).toEqual([{ version: 1, payout_wallet: won[0]!.body.payout_wallet }]);
      expect(await readPayoutEvents(carl)).toHaveLength(1);
    });

    it.each(['before', 'after'] as const)('a database failure %s any trip leaves one setting and one event', async (when) => {
      const probe = await w.merchant();
      const counted = withFaults(w.env);
      await put({ payout_wallet: await freshWallet() }, { key: probe.key, env: counted.env });
      expect(counted.trips.length).toBeGreaterThan(1);
      for (let cut = 1; cut <= counted.trips.length; cut++) {
        const bob = await w.merchant();
        const [wallet, idempotencyKey] = [await freshWallet(), newKey()];
        await w.call('GET', '/v1/account/me', { key: bob.key });
        const { env } = withFaults(w.env, { [when]: ({ number }: { number: number }) => number === cut });
        expect([200, 503]).toContain((await put({ payout_wallet: wallet }, { key: bob.key, idempotencyKey, env })).status);
        expect((await put({ payout_wallet: wallet }, { key: bob.key, idempotencyKey })).status).toBe(200);
        expect(await readRows(bob)).toEqual([{ version: 1, payout_wallet: wallet }]);
        expect(await readPayoutEvents(bob)).toHaveLength(1);
      }
    });
  });
});
