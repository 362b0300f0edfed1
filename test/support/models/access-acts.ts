import { expect } from 'vitest';
import type { ApiError } from '#core/errors.ts';
import type { AccountId } from '#core/ids.ts';
import { notMeToken } from '#features/accounts/not-me/link.ts';
import { getAccount } from '#features/accounts/store.ts';
import { type Env, newCtx } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import type { GivenRole, Role } from '#rules/access/roles.ts';
import { tokenSignedIn } from '../clients/session.ts';
import { Authenticator } from '../people/authenticator.ts';
import type { App } from '../people/authenticator-app.ts';
import { addApp, beginPasskey, logInAgain } from '../people/factors.ts';
import { actingToken, join } from '../people/team.ts';
import { MailWorld } from '../servers/mail.ts';
import type { Merchant } from '../world.ts';

export const accessWorld = new MailWorld();
const w = accessWorld;

type Method = 'passkey_added' | 'passkey_removed' | 'totp_added' | 'totp_removed';

/** Person as the model knows it. Times in epoch ms. */
export interface ModelPerson {
  own: Merchant;
  role: Role | null;
  joinedAt: number;
  roleAt: number;
  hasPassword: boolean;
  passkey: { device: Authenticator; id: string; at: number } | null;
  app: { app: App; at: number } | null;
  /** Number of changes that an email must report. */
  emailed: Record<Method, number>;
  /** Those that an entry must report. The log of an account that was handed over shows its members nothing of the former owner's sign-in. */
  entered: Record<Method, number>;
  /** Newest change that the person can dispute. */
  disputable: { change: 'passkey_added' | 'totp_added'; at: number; isUsed: boolean } | null;
}

interface ModelSession {
  by: ModelPerson;
  token: string;
  isOpen: boolean;
  /** True if the session began with a factor. */
  isProven: boolean;
  passkeyId: string | null;
}

interface ModelKey {
  id: string;
  raw: string;
  by: ModelPerson;
  at: number;
  reads: 'all' | 'products' | 'receipts';
  isRevoked: boolean;
  isRolled: boolean;
}

/** Account as the model knows it. Its id is that of the first owner. */
export interface ModelAccount {
  userId: string;
  people: ModelPerson[];
  sessions: ModelSession[];
  keys: ModelKey[];
  transfers: number;
}

/** `n` chooses the object. `env` may lose a connection. Each act is repeated until it is answered, as a client repeats it. */
type Act = (account: ModelAccount, n: number, env: Env) => Promise<void>;

const pick = <T>(items: readonly T[], n: number): T | undefined => items[n % Math.max(items.length, 1)];
export const GIVEN_ROLES: GivenRole[] = ['admin', 'developer', 'finance', 'support', 'viewer'];
const MAKES_KEYS: (Role | null)[] = ['owner', 'admin', 'developer'];
const isMember = ({ role }: ModelPerson): boolean => role !== null;
const ownerIn = ({ people }: ModelAccount): ModelPerson => people.find(({ role }) => role === 'owner')!;
const memberAt = ({ people }: ModelAccount, n: number) =>
  pick(
    people.filter(({ role }) => role !== null && role !== 'owner'),
    n,
  );
const hasFactor = ({ passkey, app }: ModelPerson): boolean => passkey !== null || app !== null;
const openSessionsOf = ({ sessions }: ModelAccount, by: ModelPerson) => sessions.filter((one) => one.isOpen && one.by === by);
const endSessions = (account: ModelAccount, by: ModelPerson) => {
  for (const session of openSessionsOf(account, by)) session.isOpen = false;
};

/** Calls with the faulty environment, then with the real one until the service answers. */
async function insist(env: Env, method: string, path: string, { key, body }: { key?: string; body?: object }) {
  // The other acts have one effect by their own nature. A lost key would be leased for a while.
  const headers = path === '/v1/keys' ? { 'Idempotency-Key': crypto.randomUUID() } : undefined;
  const options = { ...(key && { key }), body, headers };
  let answer = await w.call(method, path, { ...options, env });
  for (let tries = 0; tries < 3 && answer.status >= 500; tries++) answer = await w.call(method, path, options);
  return answer;
}

async function signInWith(device: Authenticator): Promise<string> {
  const { body: begun } = await w.call('POST', '/v1/auth/passkey/options', { body: {} });
  const response = await device.get(begun.options);
  return (await w.call('POST', '/v1/auth/passkey', { body: { ceremony_id: begun.ceremony_id, response } })).body.token;
}

/** Signs in with what the person has. Each code of an app is used once, so an act signs a person in once. */
async function signIn({ own, passkey, app }: ModelPerson): Promise<string> {
  if (passkey) return signInWith(passkey.device);
  if (!app) return tokenSignedIn(w, own.userId, 0);
  const refused = await tokenSignedIn(w, own.userId, 0).then(
    () => null,
    (error: ApiError) => error,
  );
  expect(refused?.code).toBe('factor_required');
  const body = { ticket: refused!.options.meta!.ticket, totp: app.app.code() };
  return (await w.call('POST', '/v1/auth/factor', { body })).body.token;
}

const actOn = (account: ModelAccount, token: string): Promise<string> => actingToken(w, { token }, account);
const ownerToken = async (account: ModelAccount): Promise<string> => actOn(account, await signIn(ownerIn(account)));

const ofSessions: Record<string, Act> = {
  signIn: async (account, n) => {
    const by = pick(account.people.filter(isMember), n)!;
    if (hasFactor(by) && by.hasPassword && n % 2 === 0) {
      const refused = await logInAgain(w, by.own);
      expect([refused.status, refused.body.code]).toEqual([401, 'factor_required']);
    }
    const token = await actOn(account, await signIn(by));
    account.sessions.push({ by, token, isOpen: true, isProven: hasFactor(by), passkeyId: by.passkey?.id ?? null });
  },
  endThis: async (account, n, env) => {
    const session = pick(
      account.sessions.filter(({ isOpen }) => isOpen),
      n,
    );
    if (!session) return;
    await insist(env, 'POST', '/v1/auth/logout', { key: session.token, body: { end: 'session' } });
    session.isOpen = false;
  },
  endOthers: async (account, n, env) => {
    const by = pick(account.people.filter(isMember), n)!;
    const [current, ...others] = openSessionsOf(account, by);
    if (!current) return;
    expect((await insist(env, 'DELETE', '/v1/account/sessions', { key: current.token })).status).toBe(200);
    for (const session of others) session.isOpen = false;
  },
  endAll: async (account, n, env) => {
    const by = pick(account.people.filter(isMember), n)!;
    const [current] = openSessionsOf(account, by);
    if (!current) return;
    await insist(env, 'POST', '/v1/auth/logout', { key: current.token, body: { end: 'all' } });
    endSessions(account, by);
  },
};

const ofMembers: Record<string, Act> = {
  changeRole: async (account, n, env) => {
    const member = memberAt(account, n);
    if (!member) return;
    const role = GIVEN_ROLES[n % GIVEN_ROLES.length]!;
    const options = { key: await ownerToken(account), body: { role } };
    expect((await insist(env, 'PATCH', `/v1/account/members/${member.own.userId}`, options)).status).toBe(200);
    if (member.role !== role) member.roleAt = Date.now();
    member.role = role;
  },
  remove: async (account, n, env) => {
    const member = memberAt(account, n);
    if (!member) return;
    const isWithKeys = n % 2 === 0;
    const path = `/v1/account/members/${member.own.userId}${isWithKeys ? '?with=keys,endpoints' : ''}`;
    const removed = await insist(env, 'DELETE', path, { key: await ownerToken(account) });
    expect([204, 404], JSON.stringify(removed.body)).toContain(removed.status);
    member.role = null;
    if (isWithKeys) for (const key of account.keys) key.isRevoked ||= key.by === member;
  },
  joinAgain: async (account, n) => {
    // The first owner's own account is this one, which has no copy in a list of accounts that the person joined.
    const gone = pick(
      account.people.filter(({ role, own }) => role === null && own.userId !== account.userId),
      n,
    );
    if (!gone) return;
    await join(w, account, gone.own, 'support');
    Object.assign(gone, { role: 'support', joinedAt: Date.now(), roleAt: Date.now() });
  },
  handOver: async (account, n, env) => {
    const [owner, heir] = [ownerIn(account), memberAt(account, n)];
    if (!heir) return;
    const key = await ownerToken(account);
    const offered = await insist(env, 'POST', '/v1/account/transfer', { key, body: { user_id: heir.own.userId } });
    if (offered.status === 429) return;
    const isRefused = hasFactor(owner) && !hasFactor(heir);
    expect([offered.status, offered.body.meta?.reason]).toEqual(isRefused ? [409, 'factor_required'] : [202, undefined]);
    if (isRefused) return;
    const accepted = await insist(env, 'POST', '/v1/account/transfer/accept', { key: await actOn(account, await signIn(heir)) });
    expect(accepted.status, JSON.stringify(accepted.body)).toBe(200);
    Object.assign(heir, { role: 'owner' });
    Object.assign(owner, { role: 'admin', joinedAt: 0, roleAt: 0 });
    account.transfers++;
    expect((await w.call('POST', '/v1/account/transfer', { key, body: { user_id: heir.own.userId } })).status).toBe(403);
  },
};

const ofKeys: Record<string, Act> = {
  createKey: async (account, n, env) => {
    const by = pick(account.people.filter(isMember), n)!;
    const reads = (['all', 'products', 'receipts'] as const)[n % 3]!;
    const body = { name: 'key', ...(reads === 'all' ? {} : { scopes: [`${reads}:read`] }) };
    const mayMake = MAKES_KEYS.includes(by.role);
    const unproven = openSessionsOf(account, by).find(({ isProven }) => !mayMake || (hasFactor(by) && !isProven));
    if (unproven) {
      const refused = await w.call('POST', '/v1/keys', { key: unproven.token, body });
      expect([refused.status, refused.body.meta?.reason]).toEqual([403, mayMake ? 'step_up_required' : 'role']);
    }
    if (!mayMake) return;
    const made = await insist(env, 'POST', '/v1/keys', { key: await actOn(account, await signIn(by)), body });
    if (made.body.code === 'plan_limit_reached') return;
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    account.keys.push({ id: made.body.key.id, raw: made.body.raw_key, by, at: Date.now(), reads, isRevoked: false, isRolled: false });
  },
  narrowKey: async (account, n, env) => {
    const key = pick(
      account.keys.filter(({ isRevoked, reads }) => !isRevoked && reads === 'all'),
      n,
    );
    if (!key) return;
    const options = { key: await ownerToken(account), body: { scopes: ['receipts:read'] } };
    expect((await insist(env, 'PATCH', `/v1/keys/${key.id}`, options)).status).toBe(200);
    key.reads = 'receipts';
  },
  rollKey: async (account, n, env) => {
    const key = pick(
      account.keys.filter(({ isRevoked }) => !isRevoked),
      n,
    );
    if (!key) return;
    const options = { key: await ownerToken(account), body: { overlap_hours: 0 } };
    const rolled = await insist(env, 'POST', `/v1/keys/${key.id}/roll`, options);
    // A repeated call finds the key rolled, and the raw key of the lost answer is nobody's.
    expect([201, 409], JSON.stringify(rolled.body)).toContain(rolled.status);
    key.isRevoked = true;
    if (rolled.status === 409) return;
    const { id } = rolled.body.key;
    account.keys.push({ ...key, id, raw: rolled.body.raw_key, by: ownerIn(account), at: Date.now(), isRevoked: false, isRolled: true });
  },
  revokeKey: async (account, n, env) => {
    const key = pick(
      account.keys.filter(({ isRevoked }) => !isRevoked),
      n,
    );
    if (!key) return;
    const revoked = await insist(env, 'DELETE', `/v1/keys/${key.id}`, { key: await ownerToken(account) });
    expect([204, 404], JSON.stringify(revoked.body)).toContain(revoked.status);
    key.isRevoked = true;
  },
};

function addChange(account: ModelAccount, person: ModelPerson, change: Method): void {
  person.emailed[change]++;
  const isHandedOver = person.own.userId === account.userId && person.role !== 'owner';
  if (!isHandedOver) person.entered[change]++;
}

const ofFactors: Record<string, Act> = {
  addPasskey: async (account, n, env) => {
    const person = pick(account.people.filter(isMember), n)!;
    if (person.passkey) return;
    const key = await signIn(person);
    const device = new Authenticator();
    const { ceremony_id, options } = await beginPasskey(w, key);
    const body = { ceremony_id, response: await device.create(options) };
    const added = await insist(env, 'POST', '/v1/account/passkeys', { key, body });
    // A lost answer may have stored the passkey. Its challenge is used in any case.
    expect([201, 409, 422], JSON.stringify(added.body)).toContain(added.status);
    const stored = (await w.call('GET', '/v1/account/passkeys', { key })).body.items[0];
    expect(stored !== undefined || added.status === 422).toBe(true);
    if (!stored) return;
    const id: string = stored.passkey_id;
    person.passkey = { device, id, at: Date.now() };
    addChange(account, person, 'passkey_added');
    person.disputable = { change: 'passkey_added', at: Date.now(), isUsed: false };
  },
  removePasskey: async (account, n, env) => {
    const person = pick(
      account.people.filter(({ role, passkey }) => role !== null && passkey),
      n,
    );
    if (!person) return;
    const { id } = person.passkey!;
    const removed = await insist(env, 'DELETE', `/v1/account/passkeys/${id}`, { key: await signIn(person) });
    if (!person.hasPassword) {
      expect([removed.status, removed.body.meta?.reason]).toEqual([409, 'last_way_in']);
      return;
    }
    // The session of the call began with the passkey, and so ends with it.
    expect([204, 401], JSON.stringify(removed.body)).toContain(removed.status);
    for (const session of account.sessions) if (session.passkeyId === id) session.isOpen = false;
    person.passkey = null;
    addChange(account, person, 'passkey_removed');
  },
  addApp: async (account, n) => {
    const person = pick(account.people.filter(isMember), n)!;
    if (person.app) return;
    person.app = { app: (await addApp(w, await signIn(person))).app, at: Date.now() };
    addChange(account, person, 'totp_added');
    person.disputable = { change: 'totp_added', at: Date.now(), isUsed: false };
  },
  removeApp: async (account, n, env) => {
    const person = pick(
      account.people.filter(({ role, app }) => role !== null && app),
      n,
    );
    if (!person) return;
    const removed = await insist(env, 'DELETE', '/v1/account/totp', { key: await signIn(person) });
    expect(removed.status, JSON.stringify(removed.body)).toBe(204);
    person.app = null;
    addChange(account, person, 'totp_removed');
  },
  dispute: async (account, n, env) => {
    const person = pick(
      account.people.filter(({ disputable }) => disputable),
      n,
    );
    if (!person) return;
    const { disputable } = person;
    const ctx = newCtx(w.env, { requestId: 'req_not_me', defer: () => {} });
    const row = await getAccount(homeOf(ctx, person.own.userId).db, person.own.userId as AccountId);
    const body = { token: notMeToken(ctx, row, disputable!, person.own.email) };
    const undone = await insist(env, 'POST', '/v1/account/not-me', { body });
    expect(disputable!.isUsed ? [410] : [200, 410], JSON.stringify(undone.body)).toContain(undone.status);
    if (!disputable!.isUsed) undoSince(account, person, disputable!.at);
    disputable!.isUsed = true;
  },
};

/** Ends in the model what a dispute ends. Acts are seconds apart, so none is within the slack of another. */
function undoSince(account: ModelAccount, person: ModelPerson, since: number): void {
  endSessions(account, person);
  person.hasPassword = false;
  if (person.passkey && person.passkey.at >= since) person.passkey = null;
  if (person.app && person.app.at >= since) person.app = null;
  if (person.role !== 'owner') return;
  for (const key of account.keys) key.isRevoked ||= key.at >= since;
  for (const member of account.people) {
    if (member === person || member.role === null) continue;
    if (member.joinedAt >= since) member.role = null;
    else if (member.role === 'admin' && member.roleAt >= since) Object.assign(member, { role: 'viewer', roleAt: Date.now() });
  }
}

export const ACCESS_ACTS: Record<string, Act> = { ...ofSessions, ...ofMembers, ...ofKeys, ...ofFactors };
