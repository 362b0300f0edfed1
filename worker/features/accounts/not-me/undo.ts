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
import { TRANSFER_MS } from '#rules/access/roles.ts';
import { resetAlertLimits } from '../auth/owner-emails.ts';
import { listSessions } from '../auth/sessions.ts';
import { emailKeysOf, emailName, findAccountByEmail } from '../auth/sign-in.ts';
import { changeAccount } from '../change-account.ts';
import { recordDisowned } from '../claim/move-address.ts';
import { changeKeys } from '../keys/keys.ts';
import { listOwned } from '../members/acting.ts';
import { abortIfTaken, findState, insertState } from '../store.ts';
import { type Disputed, findDisputed } from './link.ts';
import { type AddedAccess, endAddedAccess, findAddedAccess, partsOf } from './store.ts';

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
  'transfer',
] as const;
type UndonePart = (typeof UNDONE)[number];

export interface Undone {
  undone: UndonePart[];
  ended: Record<'sessions' | 'keys' | 'endpoints' | 'providers' | 'passkeys' | 'wallets', number>;
}

/** Rows of the disputed change itself carry a time that may be a moment before that of its email. */
const SLACK_MS = SECOND;
const sinceOf = ({ at }: Disputed): number => at - SLACK_MS;

interface Added {
  address: string;
  added: AddedAccess;
  hasTransfer: boolean;
  sessions: number;
}

function planUndone(account: Account, { address, added, hasTransfer, sessions }: Added): Undone {
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
    transfer: hasTransfer,
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
  const since = sinceOf(disputed);
  const [added, sessions, others] = await Promise.all([
    findAddedAccess(home, account.id, { since, parts: partsOf(account, account.id) }),
    listSessions(ctx, account.id),
    findAddedElsewhere(ctx, account, since),
  ]);
  const hasTransfer = [account, ...others.map((one) => one.account)].some((one) => isTransferredSince(one, account.id, since));
  const all = [added, ...others.map((one) => one.added)].reduce(addUp);
  return { disputed, will: planUndone(account, { address, added: all, hasTransfer, sessions: sessions.length }).undone };
}

/** True if the person offered the account to a member since then. */
const isTransferredSince = ({ ownerId, transfer }: Account, personId: AccountId, since: number): boolean =>
  ownerId === personId && transfer !== null && transfer.expiresAt - TRANSFER_MS >= since;

const addUp = (one: AddedAccess, other: AddedAccess): AddedAccess => ({
  keys: [...one.keys, ...other.keys],
  endpoints: [...one.endpoints, ...other.endpoints],
  providers: one.providers,
  passkeys: one.passkeys,
  hasTotp: one.hasTotp,
  hasRecoveryCodes: one.hasRecoveryCodes,
  wallets: [...one.wallets, ...other.wallets],
  members: [...one.members, ...other.members],
  invitations: [...one.invitations, ...other.invitations],
});

const hasAdded = ({ keys, endpoints, wallets, members, invitations }: AddedAccess): boolean =>
  [keys, endpoints, wallets, members, invitations].some(({ length }) => length > 0);

interface AddedElsewhere {
  home: Shard;
  account: Account;
  added: AddedAccess;
}

/** Reads what was added to the accounts of other ids that the person owns. */
async function findAddedElsewhere(ctx: Ctx, person: Account, since: number): Promise<AddedElsewhere[]> {
  const owned = await listOwned(ctx, person, person.id);
  return Promise.all(
    owned.map(async (account) => {
      const home = homeOf(ctx, account.id);
      return { home, account, added: await findAddedAccess(home, account.id, { since, parts: partsOf(account, person.id) }) };
    }),
  );
}

/**
 * Ends what was added to the accounts of other ids that the person owns, before the link is used: after a crash the link still works. Returns
 * what ended. `isAgain`: in accounts that have something added alone.
 */
async function endAddedElsewhere(
  ctx: Ctx,
  person: Account,
  since: number,
  isAgain = false,
): Promise<{ added: AddedAccess[]; hasTransfer: boolean }> {
  const found = await findAddedElsewhere(ctx, person, since);
  const owned = isAgain ? found.filter(({ added }) => hasAdded(added)) : found;
  let hasTransfer = false;
  const ended: AddedAccess[] = [];
  for (const { home, account: known, added } of owned) {
    const keys = [...added.keys];
    let undone: AddedAccess | null = null;
    const change = () =>
      changeAccount(home, known.id, async (account) => {
        const parts = partsOf(account, person.id);
        const now = await findAddedAccess(home, account.id, { since, parts });
        undone = parts.isOwner ? now : null;
        if (!undone) return null;
        hasTransfer ||= isTransferredSince(account, person.id, since);
        keys.push(...now.keys);
        return {
          values: restoredAccount(account, person.id, { added: now, since }),
          writes: [
            ...endAddedAccess(home, account.id, { since, parts, added: now }),
            resetAlertLimits(home, person),
            recordUndone(home, account.id, now),
          ],
        };
      });
    await changeKeys(ctx, known, keys, change);
    if (undone) ended.push(undone);
  }
  return { added: ended, hasTransfer };
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
  const elsewhere = await endAddedElsewhere(ctx, known, since);
  const { keys } = await findAddedAccess(home, known.id, { since, parts: partsOf(known, known.id) });
  // Differs by request, so that a request recognises its own use of the link.
  const use = { ...disputed.used, expiresAt: disputed.used.expiresAt + (newFence() % HOUR) };
  let undone: Undone | null = null;
  let madeMeanwhile: AddedAccess['keys'] = [];
  const change = (reserved: Write[]) =>
    changeAccount(home, known.id, async (account) => {
      await findDisputed(ctx, token);
      const parts = partsOf(account, account.id);
      const added = await findAddedAccess(home, account.id, { since, parts });
      const hasTransfer = elsewhere.hasTransfer || isTransferredSince(account, account.id, since);
      undone = planUndone(account, { address, added: [added, ...elsewhere.added].reduce(addUp), hasTransfer, sessions });
      madeMeanwhile = added.keys;
      const guards = account.email === address ? [] : abortIfTaken(home, account.id, emailKeysOf(ctx, address));
      return {
        values: { ...restoredAccount(account, account.id, { added, since }), ...restored(ctx, account, { address, added }) },
        writes: [
          ...reserved,
          ...guards,
          insertState(home.db, use),
          ...endAddedAccess(home, account.id, { since, parts, added }),
          ...planReset(home, address),
          resetAlertLimits(home, account),
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
  // Calls of before the end of the sessions may have stored more there meanwhile. From here on none does.
  if (elsewhere.added.length > 0) await endAddedElsewhere(ctx, known, since, true);
  return undone!;
}

interface Restored {
  address: string;
  added: AddedAccess;
}

/** Values of an account without what was added to it. The offer to a member who is removed ends too. */
function restoredAccount(account: Account, personId: AccountId, { added, since }: { added: AddedAccess; since: number }): Partial<Account> {
  const { payoutWallet, roles, transfer } = account;
  const gone = new Set<string>(added.members.filter(({ isNew }) => isNew).map((member) => member.personId));
  const demoted = new Set<string>(added.members.map((member) => member.personId));
  return {
    transfer: isTransferredSince(account, personId, since) || (transfer && gone.has(transfer.to)) ? null : transfer,
    payoutWallet: payoutWallet !== null && added.wallets.includes(payoutWallet) ? null : payoutWallet,
    roles: Object.fromEntries(
      Object.entries(roles).flatMap(([id, role]) => (gone.has(id) ? [] : [[id, demoted.has(id) ? ('viewer' as const) : role]])),
    ),
  };
}

function restored(ctx: Ctx, account: Account, { address, added }: Restored): Partial<Account> {
  const { factors, tokenVersion, formerEmails } = account;
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

/** Entry of an account that the person of a dispute owns under another id. */
const recordUndone = (home: Shard, accountId: AccountId, { keys, endpoints, wallets, members }: AddedAccess): Write =>
  recordAction(
    home,
    { merchantId: accountId, livemode: true },
    {
      action: 'account.change_disputed',
      subject: { type: 'account', id: accountId },
      after: { ended: { keys: keys.length, endpoints: endpoints.length, wallets: wallets.length, members: members.length } },
      by: { kind: 'system', id: null },
    },
  );

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
