import { expect } from 'vitest';
import type { ApiError } from '#core/errors.ts';
import type { Env } from '#platform/context.ts';
import type { GivenRole, Role } from '#rules/access/roles.ts';
import { tokenSignedIn } from '../clients/session.ts';
import type { Authenticator } from '../people/authenticator.ts';
import type { App } from '../people/authenticator-app.ts';
import { actingToken } from '../people/team.ts';
import { MailWorld } from '../servers/mail.ts';
import type { Merchant } from '../world.ts';

export const accessWorld = new MailWorld();
const w = accessWorld;

/** Changes of sign-in methods with an entry and an email, and the name of each entry. */
export const CHANGES = {
  passkey_added: 'person.passkey_added',
  passkey_removed: 'person.passkey_removed',
  totp_added: 'person.totp_added',
  totp_removed: 'person.totp_removed',
  password: 'person.password_changed',
  recovery_codes: 'person.recovery_codes_renewed',
  recovery_code_used: 'person.recovery_code_used',
} as const;
export type Method = keyof typeof CHANGES;

/** Person as the model knows it. Times in epoch ms. */
export interface ModelPerson {
  own: Merchant;
  role: Role | null;
  joinedAt: number;
  roleAt: number;
  /** null: the person has none. */
  password: string | null;
  passkey: { device: Authenticator; id: string; at: number } | null;
  app: { app: App; at: number } | null;
  /** Recovery codes that the person has and did not use. */
  codes: string[];
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
export type Act = (account: ModelAccount, n: number, env: Env) => Promise<void>;

export const pick = <T>(items: readonly T[], n: number): T | undefined => items[n % Math.max(items.length, 1)];
export const GIVEN_ROLES: GivenRole[] = ['admin', 'developer', 'finance', 'support', 'viewer'];
export const MAKES_KEYS: (Role | null)[] = ['owner', 'admin', 'developer'];
export const isMember = ({ role }: ModelPerson): boolean => role !== null;
export const ownerIn = ({ people }: ModelAccount): ModelPerson => people.find(({ role }) => role === 'owner')!;
export const memberAt = ({ people }: ModelAccount, n: number) =>
  pick(
    people.filter(({ role }) => role !== null && role !== 'owner'),
    n,
  );
export const hasFactor = ({ passkey, app }: ModelPerson): boolean => passkey !== null || app !== null;
export const openSessionsOf = ({ sessions }: ModelAccount, by: ModelPerson) => sessions.filter((one) => one.isOpen && one.by === by);
export const endSessions = (account: ModelAccount, by: ModelPerson) => {
  for (const session of openSessionsOf(account, by)) session.isOpen = false;
};

/** Calls with an effect each time, so that a repetition needs its key. */
const IS_KEYED = /^\/v1\/(?:keys|account\/recovery-codes)$/;

/** Calls with the faulty environment, then with the real one until the service answers. */
export async function insist(env: Env, method: string, path: string, { key, body }: { key?: string; body?: object }) {
  // A lost key would be leased for a while.
  const headers = IS_KEYED.test(path) ? { 'Idempotency-Key': crypto.randomUUID() } : undefined;
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
export async function signIn({ own, passkey, app }: ModelPerson): Promise<string> {
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

export const actOn = (account: ModelAccount, token: string): Promise<string> => actingToken(w, { token }, account);
export const ownerToken = async (account: ModelAccount): Promise<string> => actOn(account, await signIn(ownerIn(account)));
