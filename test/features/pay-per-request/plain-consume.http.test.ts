import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Env } from '#platform/context.ts';
import type { AdmissionRpc, PassedAnswer } from '#rules/admission.ts';
import { seededRandom } from '../../support/faults/faults.ts';
import { newKey, openShop, type Shop, stall } from '../../support/people/agent.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { SOAK, testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

afterEach(letTimeRun);

const PATH = '/v1/access/entitlements/consume';
const PAIRS = 100 * SOAK;
/** Fixed seed of a test run: every commit gets the same requests, and these cover each outcome below. */
const SEED = Number(testEnv.TEST_FUZZ_SEED);
/** A chunked body never takes the plain path, so the route serves it alone. */
const IN_PIECES = { 'Transfer-Encoding': 'chunked' };

/** Removes what differs between two tenants: ids of tenants, requests and consumptions, and the sealed challenge. */
function comparable({ status, body, headers }: Awaited<ReturnType<Shop['consume']>>) {
  const text = JSON.stringify({ ...body, meta: { ...body.meta, payment_required: Boolean(body.meta?.payment_required) } });
  const own = ['x-svc-request-id', 'x-request-id', 'payment-required'];
  const shown = [...headers].map(([name, value]) => (own.includes(name) ? [name, value.length > 0] : [name, value]));
  return { status, headers: shown, body: text.replace(/con_\w+|req_\w+|[\da-f]{8}-[\da-f-]{27}/gi, 'id') };
}

describe('plain and chunked consume', () => {
  const w = new World();
  let shops: [Shop, Shop];
  let noKeys: { revoked: string; readOnly: string }[];
  beforeAll(async () => {
    shops = [await openShop(w), await openShop(w)];
    noKeys = await Promise.all(
      shops.map(async ({ merchant }) => {
        const make = (permissions: string[]) =>
          w.call('POST', '/v1/keys', { key: merchant.token, body: { name: 'other', permissions } }).then(({ body }) => body);
        const [revoked, readOnly] = [await make(['execute']), await make(['read'])];
        expect((await w.call('DELETE', `/v1/keys/${revoked.key.id}`, { key: merchant.token })).status).toBe(204);
        return { revoked: revoked.raw_key, readOnly: readOnly.raw_key };
      }),
    );
  });

  it('plain and chunked requests get the same answers and headers for any body, header and key', async () => {
    const random = seededRandom(SEED);
    const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
    const usually = <T>(value: T, others: readonly T[]): T => (random() < 0.88 ? value : pick(others));
    const seen = new Map<string, number>();
    const customers = Array.from({ length: 6 }, (_, i) => ({ customer_ref: `customer-${i}` }));
    const next = (pair: number) => {
      const customer = usually<unknown>(pick(customers), [
        {},
        undefined,
        { customer_ref: 'x'.repeat(pick([86, 180, 181])) },
        { customer_ref: 'two words' },
        { customer_ref: 'a', wallet_address: 'b' },
        { customer_ref: 'ö' },
        { customer_ref: 'a', more: 1 },
      ]);
      const units = usually<unknown>(pick([undefined, 1, 2]), [0, -1, 1.5, '1', null, 100, 1_000_000_000, 1_000_000_001]);
      const extra = usually<object>({}, [{ unknown: 1 }, { resource: { url: 'https://api.example.com/x' } }, { external_product_id: 'x' }]);
      const raw = usually<string | null>(null, ['{', '[]', '"\\ud800"', '\ufeff{}', `["${'abandon '.repeat(11)}about"]`]);
      const idempotencyKey = usually(`a-key-of-${pick([...customers.keys()])}-${pair % 8}`, ['short', 'x'.repeat(256), 'with blank', '']);
      const query = usually('', ['?mode=live', '?mode=sandbox', '?mode=other', '?x']);
      const contentType = usually('application/json', ['application/json; charset=utf-8', 'text/plain']);
      const caller = usually('key', ['sandboxKey', 'token', 'revoked', 'readOnly', 'nobody', 'forged', 'stranger']);
      return { customer, units, extra, raw, idempotencyKey, query, contentType, whose: caller };
    };
    const sent: ReturnType<typeof next>[] = [];
    for (const shop of shops) for (const customer of customers.slice(1)) await shop.grant({ customer, units: 60 });
    setTime(Date.now());
    for (let pair = 0; pair < PAIRS; pair++) {
      const call = random() < 0.3 && sent.length > 0 ? pick(sent) : next(pair);
      sent.push(call);
      const { customer, units, extra, raw, idempotencyKey, query, contentType, whose: caller } = call;
      const answers = await Promise.all(
        shops.map((shop, i) => {
          const body = { product_id: shop.product.product_id, customer, units, ...extra };
          const { key, sandboxKey, token } = shop.merchant;
          const keys: Record<string, string> = { key, sandboxKey, token, ...noKeys[i]!, forged: `${key.slice(0, -1)}_` };
          return w.call('POST', `${PATH}${query}`, {
            raw: raw ?? JSON.stringify(body),
            ...(caller === 'nobody' ? {} : { key: caller === 'stranger' ? 'svc_live_x' : keys[caller]! }),
            headers: { 'Idempotency-Key': idempotencyKey, 'Content-Type': contentType, ...(i === 0 ? {} : IN_PIECES) },
          });
        }),
      );
      const [plain, inPieces] = answers.map(comparable);
      expect(plain, `pair ${pair} of seed ${SEED}`).toEqual(inPieces);
      const { status, body, headers } = answers[0]!;
      const what = status === 200 ? `200 ${headers.has('Idempotent-Replayed') ? 'replayed' : 'new'}` : `${status} ${body.code}`;
      seen.set(what, (seen.get(what) ?? 0) + 1);
    }
    const expected = ['200 new', '200 replayed', '401 invalid_authorization', '403 entitlement_missing', '409 idempotency_conflict'];
    expect([...seen.keys()]).toEqual(expect.arrayContaining([...expected, '422 validation_error', '422 unknown_field']));
    const listKeys = async ({ merchant }: Shop) => (await w.call('GET', '/v1/keys', { key: merchant.token })).body as object[];
    const countersOf = (key: object) =>
      JSON.stringify(key)
        .match(/"(?:total_calls|credits_burned|error_calls)":\d+/g)!
        .join();
    const counted = await Promise.all(shops.map(async (shop) => (await listKeys(shop)).map(countersOf).sort()));
    expect(counted[0]).not.toEqual([]);
    expect(counted[0]).toEqual(counted[1]);
  });
});

describe('consume with an empty body', () => {
  const w = new World();
  it('an empty body is validation_error as JSON and unsupported_media_type as text', async () => {
    const { key } = await w.merchant();
    const send = (contentType: string) =>
      w.call('POST', PATH, { raw: '', key, headers: { 'Idempotency-Key': newKey(), 'Content-Type': contentType } });
    expect((await send('application/json')).body.code).toBe('validation_error');
    expect((await send('text/plain')).body.code).toBe('unsupported_media_type');
  });
});

describe('plain consume with a lost object', () => {
  const w = new World();
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(w);
  });
  const withConsume = (consume: (real: AdmissionRpc, ...args: Parameters<AdmissionRpc['consume']>) => Promise<PassedAnswer>): Env => {
    const getByName = (name: string) => {
      const real = w.env.ADMISSION.getByName(name) as unknown as AdmissionRpc;
      return new Proxy(real, {
        get: (target, method) =>
          method === 'consume'
            ? (...args: Parameters<AdmissionRpc['consume']>) => consume(real, ...args)
            : (...args: unknown[]) => (target as unknown as Record<PropertyKey, (...args: unknown[]) => unknown>)[method]!(...args),
      });
    };
    return { ...w.env, ADMISSION: { getByName } as unknown as Env['ADMISSION'] };
  };
  const lost = new Error('the object was restarted');

  it.each<[string, Env]>([
    ['before it did anything', withConsume(() => Promise.reject(lost))],
    ['after it did everything', withConsume(async (real, ...args) => real.consume(...args).then(() => Promise.reject(lost)))],
    ['after the entitlement’s object was', withConsume(async (real, ...args) => ({ ...(await real.consume(...args)), used: null }))],
  ])('consume is repeated under its key after the object was lost, and uses one unit: %s', async (_, env) => {
    const customer = { customer_ref: newKey() };
    const own = stall(w, shop.merchant, shop.product, shop.agent);
    await own.grant({ customer, units: 3 });
    const idempotencyKey = newKey();
    for (const round of [1, 2]) {
      const used = await own.consume({ customer }, { idempotencyKey, env });
      expect([round, used.status, used.body.remaining]).toEqual([round, 200, 2]);
    }
    expect(await own.entitlement(customer)).toMatchObject({ used_units: 1, remaining: 2 });
  });
});
