import fc from 'fast-check';
import { expect } from 'vitest';
import type { Env } from '#platform/context.ts';
import type { Role } from '#rules/access/roles.ts';
import { withFaults } from '../faults/faults.ts';
import { join } from '../people/team.ts';
import { letTimeRun, setTime } from '../runner/clock.ts';
import { testEnv } from '../runner/env.ts';
import { verifyAddress } from '../servers/mail.ts';
import type { Merchant } from '../world.ts';
import { ACCESS_ACTS } from './access-acts.ts';
import { CHANGES, GIVEN_ROLES, type Method, type ModelAccount, type ModelPerson, accessWorld as w } from './access-model.ts';

/** Time between two acts. Each code of an authenticator app is of another step. */
const ACT_MS = 31_000;
const MAY_READ_LOG: (Role | null)[] = ['owner', 'admin'];

/** Environment that loses its connection at one trip, before the database has the request or after it has answered. */
function losing(at: number, isLost: 'before' | 'after' | 'never'): Env {
  if (isLost === 'never') return w.env;
  return withFaults(w.env, { [isLost]: ({ number }: { number: number }) => number === at }).env;
}

const noChanges = () => Object.fromEntries(Object.keys(CHANGES).map((change) => [change, 0])) as Record<Method, number>;
const newPerson = (own: Merchant, role: Role): ModelPerson => ({
  ...{ own, role, joinedAt: 0, roleAt: 0, password: 'correct horse battery', passkey: null, app: null, codes: [], disputable: null },
  ...{ emailed: noChanges(), entered: noChanges() },
});

async function openAccount(): Promise<ModelAccount> {
  const owner = await w.merchant('scale');
  const people = [newPerson(owner, 'owner')];
  for (const role of GIVEN_ROLES.slice(0, 2)) {
    const own = await w.merchant('free');
    await join(w, owner, own, role);
    people.push(newPerson(own, role));
  }
  for (const { own } of people) await verifyAddress(w, own);
  return { userId: owner.userId, people, sessions: [], keys: [], transfers: 0 };
}

/** Compares what each credential that was ever issued may do with the model. */
async function checkCredentials({ sessions, keys }: ModelAccount, seen: string): Promise<void> {
  for (const { by, token, isOpen } of sessions) {
    const isIn = isOpen && by.role !== null;
    const [me, log] = await Promise.all(
      ['/v1/account/me', '/v1/account/audit-log?per_page=1'].map((path) => w.call('GET', path, { key: token })),
    );
    expect([me!.status, log!.status], seen).toEqual(isIn ? [200, MAY_READ_LOG.includes(by.role) ? 200 : 403] : [401, 401]);
  }
  for (const { raw, reads, isRevoked } of keys) {
    const { status } = await w.call('GET', '/v1/products', { key: raw });
    expect(status, seen).toBe(isRevoked ? 401 : reads === 'receipts' ? 403 : 200);
  }
}

const counted = async (sql: string, ...values: unknown[]) =>
  (await testEnv.DB.prepare(sql)
    .bind(...values)
    .first<number>('n')) ?? 0;
const countEntries = (accountId: string, action: string) =>
  counted('SELECT count(*) AS n FROM audit_entries WHERE merchant_id = ? AND action = ?', accountId, action);
const countAlerts = (personId: string, change: string) =>
  counted(
    "SELECT count(*) AS n FROM mails WHERE account_id = ? AND template = 'security_alert' AND facts ->> '$.change' = ?",
    personId,
    change,
  );

/** Compares the entries and emails of sign-in methods, and the entries of keys and of the owner, with the acts. */
async function checkRecords({ userId, people, keys, transfers }: ModelAccount, seen: string): Promise<void> {
  for (const { own, emailed, entered } of people)
    for (const change of Object.keys(CHANGES) as Method[]) {
      const found = [await countEntries(own.userId, CHANGES[change]), await countAlerts(own.userId, change)];
      expect([change, ...found], seen).toEqual([change, entered[change], emailed[change]]);
    }
  for (const [action, isRolled] of [
    ['key.created', false],
    ['key.rolled', true],
  ] as const)
    expect(await countEntries(userId, action), seen).toBeGreaterThanOrEqual(keys.filter((key) => key.isRolled === isRolled).length);
  expect(await countEntries(userId, 'account.transferred'), seen).toBe(transfers);
}

const STEP = fc.tuple(
  fc.constantFrom(...Object.keys(ACCESS_ACTS)),
  fc.nat({ max: 29 }),
  fc.integer({ min: 1, max: 12 }),
  fc.constantFrom('never' as const, 'before' as const, 'after' as const),
);

/**
 * Runs random histories of one account and compares, after each act, what every credential that was ever issued may do. Throws if an ended
 * session, removed member, revoked or narrowed key is let in, or if a sign-in method lacks its entry or its email.
 */
export async function runAccessHistories(histories: number, seed: number): Promise<void> {
  const property = fc.asyncProperty(fc.array(STEP, { minLength: 4, maxLength: 14 }), async (history) => {
    const account = await openAccount();
    const seen = JSON.stringify(history);
    for (const [name, n, at, isLost] of history) {
      setTime(Date.now() + ACT_MS);
      await ACCESS_ACTS[name]!(account, n, losing(at, isLost));
      await checkCredentials(account, seen);
    }
    await checkRecords(account, seen);
  });
  try {
    await fc.assert(property, { numRuns: histories, seed, endOnFailure: true });
  } finally {
    letTimeRun();
  }
}
