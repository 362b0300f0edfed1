import { describe, expect, it } from 'vitest';
import { CALLS_MAX } from '#core/isolate/budget.ts';
import { BODY_KB, IDEMPOTENCY_KEY, OWN_NAME_MAX, PER_PAGE, TIMELINE } from '#core/limits.ts';
import { ADDRESS_CEILINGS, PLAN_DAYS, PLAN_NAMES, PLANS, PUBLIC_BUCKETS, type PublicBucket } from '#rules/plans.ts';
import { openApi } from '../support/clients/call.ts';
import { operations, rowsUnder } from './spec-routes.ts';

const deploy = Object.values(
  import.meta.glob<string>('../../docs/operations/deploy.md', { query: '?raw', import: 'default', eager: true }),
)[0]!;
const wrangler = Object.values(import.meta.glob<string>('../../wrangler.toml', { query: '?raw', import: 'default', eager: true }))[0]!;
const nodesNamed = import.meta.glob<string>(['../../package.json', '../../sdk/package.json', '../../README.md', '../../sdk/README.md'], {
  query: '?raw',
  import: 'default',
  eager: true,
});
describe('Node version', () => {
  it.each(['../../', '../../sdk/'])('package.json and README of %s name the same Node version', (folder) => {
    const named = ['package.json', 'README.md'].map((name) => /(?:"node": ">=|Node )(\d+(?:\.\d+)?)/.exec(nodesNamed[folder + name]!)?.[1]);
    expect(named[0]).toMatch(/^22/);
    expect(named[1]).toBe(named[0]);
  });
});

describe('published limits', () => {
  it('wrangler.toml sets the enforced number of subrequests', () => {
    expect(wrangler).toMatch(new RegExp(`\\[limits\\]\nsubrequests = ${CALLS_MAX}\n`));
  });

  it('x-limits of the OpenAPI document contains the enforced plan and bucket values', () => {
    const { plans, public_buckets, address_ceilings, ...rest } = (
      openApi as unknown as { 'x-limits': Record<string, Record<string, object>> }
    )['x-limits'];
    expect(Object.entries(plans!).map(([plan, row]) => [plan, ...Object.values(row)])).toEqual(
      PLAN_NAMES.map((plan) => {
        const { priceUsdc, activeKeysMax, activeProductsMax, openSessionsMax, enabledEndpointsMax, ...rates } = PLANS[plan];
        const { requestsPerMinute, meteredPerSecond, feesPerDay } = rates;
        const products = Number.isFinite(activeProductsMax) ? activeProductsMax : null;
        const quotas = [activeKeysMax, products, openSessionsMax, enabledEndpointsMax];
        return [plan, priceUsdc, ...quotas, requestsPerMinute, meteredPerSecond, feesPerDay];
      }),
    );
    const shown = (buckets: Record<string, PublicBucket>) =>
      Object.fromEntries(Object.entries(buckets).map(([name, { max, windowSeconds }]) => [name, { max, window_seconds: windowSeconds }]));
    expect([public_buckets, address_ceilings]).toEqual([shown(PUBLIC_BUCKETS), shown(ADDRESS_CEILINGS)]);
    expect(rest).toMatchObject({
      per_page: PER_PAGE,
      timeline: TIMELINE,
      idempotency_key_characters: IDEMPOTENCY_KEY,
      body_kilobytes: BODY_KB,
    });
  });
});

describe('specified limits', () => {
  type Parameter = {
    name: string;
    in: string;
    schema?: { minimum?: number; maximum?: number; default?: number; minLength?: number; maxLength?: number };
  };
  const parameterOf = (route: string, name: string): Parameter['schema'] =>
    (operations.get(route)?.parameters as Parameter[] | undefined)?.find((parameter) => parameter.name === name)?.schema;
  const rows = rowsUnder('tables', 'Limit', 'Value', 'Applies to');
  /** Documented routes of a specified limit, by its "Applies to" text. Limits of missing routes are listed too. */
  const ROUTES_WITH_LIMIT: Record<string, string[]> = {
    'list routes': [...operations].filter(([, { parameters }]) => parameters?.some(({ name }) => name === 'page')).map(([name]) => name),
    receipts: ['GET /v1/receipts'],
    'webhook deliveries': ['GET /v1/webhooks/deliveries'],
    'webhook events': ['GET /v1/webhooks/events'],
    'integration events': ['GET /v1/integrations/events'],
    'integration events (optional)': ['GET /v1/integrations/events'],
    'webhook timeline': ['GET /v1/webhooks/timeline', 'GET /v1/customers/{customer_id}/timeline'],
    'support tickets': [],
    'sandbox sessions': [],
    analytics: [],
  };

  it('the document states the specified page limits of every list', () => {
    const checked: string[] = [];
    for (const { Limit, Value, 'Applies to': appliesTo } of rows) {
      const [, minimum, , maximum] = /^(?:integer >= )?(\d+)( to (\d+))?, default/.exec(Value!) ?? [];
      const [, byDefault] = /default (\d+)/.exec(Value!) ?? [];
      if (!byDefault) continue;
      for (const route of appliesTo!.split(/[,;] /).flatMap((label) => ROUTES_WITH_LIMIT[label] ?? [`no place is known for ${label}`])) {
        const schema = parameterOf(route, Limit!);
        const isOptional = appliesTo!.includes('(optional)');
        expect([route, Limit, schema?.minimum, schema?.maximum, schema?.default]).toEqual([
          route,
          Limit,
          Number(minimum),
          maximum === undefined ? undefined : Number(maximum),
          isOptional ? undefined : Number(byDefault),
        ]);
        checked.push(`${route} ${Limit}`);
      }
    }
    expect(checked.length).toBeGreaterThan(12);
  });

  it('the document states the specified limits of names, keys and plans', () => {
    const specified = Object.fromEntries(rows.map(({ Limit, Value }) => [Limit, (Value!.match(/\d+/g) ?? []).map(Number)]));
    expect(specified['external_product_id length']).toEqual([OWN_NAME_MAX]);
    for (const route of ['GET /v1/access/setup/readiness', 'GET /v1/access/products/available-rails'])
      expect(parameterOf(route, 'external_product_id')?.maxLength).toBe(OWN_NAME_MAX);
    expect(specified['Idempotency-Key length']).toEqual([IDEMPOTENCY_KEY.min, IDEMPOTENCY_KEY.max]);
    const key = parameterOf('POST /v1/access/products', 'Idempotency-Key');
    expect([key?.minLength, key?.maxLength]).toEqual([IDEMPOTENCY_KEY.min, IDEMPOTENCY_KEY.max]);
    expect(specified['plan access period']).toEqual([PLAN_DAYS]);
  });
});

describe('queues that docs/operations/deploy.md creates', () => {
  it('the README creates every configured queue and its dead letter queue', () => {
    const [, names = ''] = /^for name in ([\w -]+); do npx wrangler queues create svc-\$name;.*svc-\$name-dead; done$/m.exec(deploy) ?? [];
    const inPairs = names.split(' ').flatMap((name) => [`svc-${name}`, `svc-${name}-dead`]);
    const alone = [...deploy.matchAll(/^npx wrangler queues create (svc-[\w-]+)$/gm)].map(([, name]) => name!);
    const configured = new Set([...wrangler.matchAll(/^(?:dead_letter_)?queue = "([\w-]+)"$/gm)].map(([, name]) => name!));
    expect([...inPairs, ...alone].sort()).toEqual([...configured].sort());
  });
});
