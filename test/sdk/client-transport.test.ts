// @module-tag quick
import { afterEach, describe, expect, it, vi } from 'vitest';
import { API_VERSION, SDK_VERSION } from '../../sdk/src/generated/operations.ts';
import {
  createClient,
  type ErrorCode,
  type EventOf,
  isSvcError,
  KNOWN_EVENTS,
  type RequestFacts,
  type ResponseReport,
  type RetryReport,
  SvcError,
  type SvcEvent,
} from '../../sdk/src/index.ts';
import { catchFailure, refusal, scripted, unavailable } from './scripted-client.ts';

afterEach(() => vi.restoreAllMocks());

describe('hooks', () => {
  const SECRETS = {
    Authorization: 'Bearer secret-1',
    'X-Svc-Setup-Secret': 'secret-2',
    'PAYMENT-SIGNATURE': 'secret-3',
    'X-Svc-Identity-Session': 'secret-4',
    Cookie: 'secret-5',
  };

  it('each attempt, answer and repeat is reported without credentials', async () => {
    const requests: RequestFacts[] = [];
    const responses: ResponseReport[] = [];
    const retries: RetryReport[] = [];
    const { client, seen } = scripted([unavailable(), Response.json({ account_id: 'a' })], {
      key: 'svc_live_secret',
      onRequest: (facts) => requests.push(facts),
      onResponse: (facts) => responses.push(facts),
      onRetry: (facts) => retries.push(facts),
    });
    await client.billing.activateStarter({ headers: { ...SECRETS, 'X-Trace': 'trace-1' } });
    const base = { operationId: 'activateStarter', method: 'POST', url: 'https://svc.test/v1/access/x402/activate/starter' };
    expect(requests).toMatchObject([
      { ...base, attempt: 1 },
      { ...base, attempt: 2 },
    ]);
    expect(responses).toMatchObject([
      { ...base, attempt: 1, status: 503, requestId: 'req_12345678' },
      { ...base, attempt: 2, status: 200 },
    ]);
    expect(retries).toMatchObject([{ ...base, attempt: 1, error: { code: 'temporarily_unavailable' }, waitMs: expect.any(Number) }]);
    for (const { headers } of [...requests, ...responses, ...retries]) {
      expect(JSON.stringify([...headers])).not.toContain('secret');
      expect([headers.get('X-Trace'), headers.get('Idempotency-Key')]).toEqual(['trace-1', seen[0]!.key]);
    }
    expect(seen[1]!.headers.get('PAYMENT-SIGNATURE')).toBe('secret-3');
  });

  it('the key of a client is not reported either, and a hook cannot change the request', async () => {
    const { client, seen } = scripted([Response.json({})], {
      onRequest: ({ headers }) => {
        expect(headers.get('X-Svc-Key')).toBe(null);
        headers.set('X-Svc-Key', 'another');
      },
    });
    await client.products.get('p');
    expect(seen[0]!.headers.get('X-Svc-Key')).toBe('svc_live_abc');
  });

  it('a hook that throws or rejects does not decide the call', async () => {
    const fail = () => {
      throw new Error('hook failed');
    };
    const reject = () => Promise.reject(new Error('hook rejected'));
    for (const hook of [fail, reject] as (() => void)[]) {
      const { client, seen } = scripted([unavailable(), Response.json({ product_id: 'p' })], {
        onRequest: hook,
        onResponse: hook,
        onRetry: hook,
      });
      expect((await client.products.get('p')).product_id).toBe('p');
      expect(seen.length).toBe(2);
    }
  });
});

describe('secrets in texts', () => {
  const TOKEN = 'handoff/secret 1';
  const seenUrls: string[] = [];
  const hooks = {
    onRequest: ({ url }: RequestFacts) => void seenUrls.push(url),
    onRetry: ({ url }: RetryReport) => void seenUrls.push(url),
  };

  it('a handoff token is sent, and neither hooks nor errors have it', async () => {
    const url = `https://svc.test/v1/products/p/a%20b/handoff/${encodeURIComponent(TOKEN)}`;
    for (const answer of [
      new Response(`Cannot GET ${new URL(url).pathname}`, { status: 404 }),
      refusal(404, 'not_found', { meta: { path: new URL(url).pathname } }),
      new TypeError(`error sending request for url (${url})`),
    ]) {
      const { client, seen } = scripted([answer], { ...hooks, maxRetries: 1 });
      const { message, meta } = await catchFailure(client.handoffs.resolve('a b', TOKEN));
      expect(seen[0]!.url).toBe(url);
      expect(message + JSON.stringify(meta)).not.toContain('secret');
    }
    expect(new Set(seenUrls)).toEqual(new Set(['https://svc.test/v1/products/p/a%20b/handoff/{token}']));
  });

  it('a header that HTTP does not allow is refused without its value', async () => {
    const { client, seen } = scripted([Response.json({})]);
    const headers = { 'X-Svc-Setup-Secret': 'sec\nret' };
    const calls = [
      () => client.products.get('p', { headers }),
      () => client.products.archive('p', { headers }),
      () => client.meteredSessions.authorize('ms_1', 'sec\nret'),
      () => client.products.archive('p', { idempotencyKey: 'sec\nret-key' }),
    ];
    for (const call of calls) {
      const error = (await call().catch((thrown: unknown) => thrown)) as Error;
      expect(`${error.name} ${error.message}`).toMatch(/^(?:TypeError A header of the call|SvcError An Idempotency-Key)/);
      expect(`${error.message} ${error.cause}`).not.toMatch(/sec|ret\b/);
    }
    expect(seen).toEqual([]);
  });
});

describe('request headers', () => {
  it('a call names the package and its runtime', async () => {
    const { client, seen } = scripted([Response.json({})]);
    await client.products.get('p');
    expect(seen[0]!.headers.get('X-Svc-Client')).toMatch(new RegExp(`^ts/${SDK_VERSION} (?:workerd|node)/\\d`));
  });

  it('a browser sends no header that its preflight refuses', async () => {
    vi.stubGlobal('document', {});
    const { client, seen } = scripted([Response.json({})]);
    await client.products.get('p').finally(() => vi.unstubAllGlobals());
    expect(seen[0]!.headers.has('X-Svc-Client')).toBe(false);
  });

  it('a session token is sent as a bearer, and a buyer’s credential replaces the client’s', async () => {
    const { client, seen } = scripted([Response.json({})], { key: 'token' });
    await client.account.get();
    await client.meteredSessions.authorize('ms_1', 'Payment abc');
    await client.meteredSessions.commit('ms_1', 'Payment def', { deliveryId: 'd', voucher: {} } as never);
    expect(seen.map(({ headers }) => headers.get('Authorization'))).toEqual(['Bearer token', 'Payment abc', 'Payment def']);
    const other = scripted([Response.json({})]);
    await other.client.meteredSessions.authorize('ms_1', 'Payment abc');
    expect(other.seen[0]!.headers.has('X-Svc-Key')).toBe(false);
  });

  it('a key among the headers is the caller’s key', async () => {
    const { client, seen } = scripted([Response.json({})]);
    await client.products.archive('p', { headers: { 'idempotency-key': 'my-own-key' } });
    expect(seen[0]!.key).toBe('my-own-key');
    expect((await catchFailure(client.products.archive('p', { headers: { 'Idempotency-Key': 'short' } }))).code).toBe(
      'invalid_idempotency_key',
    );
  });

  it('mode is sent where an operation takes it, from the call or else the client', async () => {
    const { client, seen } = scripted([Response.json({ items: [] })], { key: 'token', mode: 'sandbox' });
    await client.products.list({ status: 'active' });
    await client.products.archive('p', { mode: 'live' });
    await client.rails.list();
    expect(seen.map(({ url }) => new URL(url).search)).toEqual(['?status=active&mode=sandbox', '?mode=live', '']);
  });

  it('an empty id, or one that would name another path, is refused before sending', async () => {
    const { client, seen } = scripted([Response.json({})]);
    for (const id of ['', '.', '..', undefined as never]) await expect(client.products.get(id)).rejects.toThrow(/product_id is/);
    await client.products.get('a/b?c');
    expect(seen.map(({ url }) => url)).toEqual(['https://svc.test/v1/products/a%2Fb%3Fc']);
  });
});

describe('answers of other kinds', () => {
  it('bytes are a Response that is not read, and a failure of them is an SvcError', async () => {
    const { client, seen } = scripted([
      new Response('%PDF-1.7', { headers: { 'Content-Type': 'application/pdf' } }),
      refusal(404, 'not_found'),
    ]);
    const pdf = await client.receipts.getPdf('r');
    expect([pdf.bodyUsed, pdf.headers.get('Content-Type'), (await pdf.arrayBuffer()).byteLength]).toEqual([false, 'application/pdf', 8]);
    expect(seen[0]!.headers.get('Accept')).toBe('*/*');
    expect((await catchFailure(client.receipts.export())).code).toBe('not_found');
  });

  it('204 is an empty object, and a list is an array, both with the facts of the transport', async () => {
    const { client } = scripted([new Response(null, { status: 204 }), Response.json([{ id: 'k' }])]);
    const gone = await client.keys.revoke('k');
    expect([JSON.stringify(gone), gone.response.status, gone.replayed]).toEqual(['{}', 204, false]);
    const keys = await client.keys.list();
    expect([keys.length, keys[0]!.id, keys.response.status, JSON.stringify(keys)]).toEqual([1, 'k', 200, '[{"id":"k"}]']);
  });

  it.each([
    ['the page of a proxy', new Response(`<h1>Bad gateway</h1>${'x'.repeat(500)}`, { status: 502 }), 502, '<h1>Bad gateway</h1>xxx'],
    ['JSON that was cut', new Response('{"product_id":"p","na'), 200, '{"product_id":"p","na'],
    ['a JSON text', new Response('"hello"'), 200, '"hello"'],
    ['an empty 502', new Response(null, { status: 502 }), 502, ''],
    ['an empty 200', new Response(''), 200, ''],
    ['a redirect to a sign-in', new Response(null, { status: 302, headers: { Location: 'https://sso.test' } }), 302, ''],
  ])('%s is unexpected_response with status and excerpt', async (_name, answer, status, excerpt) => {
    const { client } = scripted([answer], { maxRetries: 0 });
    const failure = await catchFailure(client.products.get('p'));
    expect(failure).toMatchObject({ code: 'unexpected_response', status });
    expect(failure.meta.excerpt).toMatch(excerpt);
    expect((failure.meta.excerpt as string).length).toBeLessThanOrEqual(200);
    expect(failure.message).toContain(`The answer ${status} does not come from the service: `);
    expect(failure.message).toContain(excerpt);
  });

  it('a write with an unreadable answer may have happened, a refused one did not', async () => {
    const cut = scripted([new Response('{"product_id":"p","na')]);
    expect((await catchFailure(cut.client.products.archive('p'))).isAmbiguous).toBe(true);
    const refused = scripted([refusal(403, 'forbidden')]);
    expect((await catchFailure(refused.client.products.archive('p'))).isAmbiguous).toBe(false);
  });
});

describe('version of the API', () => {
  it('another major of the service is warned of once per client', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const answer = (version: string) => Response.json({}, { headers: { 'X-Svc-Api-Version': version } });
    const { client } = scripted([answer('2.0.0')]);
    await client.products.get('p');
    await client.products.get('p');
    expect(warn.mock.calls).toEqual([[expect.stringContaining('version 2.0.0')]]);
    const same = scripted([answer(API_VERSION.replace(/\.\d+\.\d+$/, '.9.9'))]);
    await same.client.products.get('p');
    expect(warn).toHaveBeenCalledTimes(1);
  });
});

describe('codes', () => {
  it('isSvcError finds errors of the package, and of one code', async () => {
    const { client } = scripted([refusal(403, 'entitlement_missing')]);
    const failure: unknown = await catchFailure(client.products.get('p'));
    expect([isSvcError(failure), isSvcError(failure, 'entitlement_missing'), isSvcError(failure, 'not_found')]).toEqual([
      true,
      true,
      false,
    ]);
    expect([isSvcError(new Error('x')), isSvcError(null), isSvcError({ code: 'not_found' }, 'not_found')]).toEqual([false, false, false]);
    if (isSvcError(failure, 'entitlement_missing')) failure.code satisfies ErrorCode;
  });

  it('codes are typed, and a newer service may send another', () => {
    const known: SvcError['code'][] = ['entitlement_missing', 'request_timeout', 'a_code_of_tomorrow'];
    // @ts-expect-error an ErrorCode is one of the service's
    const wrong: ErrorCode = 'a_code_of_tomorrow';
    expect(new SvcError(known[2]!, wrong).code).toBe('a_code_of_tomorrow');
  });
});

describe('types of calls', () => {
  it('a wrong field, a missing choice and an unknown state are errors of the compiler', () => {
    const { client } = scripted([Response.json({})]);
    const wrong = [
      // @ts-expect-error a product has no such field
      () => client.products.create({ name: 'x', prize: '1', price: { asset: 'USDC', amount: '1' } }),
      // @ts-expect-error a customer is named by one of two fields
      () => client.entitlements.consume({ product_id: 'p', customer: {} }),
      // @ts-expect-error a use names its product
      () => client.entitlements.consume({ customer: { customer_ref: 'ada' } }),
      // @ts-expect-error a payment has no such status
      () => client.payments.list({ status: 'PAID' }),
      // @ts-expect-error mode is an option
      () => client.payments.list({ mode: 'live' }),
    ];
    expect(wrong.length).toBe(5);
  });

  it('an event narrows by its type', () => {
    const objectOf = (event: SvcEvent): string | undefined => {
      if (event.type === 'payment.confirmed') return event.data.object.payment_id;
      return event.type === 'payment.refunded' ? event.data.refund.tx_signature : undefined;
    };
    const confirmed = { type: 'payment.confirmed', data: { object: { payment_id: 'p' } } } as EventOf<'payment.confirmed'>;
    expect([objectOf(confirmed), KNOWN_EVENTS.includes(confirmed.type)]).toEqual(['p', true]);
  });
});

describe('client.request', () => {
  it('parameters, query, body and options go where the method puts them', async () => {
    const { client, seen } = scripted([Response.json({ items: [] })]);
    await client.request('updateProduct', { params: { product_id: 'p 1' }, body: { name: 'x' } }, { idempotencyKey: 'my-own-key' });
    await client.request('listProducts', { query: { per_page: 3 } });
    await client.request('listRails');
    expect(seen.map(({ method, url, key }) => [method, url, key])).toEqual([
      ['PATCH', 'https://svc.test/v1/products/p%201', 'my-own-key'],
      ['GET', 'https://svc.test/v1/products?per_page=3', null],
      ['GET', 'https://svc.test/v1/access/rails', null],
    ]);
  });

  it('its types are those of the operation', () => {
    const { request } = createClient({ baseUrl: 'https://svc.test', fetch: async () => Response.json({}) });
    const wrong = [
      // @ts-expect-error a product has an id
      () => request('getProduct'),
      // @ts-expect-error a body has no such field
      () => request('updateProduct', { params: { product_id: 'p' }, body: { nam: 'x' } }),
      // @ts-expect-error no operation has this id
      () => request('inventProduct'),
    ];
    expect(wrong[2]).toThrow('No operation is called inventProduct');
  });
});
