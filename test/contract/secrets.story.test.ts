import { listDurableObjectIds, runInDurableObject } from 'cloudflare:test';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { base64, hex, utf8 } from '#core/encoding.ts';
import { exampleOf, nameOf, pathOf, schemaOfBody, targets } from '../support/clients/document.ts';
import { dumpTable, listTables } from '../support/fixtures/database-dump.ts';
import { newAgent, newKey, sellToAgents } from '../support/people/agent.ts';
import { Setup } from '../support/people/bootstrap.ts';
import { consumer, received } from '../support/people/consumer.ts';
import { addApp, addPasskey, newTicket, stepUpWith } from '../support/people/factors.ts';
import { inviteTo } from '../support/people/team.ts';
import { openTenant, type Tenant } from '../support/people/tenant.ts';
import { testEnv } from '../support/runner/env.ts';
import { emailedToken, MailWorld, verifyAddress } from '../support/servers/mail.ts';
import type { Answer, CallOptions } from '../support/world.ts';

const PASSWORD = 'correct horse battery';
const NEW_PASSWORD = 'staple of a quite different sort';
const OPERATOR_SECRET = 'the secret of an operator in a test';
const VARIABLES =
  /^(?:PEPPER|JWT_KEYS|RECEIPT_KEYS|EMAIL_LINK_KEYS|SANDBOX_SEED|SEAL_KEYS|FACTOR_KEYS|FEE_PAYER_KEYS|CHALLENGE_KEYS|CHANNEL_KEYS|SUBSCRIPTION_KEYS|HANDOFF_SECRETS|OPERATOR_SECRET|RPC_WEBHOOK_SECRET|\w+_CONNECTOR_SECRETS|\w+_BOT_TOKEN)$/;

const OBJECTS = ['ADMISSION', 'ENTITLEMENT'] as const;
const listObjects = async (binding: (typeof OBJECTS)[number]): Promise<DurableObjectId[]> =>
  listDurableObjectIds(testEnv[binding] as unknown as DurableObjectNamespace);
/** Object names of earlier test files, which stay listed and are empty. */
const former = new Set((await Promise.all(OBJECTS.map(listObjects))).flat().map(String));

interface Secret {
  name: string;
  value: string;
  /** Calls that returned the secret. Two sign-ins within a second return the same token. */
  issuedBy: string[];
}
interface Said {
  call: string;
  isReplay: boolean;
  text: string;
}

/** Returns the encodings of a secret: plain, URL, base64 and hex. The prefix of its kind is not secret. */
const formsOf = (value: string): string[] => {
  const bare = value.replace(/^(?:whsec_|svc_live_|svc_test_)/, '');
  return [bare, encodeURIComponent(bare), base64.encode(utf8(value)).replace(/=+$/, ''), hex.encode(utf8(value))];
};

const ISSUING = /^(?:raw_key|token|secret|setup_secret|sandbox_api_key|live_api_key|handoff_token|ticket)$/;
function* issuedIn(body: unknown): Generator<[string, string]> {
  if (typeof body !== 'object' || body === null) return;
  for (const [name, value] of Object.entries(body)) {
    if (ISSUING.test(name) && typeof value === 'string' && !value.startsWith('<')) yield [name, value];
    if (name === 'recovery_codes' && Array.isArray(value)) for (const code of value) yield [name, String(code)];
    yield* issuedIn(value);
  }
}

describe('issued, displayed and configured secrets', () => {
  const w = new MailWorld({
    ALLOW_INSECURE_WEBHOOKS: 'true',
    OPERATOR_SECRET,
    RPC_WEBHOOK_SECRET: 'the-secret-of-the-chain-provider',
  });
  const secrets: Secret[] = [
    { name: 'a password', value: PASSWORD, issuedBy: [] },
    { name: 'a new password', value: NEW_PASSWORD, issuedBy: [] },
  ];
  const said: Said[] = [];
  const logged: string[] = [];
  const sentOut: string[] = [];
  let owner: Tenant;

  const listen = () => {
    for (const level of ['log', 'info', 'warn', 'error', 'debug'] as const)
      vi.spyOn(console, level).mockImplementation((...parts: unknown[]) => void logged.push(parts.map(String).join(' ')));
    const network = globalThis.fetch;
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (...request) => {
      const asked = new Request(...request);
      sentOut.push(`${asked.url} ${JSON.stringify([...asked.headers])} ${await asked.clone().text()}`);
      return network(...request);
    });
    const call = w.call.bind(w);
    w.call = async (method: string, path: string, options: CallOptions = {}): Promise<Answer<never>> => {
      const answer = await call<never>(method, path, options);
      const name = `${method} ${path} ${answer.headers.get('X-Svc-Request-Id')}`;
      const isReplay = answer.headers.has('Idempotent-Replayed');
      said.push({ call: name, isReplay, text: `${JSON.stringify(answer.body)} ${JSON.stringify([...answer.headers])}` });
      for (const [field, value] of issuedIn(answer.body)) {
        const known = secrets.find((secret) => secret.value === value);
        if (!known) secrets.push({ name: `${field} of ${method} ${path}`, value, issuedBy: [name] });
        else if (field === 'token') known.issuedBy.push(name);
      }
      return answer;
    };
  };

  beforeAll(async () => {
    listen();
    for (const [name, value] of Object.entries(w.env))
      if (VARIABLES.test(name)) for (const one of String(value).split(',')) secrets.push({ name, value: one, issuedBy: [] });
    owner = await openTenant(w, 'keeper');
    secrets.push({ name: 'token of the owner', value: owner.merchant.token, issuedBy: [] });
    await live();
    await askEverything();
    await w.deliver();
    await w.attempt();
    await w.sweep();
  }, 120_000);
  afterAll(() => vi.restoreAllMocks());

  async function useFactors(): Promise<void> {
    const person = await w.merchant();
    const { codes } = await addApp(w, person.token);
    const [code, other] = codes!;
    await w.call('POST', '/v1/auth/factor', { body: { ticket: await newTicket(w, person), recovery_code: code } });
    await w.call('POST', '/v1/auth/factor', { body: { ticket: `${await newTicket(w, person)}x`, recovery_code: other } });
    await addPasskey(w, await stepUpWith(w, person.token, { recovery_code: other }));
    const verifying = await emailedToken(w, person.userId, 'verify');
    await w.call('POST', '/v1/account/email/verify', { body: { token: verifying } });
    const inviter = await w.merchant();
    await verifyAddress(w, inviter);
    const { token: inviting } = await inviteTo(w, inviter, `invited-${crypto.randomUUID()}@example.com`);
    await w.call('POST', '/v1/invitations/preview', { body: { token: inviting } });
    const resetting = await emailedToken(w, person.userId, 'reset');
    await w.call('POST', '/v1/auth/password/reset', { body: { token: `${resetting}x`, new_password: NEW_PASSWORD } });
    await w.call('POST', '/v1/auth/password/reset', { body: { token: resetting, new_password: NEW_PASSWORD } });
    for (const value of [verifying, inviting, resetting]) secrets.push({ name: 'token of an email', value, issuedBy: [] });
  }

  async function live(): Promise<void> {
    await useFactors();
    const { merchant } = owner;
    const email = `person-${crypto.randomUUID()}@example.com`;
    const { body: person } = await w.call('POST', '/v1/auth/register', { body: { email, password: PASSWORD, display_name: 'Person' } });
    await w.call('POST', '/v1/auth/login', { body: { email, password: PASSWORD } });
    await w.call('POST', '/v1/auth/login', { body: { email, password: NEW_PASSWORD } });
    await w.call('POST', '/v1/auth/refresh', { body: { token: person.token } });
    const change = { current_password: PASSWORD, new_password: NEW_PASSWORD };
    await w.call('PATCH', '/v1/account/me/security', { key: person.token, body: change });
    // A secret in a malformed request is refused without repeating it.
    await w.call('POST', '/v1/auth/login', { raw: `{"email":"${email}","password":"${NEW_PASSWORD}"` });
    await w.call('POST', '/v1/auth/login', { body: { email: [NEW_PASSWORD], password: { is: NEW_PASSWORD } } });
    await w.call('GET', '/v1/payments', { key: `${merchant.key}x` });
    await w.call('GET', `/v1/payments/${merchant.key}?key=${merchant.key}&mode=${merchant.token}`, { key: merchant.token });
    await w.call('GET', '/v1/nothing-here', { headers: { Authorization: `Basic ${merchant.key}`, 'User-Agent': merchant.key } });
    const headers = { 'Idempotency-Key': newKey() };
    for (let i = 0; i < 2; i++) await w.call('POST', '/v1/keys', { key: merchant.token, headers, body: { name: 'twice' } });
    const mine = await consumer(w, merchant, 'ok', {});
    await w.call('POST', `/v1/webhooks/endpoints/${mine.id}/rotate-secret`, { key: merchant.key, body: {} });
    await w.call('POST', `/v1/webhooks/endpoints/${mine.id}/test`, { key: merchant.key, body: {} });
    sentOut.push(JSON.stringify(await received(mine)));
    const setup = await (await Setup.create(w)).ready();
    await setup.approveLive();
    const product = await sellToAgents(w, merchant);
    const handoff = await w.call('POST', `/v1/products/${product.product_id}/handoffs`, { key: merchant.key, body: {} });
    await w.connect(product, { handoff_token: handoff.body.handoff_token });
    const agent = await newAgent(w);
    const customer = { wallet_address: agent.wallet.address };
    const denied = await w.call('POST', '/v1/access/entitlements/consume', {
      key: merchant.key,
      body: { product_id: product.product_id, customer },
      headers: { 'Idempotency-Key': newKey() },
    });
    const payment_signature = await agent.pay(denied.headers.get('PAYMENT-REQUIRED')!);
    const body = { product_id: product.product_id, payment_signature };
    await w.call('POST', '/v1/access/x402/settle', { key: merchant.key, body, headers: { 'Idempotency-Key': newKey() } });
  }

  async function askEverything(): Promise<void> {
    const isLast = (path: string) => /\/account\/account$/.test(path);
    for (const target of [...targets.filter(({ path }) => !isLast(path)), ...targets.filter(({ path }) => isLast(path))]) {
      const schema = schemaOfBody(target.operation);
      for (const key of [owner.merchant.key, owner.merchant.token]) {
        const options = { key, headers: { 'Idempotency-Key': newKey() }, ...(schema ? { body: exampleOf(schema, owner.live) } : {}) };
        await w.call(target.method, pathOf(target, owner.live), options);
      }
    }
  }

  const foundIn = (text: string, isMeant: (secret: Secret) => boolean = () => false): string[] =>
    secrets.filter((secret) => !isMeant(secret) && formsOf(secret.value).some((form) => text.includes(form))).map(({ name }) => name);

  it('the collected secrets include every kind', () => {
    const fields = new Set(secrets.map(({ name }) => name.split(' ')[0]));
    for (const field of [
      'raw_key',
      'token',
      'secret',
      'setup_secret',
      'handoff_token',
      'recovery_codes',
      'ticket',
      'PEPPER',
      'SEAL_KEYS',
      'DISCORD_CONNECTOR_SECRETS',
    ])
      expect([...fields]).toContain(field);
    expect(said.length).toBeGreaterThan(2 * targets.length);
    expect(logged.length).toBeGreaterThan(targets.length);
    expect(new Set(said.map(({ call }) => call.split(' ')[0])).size, nameOf(targets[0]!)).toBeGreaterThan(3);
  });

  it('no answer contains a secret except the issuing one and its replay', () => {
    const pathOfCall = (call: string) => call.split(' ').slice(0, 2).join(' ');
    for (const { call, isReplay, text } of said) {
      const isOwn = ({ issuedBy }: Secret) => issuedBy.some((one) => one === call || (isReplay && pathOfCall(one) === pathOfCall(call)));
      expect(foundIn(text, isOwn), `${call} ${text}`).toEqual([]);
    }
  });

  it('no log line contains a secret', () => {
    for (const line of logged) expect(foundIn(line), line).toEqual([]);
  });

  it('no outgoing request and no queue message contains a secret', () => {
    // The bot token may go to its own platform in the documented position, and to no other server.
    const asItsBot = (text: string) =>
      text
        .replaceAll(`${w.env.TELEGRAM_API_URL}/bot${w.env.TELEGRAM_BOT_TOKEN}/`, '')
        .replaceAll(new RegExp(`^${w.env.DISCORD_API_URL}/.*Bot ${w.env.DISCORD_BOT_TOKEN}`, 'g'), '');
    const queues = [w.queue.sent, w.attempts, w.placements].map((held) => JSON.stringify(held));
    for (const text of [...sentOut.map(asItsBot), ...queues]) expect(foundIn(text), text).toEqual([]);
  });

  it('no database row contains a secret', async () => {
    const tables = await listTables(testEnv.DB);
    expect(tables.length).toBeGreaterThan(20);
    for (const table of tables) {
      for (const row of await dumpTable(testEnv.DB, table))
        expect(foundIn(textOf(Object.values(row))), `${table} ${JSON.stringify(row)}`).toEqual([]);
    }
  });

  it.each(OBJECTS)('no storage of a %s object contains a secret', async (binding) => {
    const objects = testEnv[binding] as unknown as DurableObjectNamespace;
    const ids = (await listObjects(binding)).filter((id) => !former.has(String(id)));
    expect(ids.length).toBeGreaterThan(1);
    for (const id of ids) {
      const text = await runInDurableObject(objects.get(id), (_, { storage }) => storedIn(storage));
      expect(foundIn(text), `${binding} ${id}`).toEqual([]);
    }
  });
});

const textOf = (values: unknown[]): string =>
  values
    .map((value) => (value instanceof ArrayBuffer || Array.isArray(value) ? latin1(new Uint8Array(value as ArrayBuffer)) : String(value)))
    .join('\n');
const latin1 = (bytes: Uint8Array): string => Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');

function storedIn({ sql }: DurableObjectStorage): string {
  const tables = sql
    .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'")
    .toArray();
  return tables.flatMap(({ name }) => [...sql.exec(`SELECT * FROM "${name}"`)].map((row) => textOf(Object.values(row)))).join('\n');
}
