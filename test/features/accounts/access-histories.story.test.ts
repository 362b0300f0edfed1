import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Env } from '#platform/context.ts';
import type { GivenRole } from '#rules/access/roles.ts';
import { tokenSignedIn } from '../../support/clients/session.ts';
import { withFaults } from '../../support/faults/faults.ts';
import type { Authenticator } from '../../support/people/authenticator.ts';
import { addPasskey } from '../../support/people/factors.ts';
import { actingToken, join } from '../../support/people/team.ts';
import { SOAK, testEnv } from '../../support/runner/env.ts';
import { MailWorld, verifyAddress } from '../../support/servers/mail.ts';
import type { Merchant } from '../../support/world.ts';

const HISTORIES = 25 * SOAK;
const w = new MailWorld();

interface Session {
  by: Member | null;
  token: string;
  isOpen: boolean;
}

interface Key {
  id: string;
  raw: string;
  reads: 'all' | 'products' | 'receipts';
  isRevoked: boolean;
}

/** Person who is not the owner. */
interface Member {
  own: Merchant;
  role: GivenRole | null;
  passkey: Authenticator | null;
}

/** Account as the model knows it. */
interface Shop {
  owner: Merchant;
  members: Member[];
  sessions: Session[];
  keys: Key[];
}

/** `n` chooses the object. `env` may lose a connection. Each act is repeated until it is answered, as a client repeats it. */
type Act = (shop: Shop, n: number, env: Env) => Promise<void>;

const pick = <T>(items: readonly T[], n: number): T | undefined => items[n % Math.max(items.length, 1)];
const ROLES: GivenRole[] = ['admin', 'developer', 'finance', 'support', 'viewer'];
const MAY_READ_LOG: (GivenRole | null)[] = ['admin'];
const openOf = ({ sessions }: Shop, by: Member | null) => sessions.filter((session) => session.isOpen && session.by === by);
const memberAt = ({ members }: Shop, n: number) => members[n % members.length]!;

/** Calls with the faulty environment, then with the real one until the service answers. */
async function insist(env: Env, method: string, path: string, { key, body }: { key: string; body?: object }) {
  // The other acts have one effect by their own nature. A lost key would be leased for a while.
  const headers = path === '/v1/keys' ? { 'Idempotency-Key': crypto.randomUUID() } : undefined;
  let answer = await w.call(method, path, { key, body, headers, env });
  for (let tries = 0; tries < 3 && answer.status >= 500; tries++) answer = await w.call(method, path, { key, body, headers });
  return answer;
}

/** Signs in by passkey, which a person with one must use. */
async function signInWith(device: Authenticator): Promise<string> {
  const { body: begun } = await w.call('POST', '/v1/auth/passkey/options', { body: {} });
  const response = await device.get(begun.options);
  return (await w.call('POST', '/v1/auth/passkey', { body: { ceremony_id: begun.ceremony_id, response } })).body.token;
}

const ACTS: Record<string, Act> = {
  signIn: async (shop, n) => {
    const by = n % 3 === 2 ? null : memberAt(shop, n);
    if (by?.role === null) return;
    const token = await (by?.passkey ? signInWith(by.passkey) : tokenSignedIn(w, (by?.own ?? shop.owner).userId, 0));
    shop.sessions.push({ by, token: by ? await actingToken(w, { token }, shop.owner) : token, isOpen: true });
  },
  endThis: async (shop, n, env) => {
    const session = pick(
      shop.sessions.filter(({ isOpen, by }) => isOpen && by !== null),
      n,
    );
    if (!session) return;
    await insist(env, 'POST', '/v1/auth/logout', { key: session.token, body: { end: 'session' } });
    session.isOpen = false;
  },
  endOthers: async (shop, n, env) => {
    const by = memberAt(shop, n);
    const [current, ...others] = openOf(shop, by);
    if (!current || by.role === null) return;
    expect((await insist(env, 'DELETE', '/v1/account/sessions', { key: current.token })).status).toBe(200);
    for (const session of others) session.isOpen = false;
  },
  endAll: async (shop, n, env) => {
    const by = memberAt(shop, n);
    const [current] = openOf(shop, by);
    if (!current || by.role === null) return;
    await insist(env, 'POST', '/v1/auth/logout', { key: current.token, body: { end: 'all' } });
    for (const session of openOf(shop, by)) session.isOpen = false;
  },
  changeRole: async (shop, n, env) => {
    const member = memberAt(shop, n);
    if (member.role === null) return;
    const role = ROLES[n % ROLES.length]!;
    const path = `/v1/account/members/${member.own.userId}`;
    expect((await insist(env, 'PATCH', path, { key: shop.owner.token, body: { role } })).status).toBe(200);
    member.role = role;
  },
  remove: async (shop, n, env) => {
    const member = memberAt(shop, n);
    if (member.role === null) return;
    const removed = await insist(env, 'DELETE', `/v1/account/members/${member.own.userId}`, { key: shop.owner.token });
    expect([204, 404]).toContain(removed.status);
    member.role = null;
  },
  joinAgain: async (shop, n) => {
    const member = memberAt(shop, n);
    if (member.role !== null) return;
    await join(w, shop.owner, member.own, 'support');
    member.role = 'support';
  },
  createKey: async (shop, n, env) => {
    const reads = (['all', 'products', 'receipts'] as const)[n % 3]!;
    const body = { name: 'key', ...(reads === 'all' ? {} : { scopes: [`${reads}:read`] }) };
    const made = await insist(env, 'POST', '/v1/keys', { key: shop.owner.token, body });
    if (made.body.code === 'plan_limit_reached') return;
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    shop.keys.push({ id: made.body.key.id, raw: made.body.raw_key, reads, isRevoked: false });
  },
  narrowKey: async (shop, n, env) => {
    const key = pick(
      shop.keys.filter(({ isRevoked, reads }) => !isRevoked && reads === 'all'),
      n,
    );
    if (!key) return;
    const body = { scopes: ['receipts:read'] };
    expect((await insist(env, 'PATCH', `/v1/keys/${key.id}`, { key: shop.owner.token, body })).status).toBe(200);
    key.reads = 'receipts';
  },
  revokeKey: async (shop, n, env) => {
    const key = pick(
      shop.keys.filter(({ isRevoked }) => !isRevoked),
      n,
    );
    if (!key) return;
    const revoked = await insist(env, 'DELETE', `/v1/keys/${key.id}`, { key: shop.owner.token });
    expect([204, 404], JSON.stringify(revoked.body)).toContain(revoked.status);
    key.isRevoked = true;
  },
  addPasskey: async (shop, n) => {
    const member = memberAt(shop, n);
    if (member.passkey) return;
    member.passkey = (await addPasskey(w, await tokenSignedIn(w, member.own.userId, 0))).device;
  },
};

/** Environment that loses its connection at one trip, before the database has the request or after it has answered. */
function losing(at: number, isLost: 'before' | 'after' | 'never'): Env {
  if (isLost === 'never') return w.env;
  return withFaults(w.env, { [isLost]: ({ number }: { number: number }) => number === at }).env;
}

async function open(): Promise<Shop> {
  const owner = await w.merchant('scale');
  const members = await Promise.all(
    ROLES.slice(0, 2).map(async (role) => {
      const own = await w.merchant('free');
      await verifyAddress(w, own);
      await join(w, owner, own, role);
      return { own, role, passkey: null };
    }),
  );
  return { owner, members, sessions: [], keys: [] };
}

/** Compares what each credential that was ever issued may do with the model. */
async function checkAll(shop: Shop, seen: string): Promise<void> {
  for (const { by, token, isOpen } of shop.sessions) {
    const isIn = isOpen && (by === null || by.role !== null);
    const [me, log] = await Promise.all(
      ['/v1/account/me', '/v1/account/audit-log?per_page=1'].map((path) => w.call('GET', path, { key: token })),
    );
    const mayRead = by === null || MAY_READ_LOG.includes(by.role);
    expect([me!.status, log!.status], seen).toEqual(isIn ? [200, mayRead ? 200 : 403] : [401, 401]);
  }
  for (const { raw, reads, isRevoked } of shop.keys) {
    const { status } = await w.call('GET', '/v1/products', { key: raw });
    expect(status, seen).toBe(isRevoked ? 401 : reads === 'receipts' ? 403 : 200);
  }
}

const counted = async (sql: string, ...values: unknown[]) =>
  (await testEnv.DB.prepare(sql)
    .bind(...values)
    .first<number>('n')) ?? 0;

describe('histories of access', () => {
  it('no ended session, removed member, revoked or narrowed key is let in, and no sign-in method lacks an entry and an email', async () => {
    const step = fc.tuple(
      fc.constantFrom(...Object.keys(ACTS)),
      fc.nat({ max: 29 }),
      fc.integer({ min: 1, max: 8 }),
      fc.constantFrom('never' as const, 'before' as const, 'after' as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (history) => {
        const shop = await open();
        const seen = JSON.stringify(history);
        for (const [name, n, at, isLost] of history) {
          await ACTS[name]!(shop, n, losing(at, isLost));
          await checkAll(shop, seen);
        }
        for (const { own, passkey } of shop.members) {
          const entries = await counted(
            "SELECT count(*) AS n FROM audit_entries WHERE merchant_id = ? AND action = 'person.passkey_added'",
            own.userId,
          );
          const emails = await counted(
            "SELECT count(*) AS n FROM mails WHERE account_id = ? AND template = 'security_alert' AND facts LIKE '%passkey_added%'",
            own.userId,
          );
          expect([entries, emails], seen).toEqual(passkey ? [1, 1] : [0, 0]);
        }
        const made = await counted(
          "SELECT count(*) AS n FROM audit_entries WHERE merchant_id = ? AND action = 'key.created'",
          shop.owner.userId,
        );
        expect(made, seen).toBeGreaterThanOrEqual(shop.keys.length);
      }),
      { numRuns: HISTORIES },
    );
  });
});
