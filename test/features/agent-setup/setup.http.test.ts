import { describe, expect, it } from 'vitest';
import { MANIFEST_EXAMPLE } from '#features/agent-setup/manifest/schema.ts';
import { NETWORKS } from '#solana/assets.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { routes } from '../../contract/spec-routes.ts';
import { findOperation, validate } from '../../support/clients/call.ts';
import { BOOTSTRAP, goodManifest, Setup } from '../../support/people/bootstrap.ts';
import { testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

const w = new World();

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;
const actions = (body: Body): string[] => body.next_actions.map(({ action }: { action: string }) => action);

function expectUsable(body: Body): void {
  expect(body.next_actions.length).toBeGreaterThan(0);
  for (const { method, path, body: suggested, headers } of body.next_actions) {
    const isNamed = routes.some(
      (route) => route.method === method && new RegExp(`^${route.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(path),
    );
    expect(isNamed, `${method} ${path}`).toBe(true);
    const operation = findOperation(method, path)?.operation as Body;
    const schema = operation?.requestBody?.content['application/json']?.schema;
    if (schema) expect(validate(schema, suggested ?? {}), `${method} ${path}`).toEqual([]);
    const isIdempotent = routes.some((route) => route.idempotent && route.path.replace(/\{\w+\}$/, '') === path.replace(/[^/]+$/, ''));
    if (isIdempotent) expect(headers['Idempotency-Key']).toBeDefined();
  }
}

describe('POST /v1/access/agent-bootstrap', () => {
  it('a setup creates a free account with a sandbox key and shows both secrets once', async () => {
    const { status, body, headers } = await w.call('POST', BOOTSTRAP, {
      body: { agent_name: ' Weather agent ', operator_contact: 'ops@example.com', intended_use: 'Forecasts', plan: 'growth' },
    });
    expect([status, body.status, body.agent_name, body.plan, body.active_plan]).toEqual([
      201,
      'created',
      'Weather agent',
      'growth',
      'free',
    ]);
    expect(headers.get('Cache-Control')).toBe('no-store');
    expect(body.setup_secret).toMatch(new RegExp(`^svc_setup_${body.setup_intent_id.replaceAll('-', '')}_[\\w-]{43}$`));
    expect(body.sandbox_api_key).toMatch(/^svc_test_[0-9A-Za-z]{38}$/);
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(86_400_000);
    expectUsable(body);
    expect(actions(body)).toEqual(['submit_manifest', 'activate_plan', 'try_sandbox']);
    const me = await w.call('GET', '/v1/account/me', { key: body.sandbox_api_key });
    expect(me.body).toMatchObject({
      user_id: body.account_id,
      key_id: body.sandbox_key_id,
      sandbox: true,
      tier: 'free',
      email: null,
      wallet_address: null,
      display_name: 'Weather agent',
      has_password: false,
    });
    const setup = new Setup(w, body);
    const again = await setup.call('status');
    const { setup_secret: _secret, sandbox_api_key: _key, ...rest } = body;
    expect(again.body).toEqual(rest);
    const stored = JSON.stringify([await setup.row(), (await testEnv.DB.prepare('SELECT * FROM api_keys').all()).results]);
    for (const secret of [body.setup_secret.slice(-43), body.sandbox_api_key.slice(13)]) expect(stored).not.toContain(secret);
  });

  it('the sandbox key can read and execute, and cannot access live mode', async () => {
    const { created } = await Setup.create(w);
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const product = { name: 'Trial', price: { asset: 'USDC', amount: '0.01' } };
    const made = await w.call('POST', '/v1/access/products', { key: created.sandbox_api_key, body: product, headers });
    expect([made.status, made.body.livemode]).toEqual([201, false]);
    const live = await w.call('GET', '/v1/products?mode=live', { key: created.sandbox_api_key });
    expect([live.status, live.body.meta.reason]).toEqual([403, 'mode']);
    expect((await w.call('POST', '/v1/keys', { key: created.sandbox_api_key, body: { name: 'k' } })).status).toBe(403);
  });

  it.each<[string, unknown]>([
    ['no name', {}],
    ['an empty name', { agent_name: ' ' }],
    ['a name of 121 characters', { agent_name: 'x'.repeat(121) }],
    ['a plan that does not exist', { agent_name: 'x', plan: 'enterprise' }],
    ['a list', []],
  ])('a setup with %s is refused with 422', async (_what, body) => {
    const answer = await w.call('POST', BOOTSTRAP, { body });
    expect([answer.status, answer.body.code]).toEqual([422, 'validation_error']);
  });

  it('one address can start ten setups an hour', async () => {
    const env = { ...w.env, RATE_MULTIPLIER: '1' };
    const call = (address: string) => w.call('POST', BOOTSTRAP, { body: {}, env, headers: { 'CF-Connecting-IP': address } });
    for (let i = 0; i < 10; i++) expect((await call('203.0.113.7')).status).toBe(422);
    const refused = await call('203.0.113.7');
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(60);
    expect((await call('203.0.113.8')).status).toBe(422);
  });

  it('browsers of any origin can call every step', async () => {
    const headers = {
      Origin: 'https://agent.example',
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'Content-Type',
    };
    const { id } = await Setup.create(w);
    for (const path of [BOOTSTRAP, `${BOOTSTRAP}/${id}/status`, `${BOOTSTRAP}/${id}/manifest`, `${BOOTSTRAP}/${id}/approve`]) {
      const { status, headers: answered } = await w.call('OPTIONS', path, { headers });
      expect([path, status, answered.get('Access-Control-Allow-Origin')]).toEqual([path, 204, '*']);
      expect(answered.get('Access-Control-Allow-Credentials')).toBeNull();
    }
  });
});

describe('setup manifest', () => {
  it('a manifest with errors gets findings and actions, and is ready once they are fixed', async () => {
    const setup = await Setup.create(w);
    const refused = await setup.call('manifest', await goodManifest(w, { requested_permissions: ['admin'], contact_email: undefined }));
    expect([refused.status, refused.body.status]).toEqual([200, 'changes_required']);
    const codes = refused.body.evaluation.findings.map(({ code }: { code: string }) => code);
    expect(codes).toEqual(expect.arrayContaining(['permission_unavailable', 'live_needs_contact']));
    expect(actions(refused.body)[0]).toBe('fix_manifest');
    expectUsable(refused.body);
    const mended = await setup.call('manifest', await goodManifest(w));
    expect([mended.body.status, mended.body.evaluation]).toEqual(['ready', { score: 100, findings: [] }]);
    expect(mended.body.spend_limits.per_payment).toEqual({ asset: 'USDC', amount: '50', base_units: '50000000' });
    expect(actions(mended.body)).toEqual(['activate_plan', 'activate_plan', 'activate_plan', 'approve', 'try_sandbox']);
    expectUsable(mended.body);
    expect((await setup.call('status')).body).toEqual(mended.body);
    const back = await setup.call('manifest', await goodManifest(w, { requested_permissions: [] }));
    expect(back.body.status).toBe('changes_required');
  });

  it('a price in SOL is accepted only for products that no resource uses, because x402 takes USDC', async () => {
    const setup = await Setup.create(w);
    const tip = { name: 'Tip', price: { asset: 'SOL', amount: '1' } };
    const good = await goodManifest(w);
    const judge = async (over: object) =>
      (await setup.call('manifest', { ...good, products: [...MANIFEST_EXAMPLE.products, tip], ...over })).body;
    const withTip = await judge({});
    expect([withTip.status, withTip.evaluation.findings.map(({ code }: { code: string }) => code)]).toEqual(['ready', ['product_unused']]);
    const paid = await judge({ resources: [{ ...MANIFEST_EXAMPLE.resources[0], product_ref: 'Tip' }] });
    expect(paid.evaluation.findings).toContainEqual(
      expect.objectContaining({
        code: 'product_asset_unavailable',
        path: 'products[1].price.asset',
        suggestion: expect.stringContaining('USDC'),
      }),
    );
    expect(paid.status).toBe('changes_required');
  });

  it('an unreadable spend limit leaves the previous one in force, an omitted one removes it', async () => {
    const setup = await Setup.create(w);
    const submitLimits = async (spend_limits: unknown) => (await setup.call('manifest', await goodManifest(w, { spend_limits }))).body;
    const usdc = (amount: string) => ({ asset: 'USDC', amount });
    await submitLimits({ per_payment: usdc('20'), per_day: usdc('40') });
    const garbled = await submitLimits({ per_payment: usdc('1e9'), per_day: { asset: 'SOL', amount: '1' } });
    expect([garbled.status, garbled.spend_limits.per_payment.amount, garbled.spend_limits.per_day.amount]).toEqual([
      'changes_required',
      '20',
      '40',
    ]);
    const row = await setup.row();
    expect([row.spend_per_payment, row.spend_per_day]).toEqual(['20000000', '40000000']);
    expect((await submitLimits({ per_day: usdc('60') })).spend_limits).toEqual({
      per_day: { asset: 'USDC', amount: '60', base_units: '60000000' },
    });
  });

  it('a manifest that is sent twice is stored once', async () => {
    const setup = await Setup.create(w);
    const manifest = await goodManifest(w);
    const first = await setup.call('manifest', manifest);
    const second = await setup.call('manifest', manifest);
    expect(second.body).toEqual(first.body);
    expect((await setup.row()).version).toBe(2);
  });

  it('a payout wallet that is a token account is reported', async () => {
    const setup = await Setup.create(w);
    const owner = await w.chain.wallet(1n);
    const ata = await associatedTokenAccount(owner.address, NETWORKS.devnet.usdcMint);
    const { body } = await setup.call('manifest', await goodManifest(w, { payout: { rail_id: 'solana_usdc', wallet_address: ata } }));
    expect(body.evaluation.findings.map(({ code }: { code: string }) => code)).toEqual(['payout_wallet_token_account']);
  });

  it.each<[string, Record<string, unknown>, (string | number)[]]>([
    ['another version', { manifest_version: '2' }, ['body', 'manifest_version']],
    ['no name', { name: undefined }, ['body', 'name']],
    [
      'a number for a price',
      { products: [{ name: 'x', price: { asset: 'USDC', amount: 5 } }] },
      ['body', 'products', 0, 'price', 'amount'],
    ],
    ['101 resources', { resources: Array.from({ length: 101 }, () => ({})) }, ['body', 'resources']],
  ])('a manifest with %s is refused with 422 and the location', async (_what, over, loc) => {
    const setup = await Setup.create(w);
    const { status, body } = await setup.call('manifest', await goodManifest(w, over));
    expect([status, body.code]).toEqual([422, 'validation_error']);
    expect(body.detail.map((problem: { loc: unknown }) => problem.loc)).toContainEqual(loc);
    expect((await setup.row()).status).toBe('created');
  });

  it.each<[string, Record<string, unknown>, string[], string]>([
    ['a field nobody knows', { spend_limit: {} }, ['body', 'spend_limit'], 'spend_limits'],
    ['a misspelt limit', { spend_limits: { perday: {} } }, ['body', 'spend_limits', 'perday'], 'per_day'],
  ])('a manifest with %s is refused, and the answer names the nearest field', async (_what, over, loc, nearest) => {
    const setup = await Setup.create(w);
    const { status, body } = await setup.call('manifest', await goodManifest(w, over));
    expect([status, body.code, body.detail.map((one: { loc: unknown }) => one.loc)]).toEqual([422, 'unknown_field', [loc]]);
    expect(body.detail[0].ctx).toEqual({ nearest });
    expect((await setup.row()).status).toBe('created');
  });
});
