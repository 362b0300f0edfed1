import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluateManifest, isAcceptable, type ManifestFacts } from '#features/agent-setup/manifest/evaluate.ts';
import { FINDINGS, type FindingCode } from '#features/agent-setup/manifest/findings.ts';
import { MANIFEST_EXAMPLE, ManifestBody } from '#features/agent-setup/manifest/schema.ts';
import { spendLimitsOf } from '#features/agent-setup/manifest/spend-limits.ts';
import { servedRails } from '#rules/product-rails.ts';
import { NETWORKS, TOKEN_PROGRAM } from '#solana/assets.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';

const SERVICE_WALLET = '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV';
const PROGRAM_ADDRESS = await associatedTokenAccount(SERVICE_WALLET, NETWORKS.devnet.usdcMint);

const FACTS: ManifestFacts = {
  target: { ownHosts: ['svc.test'], allowLoopback: false },
  availableRails: servedRails({ FEE_PAYER_KEYS: 'set', CHALLENGE_KEYS: 'set' }),
  ownWallets: [SERVICE_WALLET],
  payoutAccount: null,
  payoutNeedsSignIn: false,
  plan: 'starter',
};

const accountOf = (owner: string, bytes: number) => ({ owner, executable: false, data: new Uint8Array(bytes) });

type Over = Record<string, unknown>;
const [product] = MANIFEST_EXAMPLE.products;
const [resource] = MANIFEST_EXAMPLE.resources;
const [webhook] = MANIFEST_EXAMPLE.webhooks;
const usdc = (amount: string) => ({ asset: 'USDC', amount });
const manifestWith = (over: Over) => ManifestBody.parse({ ...MANIFEST_EXAMPLE, ...over });
const payTo = (wallet_address: string, rail_id = 'x402_solana_usdc') => ({ payout: { rail_id, wallet_address } });
const wallet = MANIFEST_EXAMPLE.payout.wallet_address;

const CASES: [FindingCode, string, Over, Partial<ManifestFacts>?][] = [
  ['homepage_url_refused', 'homepage_url', { homepage_url: 'http://weather.example.com' }],
  ['homepage_url_refused', 'homepage_url', { homepage_url: 'https://127.0.0.1' }],
  ['contact_email_invalid', 'contact_email', { contact_email: 'ops at weather' }],
  ['resource_url_refused', 'resources[0].url', { resources: [{ ...resource, url: 'http://api.weather.example.com' }] }],
  ['resource_url_refused', 'resources[0].url', { resources: [{ ...resource, url: 'https://10.0.0.1/x' }] }],
  ['resource_url_refused', 'resources[0].url', { resources: [{ ...resource, url: 'https://svc.test/v1' }] }],
  ['resource_url_refused', 'resources[1].url', { resources: [resource, { ...resource, url: 'https://u:p@a.example.com' }] }],
  ['resource_method_unknown', 'resources[0].method', { resources: [{ ...resource, method: 'FETCH' }] }],
  ['resource_product_unknown', 'resources[0].product_ref', { resources: [{ ...resource, product_ref: 'nothing' }] }],
  [
    'resource_product_ambiguous',
    'resources[0].product_ref',
    {
      products: [
        { name: 'Same', price: usdc('1') },
        { name: 'Same', price: usdc('2') },
      ],
      resources: [{ ...resource, product_ref: 'Same' }],
    },
  ],
  ['resource_units_invalid', 'resources[0].units', { resources: [{ ...resource, units: 0 }] }],
  ['resource_units_invalid', 'resources[0].units', { resources: [{ ...resource, units: 1.5 }] }],
  ['product_duplicate', 'products[1].external_product_id', { products: [product, { ...product, name: 'Other' }] }],
  ['product_price_invalid', 'products[0].price', { products: [{ ...product, price: usdc('0') }] }],
  ['product_price_invalid', 'products[0].price', { products: [{ ...product, price: usdc('-1') }] }],
  ['product_price_invalid', 'products[0].price', { products: [{ ...product, price: usdc('0.0000001') }] }],
  ['product_price_invalid', 'products[0].price', { products: [{ ...product, price: { asset: 'DOGE', amount: '1' } }] }],
  ...[
    ['0.009', '0.01'],
    ['0', '0.01'],
    ['1.5', '2'],
  ].map(([amount, price]): [FindingCode, string, Over] => [
    'product_payer_limit_invalid',
    'products[0].max_per_payer_per_day',
    { products: [{ ...product, price: usdc(price!), max_per_payer_per_day: usdc(amount!) }] },
  ]),
  [
    'product_payer_limit_invalid',
    'products[0].max_per_payer_per_day',
    { products: [{ ...product, max_per_payer_per_day: { asset: 'SOL', amount: '5' } }] },
  ],
  ['product_asset_unavailable', 'products[0].price.asset', { products: [{ ...product, price: { asset: 'SOL', amount: '1' } }] }],
  ['product_asset_unavailable', 'products[0].price.asset', {}, { availableRails: servedRails({}) }],
  ['payout_rail_unknown', 'payout.rail_id', payTo(wallet, 'paypal')],
  ['payout_rail_unavailable', 'payout.rail_id', payTo(wallet, 'mpp_solana_usdc')],
  ['payout_rail_unavailable', 'payout.rail_id', payTo(wallet), { availableRails: ['solana_usdc'] }],
  ['payout_wallet_invalid', 'payout.wallet_address', payTo('0x52908400098527886E0F7030069857D2E4169EE7')],
  ['payout_wallet_off_curve', 'payout.wallet_address', payTo(PROGRAM_ADDRESS)],
  ['payout_wallet_token_account', 'payout.wallet_address', payTo(wallet), { payoutAccount: accountOf(TOKEN_PROGRAM, 165) }],
  [
    'payout_wallet_of_program',
    'payout.wallet_address',
    payTo(wallet),
    { payoutAccount: accountOf('Vote111111111111111111111111111111111111111', 9) },
  ],
  ['payout_needs_sign_in', 'payout.wallet_address', payTo(wallet), { payoutNeedsSignIn: true }],
  ['payout_wallet_reserved', 'payout.wallet_address', payTo(TOKEN_PROGRAM)],
  ['payout_wallet_reserved', 'payout.wallet_address', payTo(NETWORKS.mainnet.usdcMint)],
  ['payout_wallet_reserved', 'payout.wallet_address', payTo(SERVICE_WALLET)],
  ['webhook_url_refused', 'webhooks[0].url', { webhooks: [{ ...webhook, url: 'https://hooks.internal/x' }] }],
  ['webhook_event_type_unknown', 'webhooks[0].event_types[1]', { webhooks: [{ ...webhook, event_types: ['*', 'payment.paid'] }] }],
  ['permission_unavailable', 'requested_permissions[1]', { requested_permissions: ['execute', 'admin'] }],
  ['permissions_missing', 'requested_permissions', { requested_permissions: [] }],
  ['spend_limit_invalid', 'spend_limits.per_day.amount', { spend_limits: { per_day: usdc('a lot') } }],
  ['spend_limit_asset', 'spend_limits.per_payment.asset', { spend_limits: { per_payment: { asset: 'SOL', amount: '1' } } }],
  ['live_needs_payout', 'payout', { payout: undefined }],
  ['live_needs_products', 'products', { products: [] }],
  ['live_needs_contact', 'contact_email', { contact_email: undefined }],
  ['spend_limit_contradiction', 'spend_limits', { spend_limits: { per_payment: usdc('30'), per_day: usdc('20') } }],
  ['spend_limit_below_plan', 'spend_limits.per_payment', { spend_limits: { per_payment: usdc('18.999999') } }],
  ['spend_limit_below_plan', 'spend_limits.per_day', { spend_limits: { per_day: usdc('48') } }, { plan: 'growth' }],
  ['too_many_products', 'products', { products: ['a', 'b', 'c', 'd'].map((name) => ({ name, price: usdc('1') })) }, { plan: 'free' }],
  [
    'too_many_webhooks',
    'webhooks',
    { webhooks: ['a', 'b', 'c'].map((x) => ({ ...webhook, url: `https://${x}.example.com` })) },
    { plan: 'free' },
  ],
  ['resource_duplicate', 'resources[1]', { resources: [resource, { ...resource, method: 'get' }] }],
  ['resource_units_exceed_product', 'resources[0].units', { resources: [{ ...resource, units: 2 }] }],
  ['webhook_duplicate', 'webhooks[1]', { webhooks: [webhook, webhook] }],
  ['permission_too_narrow', 'requested_permissions', { requested_permissions: ['read'] }],
  ['resources_missing', 'resources', { resources: [] }],
  ['contact_missing', 'contact_email', { contact_email: undefined, live_requested: false }],
  ['contact_domain_differs', 'contact_email', { contact_email: 'ops@elsewhere.example.org' }],
  ['description_missing', 'description', { description: ' ' }],
  ['product_unused', 'products[1]', { products: [product, { name: 'Unused', price: usdc('1') }] }],
  ['spend_limits_missing', 'spend_limits', { spend_limits: {} }],
  ['webhooks_missing', 'webhooks', { webhooks: [] }],
];

describe('evaluateManifest', () => {
  it('the published example has no findings', () => {
    expect(evaluateManifest(manifestWith({}), FACTS)).toEqual({ score: 100, findings: [] });
  });

  it.each(CASES)('finding %s is reported at %s', (code, path, over, facts = {}) => {
    const { findings, score } = evaluateManifest(manifestWith(over), { ...FACTS, ...facts });
    const found = findings.find((finding) => finding.code === code);
    expect(found, JSON.stringify(findings)).toMatchObject({ path, severity: FINDINGS[code].severity });
    expect(found!.message.startsWith(FINDINGS[code].message)).toBe(true);
    expect(found!.suggestion).not.toBe('');
    expect(score).toBeLessThan(100);
    expect(isAcceptable({ score, findings })).toBe(findings.every(({ severity }) => severity !== 'error'));
  });

  it('a price that only the checkout takes is allowed, unless a resource is sold with it', () => {
    const tip = { name: 'Tip', price: { asset: 'SOL', amount: '1' } };
    const codes = (over: Over) => evaluateManifest(manifestWith(over), FACTS).findings.map(({ code }) => code);
    expect(codes({ products: [product, tip] })).toEqual(['product_unused']);
    expect(codes({ products: [product, tip], resources: [resource, { ...resource, method: 'POST', product_ref: 'Tip' }] })).toEqual([
      'product_asset_unavailable',
    ]);
  });

  it('every finding code has a case', () => {
    expect(new Set(CASES.map(([code]) => code))).toEqual(new Set(Object.keys(FINDINGS)));
  });

  it('a manifest without live mode passes without the requirements of live mode', () => {
    const plain = manifestWith({ live_requested: false, payout: undefined, products: [], resources: [], webhooks: [] });
    expect(isAcceptable(evaluateManifest(plain, FACTS))).toBe(true);
  });

  it('spend limits are read exactly, and unreadable ones are left out', () => {
    const limits = (spend_limits: Over) => spendLimitsOf(manifestWith({ spend_limits }));
    expect(limits({ per_payment: usdc('12.5') })).toEqual({ perPayment: 12_500_000n, perDay: null });
    expect(limits({ per_payment: usdc('1e3'), per_day: { asset: 'SOL', amount: '1' } })).toEqual({});
  });

  it('any manifest is evaluated without throwing, reproducibly, with a score of 0 to 100', () => {
    const text = (max: number) =>
      fc.oneof(fc.string({ maxLength: max }), fc.constantFrom('x', 'https://a.example.com', '*', 'USDC', 'SOL', '1', wallet));
    const amount = fc.record({ asset: text(16), amount: text(64) });
    const arbitrary = fc.record(
      {
        manifest_version: fc.constant('1'),
        name: fc.constant('x'),
        description: text(100),
        homepage_url: text(100).filter((url) => url.length > 0),
        contact_email: text(100),
        resources: fc.array(
          fc.record({
            method: text(16),
            url: text(100),
            product_ref: text(20),
            units: fc.double({ noNaN: true, noDefaultInfinity: true }),
          }),
          { maxLength: 4 },
        ),
        products: fc.array(fc.record({ external_product_id: text(20), name: text(20), price: amount }), { maxLength: 4 }),
        payout: fc.record({ rail_id: text(64), wallet_address: text(64) }),
        webhooks: fc.array(fc.record({ url: text(100), event_types: fc.array(text(80), { minLength: 1, maxLength: 3 }) }), {
          maxLength: 4,
        }),
        requested_permissions: fc.array(text(40), { maxLength: 4 }),
        spend_limits: fc.record({ per_payment: amount, per_day: amount }, { requiredKeys: [] }),
        live_requested: fc.boolean(),
      },
      { requiredKeys: ['manifest_version', 'name'] },
    );
    let seen = 0;
    fc.assert(
      fc.property(arbitrary, (written) => {
        const parsed = ManifestBody.safeParse(written);
        if (!parsed.success) return;
        seen++;
        const once = evaluateManifest(parsed.data, FACTS);
        expect(evaluateManifest(structuredClone(parsed.data), FACTS)).toEqual(once);
        expect(once.score).toBeGreaterThanOrEqual(0);
        expect(once.score).toBeLessThanOrEqual(100);
        for (const { code, path } of once.findings) {
          expect(Object.keys(FINDINGS)).toContain(code);
          expect(path).toMatch(/^[a-z_]+(?:\[\d+\])?(?:\.[a-z_]+(?:\[\d+\])?)*$/);
        }
      }),
      { numRuns: 300 },
    );
    expect(seen).toBeGreaterThan(50);
  });
});
