import { beforeAll, describe, expect, it } from 'vitest';
import { builtRoutes, fill, nameOf, operations } from '../../contract/spec-routes.ts';
import { type Body, newEndpoint, openPeople, people, WRITES, type Write, w } from '../../support/clients/optional-writes.ts';
import { newKey } from '../../support/people/agent.ts';
import { deliveries } from '../../support/people/consumer.ts';
import type { Answer, CallOptions } from '../../support/world.ts';

beforeAll(openPeople);

const send = ({ method = 'POST', path, body, by, headers }: Write, key: string, over: CallOptions = {}): Promise<Answer<Body>> =>
  w.call(method, path, { key: by === undefined ? people.ada.key : by, body, ...over, headers: { ...headers, 'Idempotency-Key': key } });
const isReplay = ({ headers }: Answer<Body>) => headers.get('Idempotent-Replayed') === 'true';

/** Writes that have tests of their own as well. */
const ELSEWHERE = new Set([
  'POST /v1/pay/confirm',
  'POST /v1/payments/{payment_id}/accept-unmatched',
  'POST /v1/webhooks/endpoints/{endpoint_id}/rotate-secret',
  'POST /v1/products/{product_id}/unarchive',
  'DELETE /v1/integrations/automation/hooks/{endpoint_id}',
  'PATCH /v1/account/me/security',
  'DELETE /v1/account/account',
  'POST /v1/account/not-me',
  'POST /v1/account/payouts/disown',
  'PUT /v1/account/domain',
  'POST /v1/access/native-subscriptions/{authorization_id}/stop',
  'POST /v1/testing/sessions',
  'POST /v1/testing/sessions/{session_id}/advance',
  'POST /v1/testing/pay',
  'POST /v1/testing/identity',
]);
/** Writes identified by their content: a password, a token, a signature, a payment or a setup secret. */
const KEYLESS =
  /^\S+ \/v1\/(?:auth\/(?!register|password\/)|account\/(?:email\/preview|not-me\/preview|transfer\/accept|passkeys\/options)|invitations\/|buyer\/(?!(?:email-link|erasure)$)|access\/(?:agent-bootstrap|x402\/(?!listings\/)|metered-sessions\/|native-subscriptions\/\S+\/cancel-)|testing\/sign-in|(?:products\/webhook|billing\/webhooks|integrations\/mail)\/)|solana-pay$|\/__402\//;

const takesKey = (name: string) => operations.get(name)!.parameters?.some((one) => one.name === 'Idempotency-Key') ?? false;

describe('writes with an optional Idempotency-Key', () => {
  it('every write honours a key as documented, or is identified by its content', () => {
    const writes = builtRoutes.filter(({ method, documented, idempotent }) => method !== 'GET' && documented && !idempotent).map(nameOf);
    expect(writes.filter((name) => takesKey(name) === KEYLESS.test(name))).toEqual([]);
    expect(writes.filter(takesKey).sort()).toEqual([...Object.keys(WRITES), ...ELSEWHERE].sort());
  });
});

describe.each(Object.entries(WRITES))('%s with an optional Idempotency-Key', (_name, make) => {
  it('a repeated write has one effect and the first answer byte for byte', async () => {
    const [write, key] = [await make(), newKey()];
    const first = await send(write, key);
    expect(first.status, JSON.stringify(first.body)).toBeLessThan(300);
    const again = await send(write, key);
    expect([again.status, JSON.stringify(again.body), isReplay(first), isReplay(again)]).toEqual([
      first.status,
      JSON.stringify(first.body),
      false,
      true,
    ]);
    expect(await write.effects()).toBe(1);
    if (write.other === undefined) return;
    const conflict = await send({ ...write, body: write.other }, key);
    expect([conflict.status, conflict.body.code]).toEqual([409, 'idempotency_conflict']);
  });

  it('an invalid key is refused before the body is read', async () => {
    const write = await make();
    const before = await write.effects();
    for (const [key, code] of [
      ['', 'idempotency_key_required'],
      ['a b', 'idempotency_key_required'],
      ['x y'.repeat(100), 'idempotency_key_too_long'],
      ['has a space', 'idempotency_key_invalid'],
    ] as const) {
      const { status, body } = await send(write, key);
      expect([key, status, body.code]).toEqual([key, 400, code]);
    }
    if (write.body !== undefined) expect((await send(write, 'short', { raw: '{"not json' })).body.code).toBe('idempotency_key_required');
    expect(await write.effects()).toBe(before);
  });
});

describe('scope of an optional Idempotency-Key', () => {
  it('a key on a public route is scoped to the path', async () => {
    const key = newKey();
    const [one, two] = [await WRITES['POST /v1/products/p/{slug}/connect']!(), await WRITES['POST /v1/products/p/{slug}/connect']!()];
    const answers = [await send(one, key), await send(two, key)];
    expect(answers.map(isReplay)).toEqual([false, false]);
    expect(answers[0]!.body.payment_id).not.toBe(answers[1]!.body.payment_id);
  });

  it('a key without a credential is scoped to the caller’s address, which is not stored', async () => {
    const key = newKey();
    const connect = await WRITES['POST /v1/products/p/{slug}/connect']!();
    const from = (address: string) => ({ headers: { ...connect.headers, 'Idempotency-Key': key, 'CF-Connecting-IP': address } });
    const ask = (address: string, over = connect) => w.call('POST', over.path, { body: over.body, ...from(address) });
    const [mine, other, again] = [await ask('203.0.113.1'), await ask('203.0.113.2'), await ask('203.0.113.1')];
    expect([mine, other, again].map(isReplay)).toEqual([false, false, true]);
    expect(new Set([mine, other, again].map(({ body }) => body.payment_id)).size).toBe(2);
    const { results } = await w.env.DB.prepare("SELECT scope FROM claims WHERE scope LIKE 'public%'").all<{ scope: string }>();
    expect(JSON.stringify(results)).not.toContain('203.0.113');
  });

  it('a connector’s key has the same scope at every address', async () => {
    const [write, key] = [await WRITES['POST /v1/integrations/connectors/{provider}/identity']!(), newKey()];
    const from = (address: string) => send({ ...write, headers: { ...write.headers, 'CF-Connecting-IP': address } }, key);
    expect([await from('203.0.113.3'), await from('203.0.113.4')].map(isReplay)).toEqual([false, true]);
  });

  it('refusals and answers without an effect are not stored', async () => {
    const key = newKey();
    const bill = await w.connect(await w.product(people.ada));
    const body = { payment_id: bill.payment_id, tx_signature: await w.chain.pay(await w.chain.wallet(), bill) };
    const confirm = () => w.call('POST', '/v1/pay/confirm', { body, headers: { 'Idempotency-Key': key } });
    for (const method of ['getSignatureStatuses', 'getTransaction']) await w.chain.fault({ kind: 'null_first', method, times: 1 });
    expect((await confirm()).body.payment.status).toBe('PENDING_SIGNATURE');
    await w.chain.fault({ kind: 'http_503', method: 'getTransaction', times: 2 });
    expect((await confirm()).status).toBe(503);
    const confirmed = await confirm();
    expect([confirmed.status, confirmed.body.payment.status, isReplay(confirmed)]).toEqual([200, 'CONFIRMED', false]);
    const again = await confirm();
    expect([isReplay(again), JSON.stringify(again.body)]).toEqual([true, JSON.stringify(confirmed.body)]);
  });
});

describe('writes that take no Idempotency-Key', () => {
  const keyless = builtRoutes.filter((route) => ['natural', 'none'].includes(operations.get(nameOf(route))?.['x-idempotency'] ?? ''));

  it('the document says of every write what its repeat does, and 14 require a key', () => {
    const writes = [...operations].filter(([name]) => !name.startsWith('GET '));
    const of = (kind: string) => writes.filter(([, operation]) => operation['x-idempotency'] === kind).map(([name]) => name);
    expect(of('required')).toHaveLength(14);
    expect(of('honoured').sort()).toEqual(
      writes
        .filter(([name]) => takesKey(name) && !of('required').includes(name))
        .map(([name]) => name)
        .sort(),
    );
    expect(of('natural').length + of('none').length).toBe(keyless.length);
    expect([...of('required'), ...of('honoured'), ...of('natural'), ...of('none')]).toHaveLength(writes.length);
  });

  it.each(keyless.map((route) => [nameOf(route), route] as const))('%s ignores a malformed key', async (_name, { method, path }) => {
    const answers = await Promise.all(
      [undefined, 'a b'].map((key) => {
        const headers = { 'CF-Connecting-IP': '192.0.2.77', ...(key === undefined ? {} : { 'Idempotency-Key': key }) };
        return w.call(method, fill(path), { key: people.ada.key, body: {}, headers });
      }),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${body?.code}`)).size).toBe(1);
    expect(answers[1]!.body?.code ?? '').not.toContain('idempotency');
  });
});

describe('POST /v1/webhooks/deliveries/{delivery_id}/replay', () => {
  it('a pending replay is returned to every request, and a new one is made after its attempt', async () => {
    const made = await newEndpoint();
    const mine = { id: made.endpoint_id, secret: made.secret, box: '', key: people.ada.key };
    const { body } = await w.call('POST', `/v1/webhooks/endpoints/${mine.id}/test`, { key: people.ada.key, body: {} });
    const replay = () => w.call('POST', `/v1/webhooks/deliveries/${body.delivery_id}/replay`, { key: people.ada.key });
    const answers = await Promise.all(Array.from({ length: 10 }, replay));
    expect(new Set(answers.map(({ status, body: { delivery_id } }) => `${status} ${delivery_id}`)).size).toBe(1);
    await w.attempt();
    expect((await replay()).body.delivery_id).not.toBe(answers[0]!.body.delivery_id);
    expect((await deliveries(mine)).filter(({ replay_of }) => replay_of !== null)).toHaveLength(2);
  });
});
