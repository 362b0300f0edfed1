import { ApiError } from '#core/errors.ts';
import { type AccountId, newFence } from '#core/ids.ts';
import { HOUR, SECOND } from '#core/time.ts';
import { planEmail } from '#features/email/outbox.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import type { Write } from '#platform/db/commit.ts';
import { homeOf } from '#platform/db/directory.ts';
import { NameTaken, withNames } from '#platform/db/names/names.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { type CountedFactors, changedFactors, NO_FACTORS } from '#rules/access/factors.ts';
import { listSessions } from '../auth/sessions.ts';
import { emailKeysOf, emailName, findAccountByEmail } from '../auth/sign-in.ts';
import { changeAccount } from '../change-account.ts';
import { recordDisowned } from '../claim/move-address.ts';
import { changeKeys } from '../keys/keys.ts';
import { abortIfTaken, findState, insertState } from '../store.ts';
import { type Disputed, findDisputed } from './link.ts';
import { type AddedAccess, endAddedAccess, findAddedAccess } from './store.ts';

/** Parts of an account that a dispute takes back or ends. */
export const UNDONE = [
  'email',
  'password',
  'sessions',
  'keys',
  'endpoints',
  'providers',
  'passkeys',
  'totp',
  'recovery_codes',
  'wallets',
  'members',
  'invitations',
] as const;
type UndonePart = (typeof UNDONE)[number];

export interface Undone {
  undone: UndonePart[];
  ended: Record<'sessions' | 'keys' | 'endpoints' | 'providers' | 'passkeys' | 'wallets', number>;
}

/** Rows of the disputed change itself carry a time that may be a moment before that of its email. */
const SLACK_MS = SECOND;
const sinceOf = ({ at }: Disputed): number => at - SLACK_MS;

function planUndone(account: Account, address: string, added: AddedAccess, sessions: number): Undone {
  const parts: Record<UndonePart, boolean> = {
    email: account.email !== address || !account.emailVerified,
    password: account.passwordHash !== null,
    sessions: sessions > 0,
    keys: added.keys.length > 0,
    endpoints: added.endpoints.length > 0,
    providers: added.providers.length > 0,
    passkeys: added.passkeys.length > 0,
    totp: added.hasTotp,
    recovery_codes: added.hasRecoveryCodes,
    wallets: added.wallets.length > 0,
    members: added.members.length > 0,
    invitations: added.invitations.length > 0,
  };
  const { keys, endpoints, providers, passkeys, wallets } = added;
  return {
    undone: UNDONE.filter((part) => parts[part]),
    ended: {
      ...{ sessions, keys: keys.length, endpoints: endpoints.length, providers: providers.length },
      ...{ passkeys: passkeys.length, wallets: wallets.length },
    },
  };
}

/** Reads what a dispute would take back. Uses nothing up. Throws those of `findDisputed`. */
export async function previewDispute(ctx: Ctx, token: string): Promise<{ disputed: Disputed; will: UndonePart[] }> {
  const disputed = await findDisputed(ctx, token);
  const { home, account, address } = disputed;
  const [added, sessions] = await Promise.all([findAddedAccess(home, account.id, sinceOf(disputed)), listSessions(ctx, account.id)]);
  return { disputed, will: planUndone(account, address, added, sessions.length).undone };
}

/**
 * Takes back a change for the reader of the address that was verified at its time: that address is the account's again, access that was added
 * since ends, and so do every session and the password. Emails a link to set another one. One batch, once per link. Throws those of
 * `findDisputed`, or 409 state_conflict if another person proved the address meanwhile.
 */
export async function disputeChange(ctx: Ctx, token: string, storeAnswer: StoreAnswer<Undone>): Promise<Undone> {
  const disputed = await findDisputed(ctx, token);
  const { home, account: known, address } = disputed;
  if (known.email !== address) await freeAddress(ctx, address, known.id);
  const sessions = (await listSessions(ctx, known.id)).length;
  const since = sinceOf(disputed);
  const { keys } = await findAddedAccess(home, known.id, since);
  // Differs by request, so that a request recognises its own use of the link.
  const use = { ...disputed.used, expiresAt: disputed.used.expiresAt + (newFence() % HOUR) };
  let undone: Undone | null = null;
  let madeMeanwhile: AddedAccess['keys'] = [];
  const change = (reserved: Write[]) =>
    changeAccount(home, known.id, async (account) => {
      await findDisputed(ctx, token);
      const added = await findAddedAccess(home, account.id, since);
      undone = planUndone(account, address, added, sessions);
      madeMeanwhile = added.keys;
      const guards = account.email === address ? [] : abortIfTaken(home, account.id, emailKeysOf(ctx, address));
      return {
        values: restored(ctx, account, { address, added }),
        writes: [
          ...reserved,
          ...guards,
          insertState(home.db, use),
          ...endAddedAccess(home, account.id, { since, added }),
          ...planReset(home, address),
          recordDispute(home, disputed, undone),
          ...(await storeAnswer(undone)),
        ],
        wasStored: async () => (await findState(home.db, use.id))?.expiresAt === use.expiresAt,
      };
    });
  await changeKeys(ctx, known, keys, async () => {
    await withNames(home, known.id, [emailName(ctx, address)], change).catch((error: unknown) => {
      throw error instanceof NameTaken ? addressTaken() : error;
    });
    keys.push(...madeMeanwhile);
  });
  return undone!;
}

interface Restored {
  address: string;
  added: AddedAccess;
}

function restored(ctx: Ctx, account: Account, { address, added }: Restored): Partial<Account> {
  const { payoutWallet, roles, factors, tokenVersion, formerEmails } = account;
  const gone = new Set<string>(added.members.filter(({ isNew }) => isNew).map(({ personId }) => personId));
  const demoted = new Set<string>(added.members.map(({ personId }) => personId));
  const counted: CountedFactors = factors ?? NO_FACTORS;
  return {
    email: address,
    emailKey: emailKeysOf(ctx, address).keys[0],
    emailVerified: true,
    formerEmails: formerBefore(formerEmails, address),
    passwordHash: null,
    factorsEndAt: null,
    tokenVersion: tokenVersion + 1,
    factors: changedFactors(factors, {
      passkeys: counted.passkeys - added.passkeys.length,
      totp: counted.totp && !added.hasTotp,
      recoveryCodes: 0,
    }),
    payoutWallet: payoutWallet !== null && added.wallets.includes(payoutWallet) ? null : payoutWallet,
    roles: Object.fromEntries(
      Object.entries(roles).flatMap(([id, role]) => (gone.has(id) ? [] : [[id, demoted.has(id) ? ('viewer' as const) : role]])),
    ),
  };
}

/** Addresses that were the account's before this one. A later one may be a thief's, and could dispute the dispute. */
function formerBefore(formerEmails: Account['formerEmails'], address: string): Account['formerEmails'] {
  const [first = Number.POSITIVE_INFINITY] = formerEmails
    .filter(({ email }) => email === address)
    .map(({ until }) => until)
    .sort((a, b) => a - b);
  return formerEmails.filter(({ until }) => until < first);
}

const addressTaken = (): ApiError =>
  new ApiError('state_conflict', {
    detail: 'Another account has proven the email address meanwhile. Contact the operator of this service.',
    meta: { reason: 'email_registered' },
  });

/** Takes the address from an account that never proved it. Throws 409 state_conflict for one that did. */
async function freeAddress(ctx: Ctx, address: string, personId: AccountId): Promise<void> {
  const other = await findAccountByEmail(ctx, address);
  if (!other || other.id === personId) return;
  const home = homeOf(ctx, other.id);
  await changeAccount(home, other.id, (account) => {
    if (account.emailKey !== other.emailKey) return null;
    if (account.emailVerified || account.email === null) throw addressTaken();
    return { values: { email: null, emailKey: null }, writes: [recordDisowned(home, account)] };
  });
}

/** Without the limit of an hour, which a thief could use up by requests. Each link causes one. */
const planReset = (ctx: Shard, address: string): Write[] =>
  planEmail(ctx, { template: 'reset_password', facts: {}, accountId: null, address }).writes;

const recordDispute = (home: Shard, { account, change }: Disputed, { undone, ended }: Undone): Write =>
  recordAction(
    home,
    { merchantId: account.id, livemode: true },
    {
      action: 'person.change_disputed',
      subject: { type: 'person', id: account.id },
      after: { change, undone, ended },
      by: { kind: 'system', id: null },
    },
  );
