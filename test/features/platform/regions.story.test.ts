import { beforeAll, describe, expect, it } from 'vitest';
import { admissionIdOf } from '#core/ids.ts';
import type { Env } from '#platform/context.ts';
import { entitlementObjectName } from '#platform/objects.ts';
import type { EntitlementKey } from '#rules/balance.ts';
import { ConsumeForwarder } from '../../../durable-objects/consume-forwarder.ts';
import { CHANNEL_KEYS, fundChannels, LiveShop } from '../../support/chain/live-channel.ts';
import { bindDatabases, openOnly } from '../../support/fixtures/databases.ts';
import { newAgent, sellToAgents, stall } from '../../support/people/agent.ts';
import { testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

const DATABASES = 'DB:enam DB_2:apac DB_3:weur';
const at = (continent: string, longitude: string) => ({ continent, longitude }) as IncomingRequestCfProperties;
const TOKYO = at('AS', '139.69');
const OBJECTS = ['ADMISSION', 'ENTITLEMENT', 'METERED_SESSION'] as const;

interface Opened {
  binding: string;
  name: string;
  hint: string | undefined;
}

/** Environment that records the name and location hint of each object that the service calls. */
function withSpies(env: Env): { env: Env; opened: Opened[] } {
  const opened: Opened[] = [];
  const spies = OBJECTS.map((binding) => {
    const getByName = (name: string, options?: DurableObjectNamespaceGetDurableObjectOptions) => {
      opened.push({ binding, name, hint: options?.locationHint });
      return env[binding].getByName(name, options);
    };
    return [binding, { getByName }];
  });
  return { env: { ...env, ...Object.fromEntries(spies) }, opened };
}

describe('regions of databases', () => {
  const w = new World({ CHANNEL_KEYS });
  beforeAll(async () => {
    await bindDatabases(w, 'DB_2', 'DB_3');
    w.env = { ...w.env, DATABASES };
  });
  const register = (fields: object = {}, env: Env = w.env, cf = TOKYO) => {
    const body = { email: `${crypto.randomUUID()}@example.com`, password: 'correct horse battery', display_name: 'Ada', ...fields };
    return w.call('POST', '/v1/auth/register', { body, env, cf });
  };
  const readRegion = async ({ body }: { body: { token: string } }) =>
    (await w.call('GET', '/v1/account/me', { key: body.token })).body.region;

  it('an account is created in the region of its caller', async () => {
    for (let i = 0; i < 5; i++) {
      const account = await register();
      expect(await readRegion(account)).toBe('apac');
      const { results } = await testEnv.TEST_DB_2.prepare('SELECT id FROM accounts WHERE id = ?').bind(account.body.user_id).all();
      expect(results).toHaveLength(1);
    }
    expect(await readRegion(await register({}, w.env, at('EU', '2.35')))).toBe('weur');
  });

  it('the region that its owner chooses wins over that of the caller', async () => {
    expect(await readRegion(await register({ region: 'enam' }))).toBe('enam');
    const setup = await w.call('POST', '/v1/access/agent-bootstrap', { body: { agent_name: 'Agent', region: 'weur' }, cf: TOKYO });
    expect((await w.call('GET', '/v1/account/me', { key: setup.body.sandbox_api_key })).body.region).toBe('weur');
  });

  it('a region without an open database is refused, and the answer names the others', async () => {
    const env = { ...w.env, OPEN_DATABASES: 'DB DB_3' };
    const refused = await register({ region: 'apac' }, env);
    expect([refused.status, refused.body.code]).toEqual([422, 'validation_error']);
    expect(JSON.stringify(refused.body)).toContain('Choose one of: enam, weur');
    const none = await register({ region: 'apac' }, { ...w.env, DATABASES: '' });
    expect([none.status, JSON.stringify(none.body).includes('Omit the field')]).toEqual([422, true]);
  });

  it('a caller of a region without an open database gets an account in another one', async () => {
    const account = await register({}, { ...w.env, OPEN_DATABASES: 'DB DB_3' });
    expect(['enam', 'weur']).toContain(await readRegion(account));
  });

  it('a deployment without regions names none', async () => {
    const { body } = await register({}, { ...w.env, DATABASES: '' });
    expect((await w.call('GET', '/v1/account/me', { key: body.token, env: { ...w.env, DATABASES: '' } })).body.region).toBeUndefined();
  });

  it('each object of a new account is created with the hint of its region', async () => {
    const spied = withSpies(w.env);
    w.env = spied.env;
    openOnly(w, 'DB_2');
    await fundChannels(w);
    const merchant = await w.merchant();
    const shop = stall(w, merchant, await sellToAgents(w, merchant, { usage_units: 10 }), await newAgent(w));
    await w.purchase(shop.product, shop.agent.wallet);
    await w.deliver();
    const customer = { customer_ref: 'agent' };
    expect((await shop.settle(await shop.pay({ customer }), { customer })).status).toBe(200);
    expect((await shop.consume()).status).toBe(200);
    expect((await shop.grant({ units: 2 })).status).toBe(200);
    const channel = await LiveShop.make(w, { merchant });
    expect((await channel.authorize(await channel.pull())).status).toBe(200);
    await w.deliver();
    await w.sweepAll();
    const isOfAccount = ({ name }: Opened) =>
      name === `account:${admissionIdOf(merchant.userId)}` || name.startsWith(merchant.userId) || /^(?:ms_|channel:)/.test(name);
    const own = spied.opened.filter(isOfAccount);
    expect(new Set(own.map(({ binding }) => binding))).toEqual(new Set(OBJECTS));
    expect(own.some(({ name }) => name.startsWith('channel:'))).toBe(true);
    expect(own.filter(({ hint }) => hint !== 'apac')).toEqual([]);
    const ofNobody = spied.opened.filter(({ name }) => /^(?:ip|message|fees):/.test(name));
    expect(ofNobody.filter(({ hint }) => hint !== undefined)).toEqual([]);
  });

  it('the object of an account forwards a use with the hint of the account’s region', async () => {
    openOnly(w, 'DB_3');
    const { userId } = await w.merchant();
    const hints: unknown[] = [];
    const ENTITLEMENT = { getByName: (...named: unknown[]) => void hints.push(named) } as unknown as Env['ENTITLEMENT'];
    const forwarder = new ConsumeForwarder({ ...w.env, ENTITLEMENT });
    const identity: EntitlementKey = forwarder.keyOf(userId, true, 'product', { customerRef: 'agent' });
    await forwarder.use(identity, { key: 'one', fingerprint: '', now: Date.now(), units: 1 });
    expect(hints).toEqual([[entitlementObjectName(identity, identity.entitlementId), { locationHint: 'weur' }]]);
  });
});
