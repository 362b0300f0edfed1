import { beforeAll, describe, expect, it } from 'vitest';
import { partitionOf } from '#core/ids.ts';
import { forgetAll } from '#core/isolate/memory.ts';
import { type Env, newCtx } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import { CHANNEL_KEYS, fundChannels } from '../support/chain/live-channel.ts';
import { nameOf, targets } from '../support/clients/document.ts';
import { madeFor } from '../support/fuzz/made.ts';
import { OF_BUYER } from '../support/fuzz/made-buyers.ts';
import { CHANGES_PERSON } from '../support/fuzz/made-factors.ts';
import { asMeant, type Cast, send } from '../support/fuzz/requests.ts';
import { OPERATOR_SECRET, openStaff } from '../support/people/staff.ts';
import { pullerOf, SUBSCRIPTION_KEYS } from '../support/people/subscription-shop.ts';
import { openTenant, type Tenant } from '../support/people/tenant.ts';
import { boundDatabases } from '../support/runner/env.ts';
import { mailConfig } from '../support/servers/mail.ts';
import { World } from '../support/world.ts';

/** Environment that notes each database that is asked. */
function withNotes(env: Env): { env: Env; asked: Set<string> } {
  const asked = new Set<string>();
  const databases = Object.keys(boundDatabases()).map((name) => {
    const database = env[name] as D1Database;
    const note = <T>(run: () => T): T => {
      asked.add(name);
      return run();
    };
    return [
      name,
      {
        prepare: (sql: string) => note(() => database.prepare(sql)),
        batch: (all: D1PreparedStatement[]) => note(() => database.batch(all)),
      },
    ];
  });
  return { env: { ...env, ...Object.fromEntries(databases) }, asked };
}

const FIRST = ['DB'];
const ALL = ['DB', 'DB_2', 'DB_3'];

/** Further databases that a route may ask, with the reason. */
const ALSO: [route: RegExp, databases: string[], reason: string][] = [
  [/\/auth\/wallet(?:\/nonce)?$/, FIRST, 'A wallet signs a nonce before its account is known: nonces are in the first database.'],
  [/\/delivery\/(?:readiness|test|claims)|connectors\/\{provider\}\/claims/, FIRST, 'A chat belongs to one account of all.'],
  [/^GET \/v1\/access\/rails$/, FIRST, 'The operator switches a rail for all accounts.'],
  [/auth\/password\/forgot$/, FIRST, 'The answer must not depend on whether an account has the address.'],
  [
    /account\/(?:email\/(?:verify|disown)|not-me)$|auth\/password\/reset$/,
    FIRST,
    'A link of no account is answered by the first database.',
  ],
  [/account\/passkeys|auth\/(?:passkey|factor|step-up)/, FIRST, 'A ceremony or ticket is used once. The first database notes it.'],
  [/\/v1\/buyer/, ALL, 'A buyer has bought from sellers of all databases. Nonces and used links are in the first.'],
  [/refund-transaction$/, FIRST, 'One walk of the chain serves all: its cursor says whether an earlier refund may be unseen.'],
  [/\/support\/tickets/, ALL, 'Staff answers tickets of all accounts.'],
  [/discovery\/resources$/, ALL, 'The public catalogue lists the products of all accounts.'],
  [/^GET (?:\/v1)?\/health$/, ALL, 'Health names the databases that are away.'],
];

/** Routes that ask no directory: a sale, and what follows it. */
const NO_NAMES =
  /connect$|pay\/confirm$|^GET \/v1\/payments\/\{payment_id\}$|x402\/settle$|entitlements\/consume$|\/cancel$|\/transaction$|\/receipt\/\{receipt_id\}/;

describe('databases that a request asks', () => {
  const w = new World({
    RPC_WEBHOOK_SECRET: 'the-secret-of-the-chain-provider',
    ALLOW_INSECURE_WEBHOOKS: 'true',
    CHANNEL_KEYS,
    SUBSCRIPTION_KEYS,
    OPERATOR_SECRET,
    ...mailConfig(),
  });
  let owner: Tenant;
  let stranger: Tenant;
  beforeAll(async () => {
    await fundChannels(w);
    await w.chain.call('local_fundSol', pullerOf(w), '1000000000');
    owner = await openTenant(w, 'owner-of-the-shop');
    stranger = await openTenant(w, 'a-stranger-to-it');
  }, 60_000);

  const homeNamed = (id: string): string => homeOf(newCtx(w.env, { requestId: 'req_bindings', defer: () => {} }), id).database;
  const makeCaller = async (path: string): Promise<Tenant> => {
    if (path.endsWith('/resolve')) return { ...owner, merchant: await openStaff(w) };
    const isSpare = /\/account\/(?:account|me\/security)$|\/activate\//.test(path) || CHANGES_PERSON.test(path) || OF_BUYER.test(path);
    return isSpare ? { ...owner, merchant: await w.merchant('free') } : owner;
  };
  const isLast = ({ method, path }: { method: string; path: string }) =>
    method === 'DELETE' || /\/(?:archive|security|logout|approve|rail-settings)/.test(path) || method === 'PATCH';
  const ordered = [...targets.filter((target) => !isLast(target)), ...targets.filter(isLast)];

  it('the two tenants of this test are in different databases, and the caller is not in the first', () => {
    const homes = [owner, stranger].map(({ merchant }) => homeNamed(merchant.userId));
    expect([new Set(homes).size, homeNamed(owner.merchant.userId) === 'DB']).toEqual([2, false]);
  });

  it.each(ordered.map((target) => [nameOf(target), target] as const))('%s asks only the home and the directory', async (name, target) => {
    const caller = await makeCaller(target.path);
    const cast: Cast = { owner: caller, stranger, made: await madeFor(w, name, caller) };
    const plan = asMeant(target, cast);
    const { env } = w;
    forgetAll();
    // The configuration of a new isolate asks the first database and the directory.
    await w.call('GET', '/v1/access/rails');
    const noted = withNotes(env);
    w.env = noted.env;
    const { answer } = await send(w, target, plan, cast, Number.POSITIVE_INFINITY, () => {});
    w.env = env;
    const made = Object.values((answer.body ?? {}) as Record<string, unknown>).filter((value) => typeof value === 'string');
    const ids = [caller.merchant.userId, ...Object.values(plan.params), ...made].filter((id) => partitionOf(id) !== null);
    const [, also = []] = ALSO.find(([route]) => route.test(name)) ?? [];
    const homes = new Set([...ids.map(homeNamed), ...also]);
    expect([answer.status, [...noted.asked].filter((database) => !homes.has(database) && database !== 'DIRECTORY')]).toEqual([
      answer.status,
      [],
    ]);
    if (NO_NAMES.test(name)) expect([...noted.asked]).not.toContain('DIRECTORY');
    const key = plan.headers['Idempotency-Key'];
    if (key !== undefined && answer.status < 300)
      for (const [database, bound] of Object.entries(boundDatabases())) {
        const { results } = await bound.prepare('SELECT key FROM claims WHERE key = ?').bind(key).all();
        if (results.length > 0) expect(homes, `${name} stores its answer where its effect is`).toContain(database);
      }
    w.queue.sent.length = 0;
    w.attempts.length = 0;
  });

  it('a plain consume asks no database', async () => {
    const { live } = owner;
    const body = { product_id: live.product_id, customer: { customer_ref: 'a-plain-caller' } };
    const grant = { ...body, units: 5, reason: 'a gift' };
    const headers = () => ({ 'Idempotency-Key': crypto.randomUUID() });
    const { key } = owner.merchant;
    expect((await w.call('POST', '/v1/access/entitlements/grant', { key, body: grant, headers: headers() })).status).toBe(200);
    const noted = withNotes(w.env);
    const consumed = await w.call('POST', '/v1/access/entitlements/consume', { key, body, headers: headers(), env: noted.env });
    expect([consumed.status, [...noted.asked]]).toEqual([200, []]);
  });
});
