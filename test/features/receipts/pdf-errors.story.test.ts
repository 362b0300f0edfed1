import { beforeAll, describe, expect, it } from 'vitest';
import { codesOf, openApi } from '../../support/clients/call.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { newKey } from '../../support/people/agent.ts';
import { MailWorld, verifyAddress } from '../../support/servers/mail.ts';
import { type Answer, type CallOptions, type Merchant, World } from '../../support/world.ts';

const NOWHERE = '01900000-0000-7000-8000-000000000000';
/** Codes of every route, which tests over all routes cover. */
const OF_EVERY_ROUTE = ['account_suspended', 'account_deleted', 'internal_error', 'misconfigured', 'method_not_allowed'];

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;
type Provoked = Record<string, () => Promise<Answer<Body>>>;

describe('documented errors of the PDF routes', () => {
  const w = new MailWorld();
  let ada: Merchant;
  let readKey: string;
  let writeKey: string;
  let id: string;

  beforeAll(async () => {
    ada = await w.merchant();
    await verifyAddress(w, ada);
    id = (await w.purchase(await w.product(ada), await w.chain.wallet())).confirmed.receipt_id;
    const reader = await w.call('POST', '/v1/keys', { key: ada.token, body: { name: 'reader', permissions: ['read'] } });
    readKey = reader.body.raw_key;
    const writer = await w.call('POST', '/v1/keys', { key: ada.token, body: { name: 'writer', permissions: ['execute'] } });
    writeKey = writer.body.raw_key;
  });

  const get = (path: string, options: CallOptions = {}) => w.call('GET', path, { key: ada.key, ...options });
  const patch = (body: unknown, options: CallOptions & { of?: string } = {}) =>
    w.call('PATCH', `/v1/receipt/${options.of ?? id}/invoice-metadata`, { key: ada.key, body, ...options });
  const send = (body: unknown, options: CallOptions & { of?: string } = {}) =>
    w.call('POST', `/v1/receipt/${options.of ?? id}/send-proof`, { key: ada.key, body, ...options });
  const proof = { email: 'grace@example.com' };
  const slow = () => ({ ...w.env, RATE_MULTIPLIER: '0.001' });
  const dark = () => withFaults(w.env, { before: () => true }).env;
  const exhaust = async (call: (options: CallOptions) => Promise<Answer<Body>>) => {
    const options = { headers: { 'CF-Connecting-IP': `203.0.113.${Math.floor(Math.random() * 250)}` }, env: slow() };
    for (let index = 0; index < 200; index++) {
      const answer = await call(options);
      if (answer.status === 429) return answer;
    }
    throw new Error('never refused');
  };
  /** Errors of the optional Idempotency-Key, the body and the caller. */
  const ofWrites = (
    call: (body: unknown, options?: CallOptions & { of?: string }) => Promise<Answer<Body>>,
    sound: object,
    other: object,
  ): Provoked => ({
    idempotency_key_required: () => call(sound, { headers: { 'Idempotency-Key': 'short' } }),
    idempotency_key_too_long: () => call(sound, { headers: { 'Idempotency-Key': 'x'.repeat(256) } }),
    idempotency_key_invalid: () => call(sound, { headers: { 'Idempotency-Key': 'a b c d e f' } }),
    idempotency_conflict: async () => {
      const headers = { 'Idempotency-Key': newKey() };
      await call(sound, { headers });
      return call(other, { headers });
    },
    invalid_authorization: () => call(sound, { key: readKey }),
    not_found: () => call(sound, { of: NOWHERE }),
    payload_too_large: () => call(undefined, { raw: `{"x":"${'x'.repeat(2_000_000)}"}` }),
    unsupported_media_type: () => call(undefined, { raw: '{}', headers: { 'content-type': 'text/plain' } }),
    unknown_field: () => call({ ...sound, nothing_like_it: 1 }),
    validation_error: () => call({ ...sound, ...('email' in sound ? { email: 'x' } : { issued_on: '2026-02-30' }) }),
    temporarily_unavailable: () => call(sound, { env: dark() }),
    rate_limited: () => exhaust((options) => call(sound, { ...options })),
  });
  const ofReads = (path: () => string): Provoked => ({
    invalid_authorization: () => get(path(), { key: writeKey }),
    temporarily_unavailable: () => get(path(), { env: dark() }),
    rate_limited: () => exhaust((options) => get(path(), options)),
  });

  const PROVOKED: Record<string, () => Provoked> = {
    'GET /v1/receipt/{receipt_id}/pdf': () => ({
      not_found: () => get(`/v1/receipt/${NOWHERE}/pdf`, { key: null }),
      validation_error: () => get('/v1/receipt/x/pdf', { key: null }),
      rate_limited: () => exhaust((options) => get(`/v1/receipt/${id}/pdf`, { ...options, key: null })),
      temporarily_unavailable: () => get(`/v1/receipt/${id}/pdf`, { key: null, env: dark() }),
    }),
    'GET /v1/receipt/{receipt_id}/pdf/private': () => ({
      ...ofReads(() => `/v1/receipt/${id}/pdf/private`),
      not_found: () => get(`/v1/receipt/${id}/pdf/private`, { key: ada.sandboxKey }),
      validation_error: () => get(`/v1/receipt/${id}/pdf/private?mode=both`),
    }),
    'GET /v1/receipts/export.csv': () => ({
      ...ofReads(() => '/v1/receipts/export.csv'),
      validation_error: () => get('/v1/receipts/export.csv?direction=sideways'),
    }),
    'PATCH /v1/receipt/{receipt_id}/invoice-metadata': () => ofWrites(patch, { invoice_number: '1' }, { invoice_number: '2' }),
    'POST /v1/receipt/{receipt_id}/send-proof': () => ({
      ...ofWrites(send, proof, { ...proof, name: 'Grace' }),
      mail_not_configured: () => send(proof, { env: new World().env }),
    }),
  };
  /** Codes that need a concurrent rival. Tests of races and idempotency cover them. */
  const OF_RIVALS = ['idempotency_in_progress', 'idempotency_race', 'state_conflict'];

  it.each(Object.keys(PROVOKED))('%s answers every documented code with its status', async (name) => {
    const [method, path] = name.split(' ') as [string, string];
    const { responses } = openApi.paths[path]![method.toLowerCase()]!;
    const promised = Object.entries(responses).flatMap(([status, response]) =>
      codesOf(response).map((code) => ({ status: Number(status), code })),
    );
    const codes = [...new Set(promised.map(({ code }) => code))].filter((code) => ![...OF_EVERY_ROUTE, ...OF_RIVALS].includes(code));
    const provoked = PROVOKED[name]!();
    expect(codes.filter((code) => !provoked[code])).toEqual([]);
    for (const code of codes.sort((a, b) => Number(a === 'rate_limited') - Number(b === 'rate_limited'))) {
      const { status, body, headers } = await provoked[code]!();
      expect([code, body?.code]).toEqual([code, code]);
      expect(promised).toContainEqual({ status, code });
      if (status === 429) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });

  it('a PDF is 503 while its font cannot be read, and 200 afterwards', async () => {
    const env = (answer: () => Response) => ({ ...w.env, ASSETS: { fetch: async () => answer() } }) as unknown as typeof w.env;
    const rare = (await w.purchase(await w.product(ada, { name: '鬱 龘 ꜩ' }), await w.chain.wallet())).confirmed.receipt_id;
    const { status, body, headers } = await get(`/v1/receipt/${rare}/pdf`, { env: env(() => new Response(null, { status: 404 })) });
    expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'temporarily_unavailable', '1']);
    expect((await get(`/v1/receipt/${rare}/pdf`)).status).toBe(200);
  });
});
