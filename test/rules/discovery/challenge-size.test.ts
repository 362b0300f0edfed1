import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base64 } from '#core/encoding.ts';
import { makeChallenge } from '#features/settlements/challenge.ts';
import { readConfig } from '#platform/config.ts';
import { describeCall } from '../../../worker/protocols/x402/bazaar.ts';
import { type Discovery, ROUTE_BYTES_MAX, type Route } from '../../../worker/protocols/x402/discovery.ts';
import { checkDiscovery } from '../../../worker/protocols/x402/discovery-check.ts';
import { parsePaymentRequired, parsePaymentSignature, type ResourceInfo } from '../../../worker/protocols/x402/wire.ts';
import { testConfig } from '../../support/runner/env.ts';

const HEADER_MAX = 6_600;
const LINE_MAX = 8_192;
const WALLET = 'Av7QWv6RRdrFxbb9GXWM1g8Gut59feSWcr9tRBia7xZa';
const config = readConfig({ ...testConfig('any'), BASE_URL: 'https://svc.example', SERVICE_REFERENCE: WALLET }).config!;
const sold = {
  livemode: true,
  merchantId: '01900000-0000-7000-8000-000000000000',
  productId: '01900000-0000-7000-8000-000000000001',
  amount: '1000000000000000',
  payTo: WALLET,
  quantity: 1_000_000,
  units: 1_000_000,
  days: 36_600,
};
/** Has the length of the extension for a URL of 80 characters. */
const signIn = { info: { statement: 'a'.repeat(1_250) } };
const LONG_ERROR = 'invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction_too_high';

const challenge = (resource: ResourceInfo, bazaar: Record<string, unknown> | null, error?: string) =>
  makeChallenge({ config, now: Date.now() }, sold, resource, { error, bazaar: bazaar as never, signIn });

/** Longest header that a client makes of a challenge: all of its echo, the largest transaction and an identifier. */
function longestPayment(header: string): string {
  const required = parsePaymentRequired(header)!;
  const identifier = required.extensions!['payment-identifier'] as { info: object };
  const extensions = {
    ...required.extensions,
    'payment-identifier': { ...identifier, info: { ...identifier.info, id: 'a'.repeat(128) } },
  };
  const transaction = 'A'.repeat(1_100);
  const payload = { x402Version: 2, payload: { transaction }, resource: required.resource, accepted: required.accepts[0], extensions };
  return base64.encode(new TextEncoder().encode(JSON.stringify(payload)));
}

/** Fills a route to the byte. */
function filled(route: Route): Route {
  const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length;
  const left = ROUTE_BYTES_MAX - bytesOf({ ...route, output_example: '' });
  return { ...route, output_example: 'x'.repeat(Math.max(0, left)) };
}

const name = fc.string({ unit: fc.constantFrom('a', 'b', '_'), minLength: 1, maxLength: 40 });
const example = fc.dictionary(name, fc.string({ maxLength: 60 }), { maxKeys: 8 });
const shown = (values: Record<string, string>) => ({
  type: 'object',
  properties: Object.fromEntries(Object.keys(values).map((key) => [key, { type: 'string', description: key }])),
});
const route = fc.oneof(
  example.map(
    (query): Route => ({ method: 'GET', path: '/a/:id', mime_type: 'application/json', query: shown(query), example: { query } }),
  ),
  fc.tuple(example, fc.constantFrom('json' as const, 'text' as const)).map(
    ([body, type]): Route => ({
      method: 'POST',
      path: '/a/:id',
      mime_type: 'a/b',
      body: shown(body),
      body_type: type,
      example: { body },
    }),
  ),
  example.map(
    (values): Route => ({ tool_name: 'tool', path: '/mcp', summary: 'é'.repeat(200), input_schema: shown(values), example: values }),
  ),
);
const discovery = fc.tuple(route, fc.boolean(), fc.integer({ min: 1, max: 240 })).map(
  ([made, isFilled, length]): Discovery => ({
    listed: true,
    service_name: '"'.repeat(32),
    tags: ['a', 'b', 'c', 'd', 'e'].map((char) => char + '\\'.repeat(31)),
    icon_url: `https://a.example/${'i'.repeat(length - 1)}`.slice(0, 256),
    routes: [isFilled ? filled(made) : made],
  }),
);
const text = (maxLength: number) =>
  fc.oneof(
    fc.string({ unit: fc.constantFrom('a', '"', '\\', '\u0001', 'é', '€', '😀'), maxLength }),
    fc.constantFrom('\u0001', '"', '€', 'a').map((char) => char.repeat(maxLength)),
  );
const url = fc.oneof(
  text(2_020).map((path) => `https://shop.example/a/${path}`.slice(0, 2_048)),
  text(2_000).map((query) => `https://shop.example/a/b?${query}`.slice(0, 2_048)),
  text(2_000).map((host) => `mcp://${host.replace(/[^a€]/gu, 'b')}/`.slice(0, 2_048)),
  fc.constant('https://shop.example/a/b'),
);
const request = fc.record({ url, description: text(500), mime: fc.oneof(fc.constant('application/json'), text(100)) });

describe('makeChallenge', () => {
  it('a challenge of any product and resource stays within 6,600 characters, and its payment within 8,192', async () => {
    const leftOut = new Set<string>();
    await fc.assert(
      fc.asyncProperty(discovery, request, async (stored, asked) => {
        fc.pre(checkDiscovery(stored).length === 0);
        const [made] = stored.routes;
        const call = 'tool_name' in made! ? { toolName: made.tool_name } : { method: made!.method };
        const described = await describeCall({ url: asked.url, ...call }, stored);
        const resource = { ...described!.resource, description: asked.description, mimeType: asked.mime, url: asked.url };
        const { header } = challenge(resource, described!.bazaar as never);
        const refused = challenge(resource, described!.bazaar as never, LONG_ERROR);
        for (const each of [header, refused.header]) {
          expect(each.length).toBeLessThanOrEqual(HEADER_MAX);
          const payment = longestPayment(each);
          expect(payment.length).toBeLessThanOrEqual(LINE_MAX);
          expect(parsePaymentSignature(payment).ok).toBe(true);
        }
        const partsOf = (value: string) => {
          const { resource: shown, extensions } = parsePaymentRequired(value)!;
          const { bazaar } = extensions as { bazaar?: { info: object } };
          return [Object.keys(shown), shown.url, Object.keys(extensions!), Object.keys(bazaar?.info ?? {})];
        };
        expect(partsOf(refused.header)).toEqual(partsOf(header));
        leftOut.add(JSON.stringify(partsOf(header)[2]));
      }),
      { numRuns: 400 },
    );
    // The samples need every step.
    expect([...leftOut].sort()).toEqual([
      '["bazaar","sign-in-with-x","payment-identifier","offer-receipt"]',
      '["bazaar","sign-in-with-x","payment-identifier"]',
      '["payment-identifier"]',
      '["sign-in-with-x","payment-identifier"]',
    ]);
  }, 60_000);

  const search = (days: string): Route => ({
    method: 'GET',
    path: '/a/:id',
    mime_type: 'application/json',
    path_params: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    query: { type: 'object', properties: { days: { type: 'string' } } },
    example: { path_params: { id: 'b' }, query: { days } },
  });
  const shop: Discovery = {
    listed: true,
    service_name: 'Weather',
    icon_url: `https://a.example/${'i'.repeat(200)}`,
    routes: [filled({ method: 'GET', path: '/a/:id', mime_type: 'application/json', query: { type: 'object' } })],
  };
  const partsWith = async (length: number) => {
    const resource = { url: `https://shop.example/a/${'x'.repeat(length)}` };
    const described = await describeCall({ ...resource, method: 'GET' }, shop);
    const { required } = challenge({ ...described!.resource, ...resource }, described!.bazaar as never);
    const bazaar = required.extensions!.bazaar as { info: object; schema: { properties: object } } | undefined;
    return {
      output: bazaar !== undefined && 'output' in bazaar.info && 'output' in bazaar.schema.properties,
      iconUrl: required.resource.iconUrl !== undefined,
      offers: 'offer-receipt' in required.extensions!,
      bazaar: bazaar !== undefined,
      signIn: 'sign-in-with-x' in required.extensions!,
    };
  };

  it('a challenge has every part if they fit', async () => {
    const { bazaar } = (await describeCall({ url: 'https://shop.example/b', method: 'GET' }, shop))!;
    const { required } = challenge({ url: 'https://shop.example/b', iconUrl: shop.icon_url! }, bazaar as never);
    expect(Object.keys(required.extensions!)).toEqual(['bazaar', 'sign-in-with-x', 'payment-identifier', 'offer-receipt']);
    expect(required.resource.iconUrl).toBe(shop.icon_url);
  });

  it('a usual challenge has every part: a route of 800 bytes, a URL of 80 characters', async () => {
    const url = `https://api.shop.example/a/${'x'.repeat(53)}`;
    const usual: Route = { ...search(''), output_example: '' };
    const made: Route = { ...usual, output_example: 'x'.repeat(800 - JSON.stringify(usual).length) };
    expect([url.length, JSON.stringify(made).length]).toEqual([80, 800]);
    const described = (await describeCall({ url, method: 'GET' }, { ...shop, icon_url: 'https://a.example/icon.png', routes: [made] }))!;
    const { required, header } = challenge({ ...described.resource, url }, described.bazaar as never);
    expect(Object.keys(required.extensions!)).toEqual(['bazaar', 'sign-in-with-x', 'payment-identifier', 'offer-receipt']);
    expect(required.extensions!.bazaar).toEqual(described.bazaar);
    expect(header.length).toBeLessThanOrEqual(HEADER_MAX);
  });

  it('a challenge leaves parts out in one order as the URL grows', async () => {
    const seen: number[] = [];
    for (let length = 1; length < 2_000; length += 20) {
      const { output, iconUrl, offers, bazaar, signIn: hasSignIn } = await partsWith(length);
      const flags = [output, iconUrl, offers, bazaar, hasSignIn];
      const count = flags.filter((isLeft) => !isLeft).length;
      expect(flags).toEqual(flags.map((_, index) => index >= count));
      seen.push(count);
    }
    expect(seen).toEqual(seen.toSorted());
    expect(new Set(seen).size).toBeGreaterThan(3);
  });

  it('a challenge shortens a description and URL that JSON multiplies', () => {
    const of = (resource: ResourceInfo) => challenge(resource, null).required.resource;
    const control = '\u0001';
    expect(of({ url: 'https://s.example/a', description: control.repeat(500) }).description).toBe(control.repeat(500));
    const query = `https://s.example/a?${'€'.repeat(2_000)}`;
    expect(of({ url: query, description: 'd' })).toEqual({ url: 'https://s.example/a' });
    expect(of({ url: `https://s.example/${'€'.repeat(2_000)}` }).url).toBe('https://s.example/');
    expect(of({ url: `mcp://${'€'.repeat(2_000)}/a` }).url).toBe('mcp:');
  });
});
