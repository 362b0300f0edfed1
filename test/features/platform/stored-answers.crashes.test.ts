import { beforeAll, describe, expect, it } from 'vitest';
import { base64url } from '#core/encoding.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { dumpTable } from '../../support/fixtures/database-dump.ts';
import { letLeasesEnd, newKey } from '../../support/people/agent.ts';
import { CONNECTOR_SECRETS, REPEATED } from '../../support/runner/env.ts';
import { type Answer, type CallOptions, type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

interface Write {
  send(options: CallOptions): Promise<Answer<Body>>;
  undo?(): Promise<Answer<Body>>;
  state(): Promise<unknown>;
}

const NEW_SEAL_KEY = base64url.encode(new Uint8Array(32).fill(90));

const w = new World();
let ada: Merchant;
beforeAll(async () => {
  ada = await w.merchant();
});

const read = async (column: string, table: string, id: string) =>
  w.env.DB.prepare(`SELECT ${column} FROM ${table} WHERE id = ?`).bind(id).first(column);
const newEndpoint = async () =>
  (await w.call('POST', '/v1/webhooks/endpoints', { key: ada.key, body: { url: 'https://shop.example.com/hooks' } })).body.endpoint_id;
const wallet = async () => (await w.chain.wallet(0n)).address as string;
const product = async () => {
  const { product_id: id } = await w.product(ada);
  const path = `/v1/products/${id}`;
  const ask = (method: string, verb: string, body?: unknown) => (options: CallOptions) =>
    w.call(method, path + verb, { key: ada.token, body, ...options });
  return { id, ask };
};
const onSale = (first: 'archive' | 'unarchive') => async (): Promise<Write> => {
  const { id, ask } = await product();
  if (first === 'unarchive') await ask('POST', '/archive')({});
  const undo = () => ask('POST', first === 'archive' ? '/unarchive' : '/archive')({});
  return { send: ask('POST', `/${first}`), undo, state: () => read('status', 'products', id) };
};

const WRITES: Record<string, () => Promise<Write>> = {
  'a moved payout': async () => {
    const [{ id, ask }, a, b] = [await product(), await wallet(), await wallet()];
    const move = (payout_wallet: string) => ask('PATCH', '', { payout_wallet });
    return { send: move(a), undo: () => move(b)({}), state: () => read('payout_wallet', 'products', id) };
  },
  'a product taken off sale': onSale('archive'),
  'a product put on sale': onSale('unarchive'),
  'a buyer who showed who they are': async () => {
    const { slug } = await w.product(ada, { requires_identity: 'telegram' });
    const { identity_session_id: id } = (await w.call('POST', `/v1/products/p/${slug}/identity`)).body;
    const send = ({ headers, ...options }: CallOptions) =>
      w.call('POST', '/v1/integrations/connectors/telegram/identity', {
        body: { identity_session_id: id, provider_user_id: '4711' },
        headers: { ...headers, 'X-Svc-Connector-Secret': CONNECTOR_SECRETS.telegram[0] },
        ...options,
      });
    return { send, state: () => read('provider_user_id', 'identity_sessions', id) };
  },
};
const under = (key: string): CallOptions => ({ headers: { 'Idempotency-Key': key } });
const isReplay = ({ headers }: Answer<Body>) => headers.get('Idempotent-Replayed') === 'true';

describe.each(Object.entries(WRITES))('%s', (_name, make) => {
  it('a write is replayed and applied once if its worker dies at any step', REPEATED, async () => {
    const counted = withFaults(w.env);
    expect((await (await make()).send({ ...under(newKey()), env: counted.env })).status).toBe(200);
    for (let cut = 1; cut <= counted.trips.length; cut++) {
      const [write, key] = [await make(), newKey()];
      const before = await write.state();
      // The trip is made and every later one fails, as if the worker had died there.
      const { env } = withFaults(w.env, { before: ({ number }) => number > cut, after: ({ number }) => number === cut });
      await write.send({ ...under(key), env });
      const isDone = (await write.state()) !== before;
      if (!isDone) await letLeasesEnd(w);
      else if (write.undo) expect((await write.undo()).status).toBe(200);
      const undone = await write.state();
      const again = await write.send(under(key));
      expect([cut, again.status, isReplay(again)]).toEqual([cut, 200, isDone]);
      if (isDone) expect(await write.state()).toBe(undone);
      else expect(await write.state()).not.toBe(before);
    }
  });
});

describe('no-op update with an Idempotency-Key', () => {
  it.each<[string, () => Promise<string>, string, string]>([
    ['a product', async () => `/v1/products/${(await product()).id}`, 'name', 'products'],
    ['an account', async () => '/v1/account/me', 'display_name', 'accounts'],
    ['an endpoint', async () => `/v1/webhooks/endpoints/${await newEndpoint()}`, 'description', 'webhook_endpoints'],
  ])('an update of %s that changed nothing is replayed without undoing a later change', async (_, open, field, table) => {
    const path = await open();
    const id = path.endsWith('/me') ? ada.userId : path.split('/').at(-1)!;
    const say = (text: string, options: CallOptions = {}) => w.call('PATCH', path, { key: ada.token, body: { [field]: text }, ...options });
    const key = newKey();
    await say('A');
    const nothing = await say('A', under(key));
    expect([nothing.status, isReplay(nothing)]).toEqual([200, false]);
    await say('B');
    const again = await say('A', under(key));
    expect([again.status, isReplay(again), again.body]).toEqual([200, true, nothing.body]);
    expect(await read(field, table, id)).toBe('B');
  });
});

describe('Idempotency-Key on calls that end every session', () => {
  const security = (key: string, token: string, body: unknown) =>
    w.call('PATCH', '/v1/account/me/security', { key: token, body, ...under(key) });

  it('a password change is replayed to a new session without the old password', async () => {
    const [grace, key] = [await w.merchant(), newKey()];
    const body = { current_password: 'correct horse battery', new_password: 'battery staple horse' };
    const first = await security(key, grace.token, body);
    expect([first.status, isReplay(first)]).toEqual([200, false]);
    const { token } = (await w.call('POST', '/v1/auth/login', { body: { email: grace.email, password: body.new_password } })).body;
    const again = await security(key, token, body);
    expect([again.status, isReplay(again), again.body]).toEqual([200, true, first.body]);
    expect((await security(key, token, { ...body, new_password: 'another one altogether' })).body.code).toBe('idempotency_conflict');
    expect((await w.call('GET', '/v1/account/me', { key: token })).status).toBe(200);
    const record = JSON.stringify(await dumpTable(w.env.DB, 'claims', 'key = ?', key));
    expect(record).toContain(key);
    expect(record).not.toContain('staple');
  });

  it('password change and account deletion validate the key', async () => {
    const grace = await w.merchant();
    const refused = await security('has a space', grace.token, { new_password: 'battery staple horse' });
    expect([refused.status, refused.body.code]).toEqual([400, 'idempotency_key_invalid']);
    const remove = (key: string) => w.call('DELETE', '/v1/account/account', { key: grace.token, ...under(key) });
    expect((await remove('short')).body.code).toBe('idempotency_key_required');
    const key = newKey();
    expect((await remove(key)).status).toBe(200);
    expect((await remove(key)).body.code).toBe('account_deleted');
  });
});

describe('stored answer with a lost seal key', () => {
  it('an answer that cannot be opened is 409 answer_lost, and the request has no second effect', async () => {
    const [name, key] = [`key ${newKey()}`, newKey()];
    const create = (SEAL_KEYS: string) =>
      w.call('POST', '/v1/keys', { key: ada.token, body: { name }, ...under(key), env: { ...w.env, SEAL_KEYS } });
    const first = await create(w.env.SEAL_KEYS as string);
    const gone = await create(NEW_SEAL_KEY);
    expect([gone.status, gone.body.code, gone.body.meta.reason]).toEqual([409, 'idempotency_conflict', 'answer_lost']);
    // After a correct rotation the previous key opens the answer.
    const again = await create(`${NEW_SEAL_KEY},${w.env.SEAL_KEYS}`);
    expect([again.status, again.body]).toEqual([201, first.body]);
    const { body: keys } = await w.call('GET', '/v1/keys', { key: ada.token });
    expect(keys.filter((one: { name: string }) => one.name === name)).toHaveLength(1);
  });
});
