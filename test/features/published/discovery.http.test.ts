import { describe, expect, it } from 'vitest';
import { PAID_PLANS, PLANS } from '#rules/plans.ts';
import { NETWORKS } from '#solana/assets.ts';
import { operationsOf } from '../../../worker/published/discovery.ts';
import { JOURNEYS } from '../../../worker/published/site/journeys.ts';
import { builtRoutes, nameOf, operations } from '../../contract/spec-routes.ts';
import { openTreasury } from '../../support/people/activation.ts';
import { decoded } from '../../support/people/agent.ts';
import { BOOTSTRAP, Setup } from '../../support/people/bootstrap.ts';
import { World } from '../../support/world.ts';

const w = new World();

describe('x-payment-info', async () => {
  const { body: document } = await w.call('GET', '/v1/openapi.json');
  const priced = operationsOf(document).filter(({ operation }) => operation['x-payment-info']);

  it('x-payment-info is on every operation that may answer 402 and on no other', () => {
    const paid = [...operations].filter(([, { responses }]) => responses['402']).map(([name]) => name);
    expect(paid.length).toBeGreaterThanOrEqual(3);
    expect(priced.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(paid.sort());
  });

  it('x-payment-info has the price of every paid plan, which x402 pays', () => {
    for (const plan of PAID_PLANS) {
      const found = priced.find(({ path }) => path === `/v1/access/x402/activate/${plan}`);
      expect(found?.operation['x-payment-info']).toEqual({
        price: { mode: 'fixed', currency: 'USD', amount: PLANS[plan].priceUsdc },
        protocols: [{ x402: {} }],
      });
    }
  });

  it('x-payment-info of a metered session names MPP and the mint of its network', () => {
    const found = priced.find(({ operation }) => operation.operationId === 'authorizeMeteredSession');
    const offer = { method: 'solana', intent: 'session', currency: NETWORKS.devnet.usdcMint };
    expect(found?.operation['x-payment-info']).toEqual({
      price: { mode: 'dynamic', currency: 'USD' },
      protocols: [{ mpp: offer }],
      offers: [{ ...offer, amount: null }],
    });
  });

  it('x-service-info names what the service is for and where its documents are', async () => {
    expect(document['x-service-info'].categories).toEqual(['payments', 'access']);
    for (const path of Object.values<string>(document['x-service-info'].docs))
      expect([path, (await w.call('GET', path)).status]).toEqual([path, 200]);
  });
});

describe('/.well-known/x402', () => {
  it('each listed resource has the terms of its 402', async () => {
    const { status, body, headers } = await w.call('GET', '/.well-known/x402', { headers: { Origin: 'https://anywhere.example' } });
    expect([status, body.x402Version]).toEqual([200, 2]);
    expect(headers.get('Cache-Control')).toBe('public, max-age=300');
    expect(headers.get('Access-Control-Allow-Origin')).toBe('*');
    expect(body.resources).toHaveLength(PAID_PLANS.length);
    await openTreasury(w);
    const setup = await Setup.create(w);
    for (const { resource, method, accepts } of body.resources) {
      const { pathname, origin } = new URL(resource);
      expect(origin).toBe('https://svc.test');
      const asked = await w.call(method, pathname, { headers: { 'X-Svc-Setup-Secret': setup.secret } });
      expect([pathname, asked.status]).toEqual([pathname, 402]);
      const required = decoded(asked.headers.get('PAYMENT-REQUIRED')!);
      const { memo, ...extra } = required.accepts[0].extra;
      expect(memo).toMatch(/^svc:/);
      expect(accepts).toEqual([{ ...required.accepts[0], extra }]);
    }
  });

  it('listed documents, rails and facilitator exist and can be used', async () => {
    const { body } = await w.call('GET', '/.well-known/x402');
    for (const url of Object.values<string>(body.docs)) expect((await w.call('GET', new URL(url).pathname)).status).toBe(200);
    const { body: rails } = await w.call('GET', '/v1/access/rails');
    const isUsable = ({ supports, reason }: { supports: string[]; reason?: string }) => supports.length > 0 && reason !== 'not_configured';
    const usable = rails.items.filter(isUsable);
    expect(body.rails).toEqual(
      usable.map(({ rail_id, name, asset, network }: Record<string, string>) => ({ rail_id, name, asset, network })),
    );
    const supported = await w.call('GET', `${new URL(body.facilitator.url).pathname}/supported`);
    expect(supported.body.kinds.map(({ network, scheme }: Record<string, string>) => [network, scheme])).toEqual([
      [body.facilitator.networks[0], body.facilitator.schemes[0]],
    ]);
    expect([body.start.method, new URL(body.start.url).pathname]).toEqual(['POST', BOOTSTRAP]);
  });

  it('resources that cannot be paid are not listed', async () => {
    const without = async (settings: Record<string, string>) => (await new World(settings).call('GET', '/.well-known/x402')).body;
    expect((await without({ TREASURY_WALLET: '' })).resources).toEqual([]);
    const bare = await without({ FEE_PAYER_KEYS: '' });
    expect([bare.resources, bare.facilitator, bare.rails.map(({ rail_id }: { rail_id: string }) => rail_id)]).toEqual([
      [],
      undefined,
      ['solana_usdc', 'solana_sol'],
    ]);
  });
});

describe('/llms.txt', () => {
  const read = async (): Promise<string> => (await w.call<string>('GET', '/llms.txt')).body;

  it('/llms.txt is plain text, cached and open to every origin', async () => {
    const { status, headers, body } = await w.call<string>('GET', '/llms.txt', { headers: { Origin: 'https://anywhere.example' } });
    expect([status, headers.get('Content-Type')?.toLowerCase().replace(' ', '')]).toEqual([200, 'text/plain;charset=utf-8']);
    expect([headers.get('Cache-Control'), headers.get('Access-Control-Allow-Origin')]).toEqual(['public, max-age=300', '*']);
    const [title, empty, quote] = body.split('\n');
    expect([/^# \S/.test(title!), empty, /^> \S/.test(quote!)]).toEqual([true, '', true]);
  });

  it('/llms.txt is short and names only existing operations with a link to each page', async () => {
    const text = await read();
    const [guides = ''] = /## Guides\n[\s\S]*?(?=\n## )/.exec(text) ?? [];
    expect(text.length - guides.length).toBeLessThan(14_000);
    const links = guides.split('\n').filter((line) => line.startsWith('- '));
    expect(links.length).toBeGreaterThan(30);
    expect(guides.length / links.length).toBeLessThan(100);
    const named = [...text.matchAll(/\[((?:GET|POST|PUT|PATCH|DELETE) \/\S+)\]\(([^)]+)\)/g)];
    const built = builtRoutes.filter(({ documented }) => documented).map(nameOf);
    expect(named.length).toBeGreaterThan(20);
    for (const [, call, link] of named) {
      expect(built).toContain(call);
      expect(new URL(link!).pathname).toBe(`/v1/docs/${operations.get(call!)!.operationId}.md`);
    }
  });

  it('/llms.txt has a flow with the same command for each guide of /docs', async () => {
    const text = await read();
    for (const { title, calls, command } of JOURNEYS) {
      expect(text).toContain(`## ${title}\n`);
      expect(text).toContain(command);
      for (const call of calls) expect(text).toContain(`[${call}](`);
    }
  });

  it('/llms-full.txt has every operation', async () => {
    const { status, headers, body: text } = await w.call<string>('GET', '/llms-full.txt');
    expect([status, headers.get('Content-Type')?.toLowerCase().replace(' ', '')]).toEqual([200, 'text/plain;charset=utf-8']);
    for (const { method, path, documented } of builtRoutes) if (documented) expect(text).toContain(`\n\`${method} ${path}\`\n`);
    expect(text.startsWith(await read())).toBe(true);
  });

  it.each([...operations].map(([name, { operationId }]) => [name, operationId]))(
    'the Markdown page of %s is complete',
    async (name, id) => {
      const { status, headers, body: text } = await w.call<string>('GET', `/v1/docs/${id}.md`);
      expect([status, headers.get('Content-Type')]).toEqual([200, 'text/markdown; charset=utf-8']);
      expect(text).toContain(`\`${name}\``);
      expect(text).toMatch(/^# \S.*\n/);
      expect(text).toMatch(/curl -sS --fail-with-body/);
      expect(text).not.toMatch(/undefined|\[object Object\]/);
      for (const [, body] of text.matchAll(/^ {2}-d '(.+)'$/gm)) JSON.parse(body!);
    },
  );

  it('Markdown pages give the type, values and length of fields, and lookups with their query', async () => {
    const of = async (id: string) => (await w.call<string>('GET', `/v1/docs/${id}.md`)).body;
    const create = await of('createProduct');
    expect(create).toMatch(/^- `name` \(string, [\d a-z]*to \d+ characters\): \S/m);
    expect(create).toMatch(/^- `renewal_mode` \(`\w+` or `\w+`/m);
    expect(await of('lookupMembership')).toMatch(/curl [^\n]*memberships\/lookup\?\w+=[^' ]+'/);
  });

  it('the Markdown page of an unknown operation is 404', async () => {
    expect((await w.call('GET', '/v1/docs/nothing.md')).status).toBe(404);
  });

  it('/llms.txt states how to start, what plans cost and how a client pays them', async () => {
    const text = await read();
    expect(text.indexOf(`[POST ${BOOTSTRAP}]`)).toBeLessThan(text.indexOf('## Plans'));
    for (const plan of PAID_PLANS) {
      expect(text).toContain(`- ${plan}: ${PLANS[plan].priceUsdc} USDC`);
      expect(text).toContain(`setSpendControls({ maxAmountPerPayment: '$${PLANS[plan].priceUsdc}' })`);
    }
    for (const term of ['Idempotency-Key', 'docs_url', 'protect()', 'retryable', 'https://svc.test/v1/openapi.json', 'next_actions'])
      expect(text).toContain(term);
  });
});
