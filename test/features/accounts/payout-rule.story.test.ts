import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { GIVEN_ROLES, hasRole } from '#rules/access/roles.ts';
import { walletSignIn } from '../../support/chain/wallet.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { decoded, newKey, write } from '../../support/people/agent.ts';
import { goodManifest, Setup } from '../../support/people/bootstrap.ts';
import { addMember } from '../../support/people/team.ts';
import { type Merchant, World } from '../../support/world.ts';

const RAILS = ['solana_usdc', 'solana_sol', 'x402_solana_usdc'];
const NAMES = ['main', 'spare'];

/** Call with a leaked key. `eve` is a wallet that was never configured, `vault` the configured one. */
type Step =
  | { kind: 'create'; group: string; terms: Record<string, unknown> }
  | { kind: 'change'; which: number; terms: Record<string, unknown> }
  | { kind: 'rail'; railId: string; terms: Record<string, unknown> }
  | { kind: 'shelve'; which: number; verb: 'archive' | 'unarchive' };

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const wallet = fc.constantFrom<string | null>('eve', 'vault', null);
const terms = {
  price: maybe(fc.constantFrom({ asset: 'USDC', amount: '1' }, { asset: 'SOL', amount: '0.5' })),
  accepted_assets: maybe(fc.constantFrom(['USDC'], ['USDC', 'SOL'])),
  allowed_rails: maybe(fc.subarray(RAILS, { minLength: 1 })),
};
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('create' as const),
    group: fc.constantFrom('/v1/products', '/v1/access/products'),
    terms: fc.record({ ...terms, payout_wallet: maybe(fc.constantFrom('eve', 'vault')), external_product_id: fc.constantFrom(...NAMES) }),
  }),
  fc.record({
    kind: fc.constant('change' as const),
    which: fc.nat(2),
    terms: fc.record({
      ...terms,
      payout_wallet: maybe(fc.constantFrom('eve', 'vault')),
      external_product_id: maybe(fc.constantFrom(...NAMES, null)),
    }),
  }),
  fc.record({
    kind: fc.constant('rail' as const),
    railId: fc.constantFrom(...RAILS),
    terms: fc.record({ payout_wallet: maybe(wallet), enabled: fc.constant(true) }),
  }),
  fc.record({ kind: fc.constant('shelve' as const), which: fc.nat(2), verb: fc.constantFrom('archive' as const, 'unarchive' as const) }),
);

describe('payout wallet rule against a leaked key', () => {
  const w = new World();
  let eve: string;
  beforeAll(async () => {
    eve = (await w.chain.wallet(0n)).address;
  });

  /** Returns every payee that the merchant's server and the buyers see, over all rails and names. */
  async function payees(ada: Merchant): Promise<string[]> {
    const { body } = await w.call('GET', '/v1/products?per_page=100', { key: ada.key });
    const reported: string[] = [];
    for (const { slug, product_id } of body.items) {
      for (const asset of ['USDC', 'SOL']) {
        const begun = await w.call('POST', `/v1/products/p/${slug}/connect`, { body: { asset } });
        if (begun.status === 200) reported.push(begun.body.recipient);
      }
      reported.push(...(await challenged(ada, { product_id })));
    }
    for (const external_product_id of NAMES) {
      reported.push(...(await challenged(ada, { external_product_id })));
      const session = await write(w, ada, 'payment-sessions', { external_product_id });
      if (session.status !== 201) continue;
      const { slug } = body.items.find((item: { product_id: string }) => item.product_id === session.body.product_id);
      const { payment_session_id } = session.body;
      const begun = await w.call('POST', `/v1/products/p/${slug}/connect`, { body: { payment_session_id } });
      if (begun.status === 200) reported.push(begun.body.recipient);
    }
    return reported;
  }
  async function challenged(ada: Merchant, named: object): Promise<string[]> {
    const denied = await write(w, ada, 'entitlements/consume', { ...named, customer: { customer_ref: 'buyer' } });
    const header = denied.headers.get('PAYMENT-REQUIRED');
    return header ? [decoded(header).accepts[0].payTo] : [];
  }

  async function take(ada: Merchant, next: Step): Promise<void> {
    const spell = (value: object) =>
      JSON.parse(JSON.stringify(value).replaceAll('"eve"', `"${eve}"`).replaceAll('"vault"', `"${ada.wallet.address}"`));
    const options = { key: ada.key, headers: { 'Idempotency-Key': newKey() } };
    if (next.kind === 'rail') {
      await w.call('PUT', `/v1/access/rail-settings/${next.railId}`, { ...options, body: spell(next.terms) });
    } else if (next.kind === 'create') {
      const body = { name: 'Copy', price: { asset: 'USDC', amount: '1' }, live_mode_confirmed: true, ...spell(next.terms) };
      await w.call('POST', next.group, { ...options, body });
    } else {
      const { items } = (await w.call('GET', '/v1/products', { key: ada.key })).body;
      const path = `/v1/products/${items[next.which % items.length].product_id}`;
      if (next.kind === 'shelve') await w.call('POST', `${path}/${next.verb}`, { key: ada.key });
      else await w.call('PATCH', path, { key: ada.key, body: spell(next.terms) });
    }
  }

  it.each([
    ['a rail', 'rail'],
    ['a product', 'product'],
  ])('no sequence of calls with a key redirects payouts set on %s or gives the product’s name to another', async (_, paid) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        const ada = await w.merchant();
        const setting = { payout_wallet: ada.wallet.address };
        if (paid === 'rail')
          await w.call('PUT', '/v1/access/rail-settings/solana_usdc', {
            key: ada.key,
            body: setting,
            headers: { 'Idempotency-Key': newKey() },
          });
        const own = paid === 'rail' ? { payout_wallet: undefined } : setting;
        const product = await w.product(ada, { ...own, external_product_id: 'main', live_mode_confirmed: true });
        for (const next of steps) await take(ada, next);
        for (const payee of await payees(ada)) expect(payee).toBe(ada.wallet.address);
        const still = await w.call('GET', `/v1/products/${product.product_id}`, { key: ada.key });
        expect(still.body.external_product_id).toBe('main');
      }),
      { numRuns: 8, endOnFailure: true },
    );
  });

  it.each(['/v1/products', '/v1/access/products'])(
    'a live product retains its external id, and no other product replaces it with its own payee (%s)',
    async (group) => {
      const ada = await w.merchant();
      const product = await w.product(ada, { external_product_id: 'main', live_mode_confirmed: true });
      const path = `/v1/products/${product.product_id}`;
      const signIn = [403, 'sign_in_required'];
      for (const external_product_id of [null, 'spare']) {
        const { status, body } = await w.call('PATCH', path, { key: ada.key, body: { external_product_id } });
        expect([status, body.meta?.reason]).toEqual(signIn);
      }
      const copy = { name: 'Copy', price: { asset: 'USDC', amount: '1' }, external_product_id: 'copy', payout_wallet: eve };
      const post = (key: string, body: object) => w.call('POST', group, { key, body, headers: { 'Idempotency-Key': newKey() } });
      const refused = await post(ada.key, copy);
      expect([refused.status, refused.body.meta?.reason]).toEqual(signIn);
      // A key may set a known wallet on any product, and a fresh sign-in may set any wallet.
      expect((await post(ada.key, { ...copy, payout_wallet: ada.wallet.address })).status).toBe(201);
      expect((await post(ada.token, { ...copy, external_product_id: 'third' })).status).toBe(201);
      expect((await post(ada.key, { ...copy, external_product_id: 'fourth' })).status).toBe(201);
      const sql = "SELECT data FROM events WHERE merchant_id = ? AND type = 'payout.changed' ORDER BY seq";
      const { results } = await prepareOnEvents(w.env.DB, sql).bind(ada.userId).all<{ data: string }>();
      expect(results.map(({ data }) => [JSON.parse(data).object.payout_wallet, JSON.parse(data).object.by])).toEqual([
        [ada.wallet.address, 'person'],
        [ada.wallet.address, 'key'],
        [eve, 'person'],
        [eve, 'key'],
      ]);
    },
  );

  it('ten concurrent first wallets: one is stored, the others are refused with 403', async () => {
    const ada = await w.merchant();
    const wallets = await Promise.all(Array.from({ length: 10 }, async () => (await w.chain.wallet(0n)).address));
    const answers = await Promise.all(
      wallets.map((payout_wallet, index) => {
        const options = { key: ada.key, headers: { 'Idempotency-Key': newKey() } };
        const product = { name: 'First', price: { asset: 'USDC', amount: '1' }, payout_wallet };
        if (index % 3 === 0) return w.call('PUT', `/v1/access/rail-settings/${RAILS[index % 2]}`, { ...options, body: { payout_wallet } });
        return w.call('POST', index % 3 === 1 ? '/v1/products' : '/v1/access/products', { ...options, body: product });
      }),
    );
    const won = answers.filter(({ status }) => status < 300);
    expect(won).toHaveLength(1);
    for (const { status, body } of answers) if (status >= 300) expect([status, body.meta?.reason]).toEqual([403, 'sign_in_required']);
  });

  it('clearing every wallet does not make the next one a first wallet again', async () => {
    const ada = await w.merchant();
    const put = (payout_wallet: string | null) =>
      w.call('PUT', '/v1/access/rail-settings/solana_usdc', {
        key: ada.key,
        body: { payout_wallet },
        headers: { 'Idempotency-Key': newKey() },
      });
    for (const free of [ada.wallet.address, null, ada.wallet.address, null]) expect((await put(free)).status).toBe(200);
    expect((await put(eve)).status).toBe(403);
  });

  it('the sign-in wallet counts as the first payout wallet, and payout.changed reports it', async () => {
    const owner = await w.chain.wallet(0n);
    const { body: session } = await walletSignIn(w, owner);
    const { body: key } = await w.call('POST', '/v1/keys', { key: session.token, body: { name: 'server' } });
    const events = (await w.call('GET', '/v1/integrations/events', { key: key.raw_key })).body.items;
    expect(events.map(({ type, subject, data }: Record<string, Record<string, unknown>>) => [type, subject!.type, data!.object])).toEqual([
      ['payout.changed', 'account', { payout_wallet: owner.address, by: 'person' }],
    ]);
    const product = { name: 'Weather', price: { asset: 'USDC', amount: '1' }, payout_wallet: eve };
    expect((await w.call('POST', '/v1/products', { key: key.raw_key, body: product })).status).toBe(403);
    expect((await w.call('POST', '/v1/products', { key: session.token, body: product })).status).toBe(201);
  });

  it('a manifest that names a new wallet for an account with a payout wallet is sent back', async () => {
    const setup = await Setup.create(w);
    const reported = async (): Promise<string[]> => {
      const { body } = await setup.call('manifest', await goodManifest(w));
      return body.evaluation.findings.map(({ code }: { code: string }) => code);
    };
    expect(await reported()).not.toContain('payout_needs_sign_in');
    const sql = 'INSERT INTO payout_wallets SELECT account_id, ?, 0, NULL FROM setup_intents WHERE id = ?';
    await w.env.DB.prepare(sql).bind(eve, setup.id).run();
    expect(await reported()).toContain('payout_needs_sign_in');
  });
});

describe('payout wallet of a product', () => {
  const w = new World();
  let ada: Merchant;
  let product: { product_id: string };
  let other: string;
  beforeAll(async () => {
    ada = await w.merchant();
    product = await w.product(ada);
    other = (await w.chain.wallet()).address;
  });
  const set = (key: string, payout_wallet: string | null) =>
    w.call('PATCH', `/v1/products/${product.product_id}`, { key, body: { payout_wallet, name: 'Renamed' } });
  const create = (key: string, payout_wallet: string) => {
    const body = { name: 'New', price: { asset: 'USDC', amount: '1' }, payout_wallet };
    return w.call('POST', '/v1/products', { key, body, headers: { 'Idempotency-Key': crypto.randomUUID() } });
  };

  it.each(GIVEN_ROLES.filter((role) => hasRole(role, 'products:write')))(
    'the role %s sets it if it may set payout wallets',
    async (role) => {
      const { token } = await addMember(w, ada, role);
      const isAllowed = hasRole(role, 'payouts:write');
      const refused = [403, { reason: 'role', role, needs: ['owner', 'admin'] }];
      for (const { status, body } of [await create(token, other), await set(token, other), await set(token, null)])
        expect(status < 300 ? 'done' : [status, body.meta]).toEqual(isAllowed ? 'done' : refused);
      expect((await set(ada.token, ada.wallet.address)).body.payout_wallet).toBe(ada.wallet.address);
    },
  );

  it('a key with scopes sets it if `payouts:write` is among them', async () => {
    const scoped = async (...scopes: string[]): Promise<string> =>
      (await w.call('POST', '/v1/keys', { key: ada.token, body: { name: 'scoped', scopes } })).body.raw_key;
    const key = await scoped('products:write');
    for (const { status, body } of [await create(key, ada.wallet.address), await set(key, null)])
      expect([status, body.meta]).toEqual([403, { reason: 'scope', needs: 'payouts:write' }]);
    expect((await create(await scoped('products:write', 'payouts:write'), ada.wallet.address)).status).toBe(201);
  });
});
