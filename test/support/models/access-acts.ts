import { expect } from 'vitest';
import type { AccountId } from '#core/ids.ts';
import { notMeToken } from '#features/accounts/not-me/link.ts';
import { getAccount } from '#features/accounts/store.ts';
import { newCtx } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import { Authenticator } from '../people/authenticator.ts';
import { addApp, beginPasskey } from '../people/factors.ts';
import { join } from '../people/team.ts';
import {
  type Act,
  accessWorld,
  actOn,
  endSessions,
  GIVEN_ROLES,
  hasFactor,
  insist,
  isMember,
  MAKES_KEYS,
  type Method,
  type ModelAccount,
  type ModelPerson,
  memberAt,
  openSessionsOf,
  ownerIn,
  ownerToken,
  pick,
  signIn,
} from './access-model.ts';

const w = accessWorld;

const ofSessions: Record<string, Act> = {
  signIn: async (account, n) => {
    const by = pick(account.people.filter(isMember), n)!;
    if (hasFactor(by) && by.password !== null && n % 2 === 0) {
      const refused = await w.call('POST', '/v1/auth/login', { body: { email: by.own.email, password: by.password } });
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
    if (person.password === null) {
      expect([removed.status, removed.body.meta?.reason]).toEqual([409, 'last_way_in']);
      return;
    }
    // The session of the call began with the passkey, and so ends with it.
    expect([204, 401], JSON.stringify(removed.body)).toContain(removed.status);
    for (const session of account.sessions) if (session.passkeyId === id) session.isOpen = false;
    person.passkey = null;
    dropCodes(person);
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
    dropCodes(person);
    addChange(account, person, 'totp_removed');
  },
  renewCodes: async (account, n, env) => {
    const person = pick(
      account.people.filter((one) => isMember(one) && hasFactor(one)),
      n,
    );
    if (!person) return;
    const renewed = await insist(env, 'POST', '/v1/account/recovery-codes', { key: await signIn(person) });
    expect(renewed.status, JSON.stringify(renewed.body)).toBe(200);
    person.codes = renewed.body.recovery_codes;
    addChange(account, person, 'recovery_codes');
  },
  useCode: async (account, n) => {
    const person = pick(
      account.people.filter((one) => isMember(one) && one.password !== null && one.codes.length > 0),
      n,
    );
    if (!person) return;
    const asked = await w.call('POST', '/v1/auth/login', { body: { email: person.own.email, password: person.password } });
    const body = { ticket: asked.body.meta.ticket, recovery_code: person.codes.pop() };
    const { status, body: proven } = await w.call('POST', '/v1/auth/factor', { body });
    expect(status, JSON.stringify(proven)).toBe(200);
    account.sessions.push({ by: person, token: await actOn(account, proven.token), isOpen: true, isProven: true, passkeyId: null });
    addChange(account, person, 'recovery_code_used');
  },
  changePassword: async (account, n, env) => {
    const person = pick(account.people.filter(isMember), n)!;
    const password = `staple ${person.emailed.password} of ${person.own.userId}`;
    const body = { ...(person.password !== null && { current_password: person.password }), new_password: password };
    const changed = await insist(env, 'PATCH', '/v1/account/me/security', { key: await signIn(person), body });
    // The change ends the session of the call, which a repeated call finds ended.
    expect([undefined, 'invalid_authorization'], JSON.stringify(changed.body)).toContain(changed.body.code);
    person.password = password;
    endSessions(account, person);
    addChange(account, person, 'password');
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

/** The codes end with the last factor. */
const dropCodes = (person: ModelPerson): void => {
  if (!hasFactor(person)) person.codes = [];
};

/** Ends in the model what a dispute ends. Acts are seconds apart, so none is within the slack of another. */
function undoSince(account: ModelAccount, person: ModelPerson, since: number): void {
  endSessions(account, person);
  Object.assign(person, { password: null, codes: [] });
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
