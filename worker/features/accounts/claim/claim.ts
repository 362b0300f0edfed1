/**
 * Another person may have created an account with an unverified address. Once the reader of the address proves ownership, all earlier
 * access is revoked: sessions, keys, endpoints, other ways in, members, payout wallets and open sales.
 * @module
 */

import { iso } from '#core/time.ts';
import { planEmail } from '#features/email/outbox.ts';
import type { Shard } from '#platform/context.ts';
import { personIn, recordAction } from '#platform/db/audit/record-action.ts';
import type { Write } from '#platform/db/commit.ts';
import { homeOf } from '#platform/db/directory.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { isHandedOver } from '#rules/access/roles.ts';
import { planSecurityAlert } from '../auth/owner-emails.ts';
import { changeAccount } from '../change-account.ts';
import { deleteFactors, deleteFactorsBefore, type RetainedFactors } from '../factors/store.ts';
import { changeKeys } from '../keys/keys.ts';
import { listOwned } from '../members/acting.ts';
import { deleteInvitations } from '../members/invitation.store.ts';
import { deleteMembers } from '../members/store.ts';
import { forgetWallets, listKeys, revokeAllKeys } from '../store.ts';
import { type AccountAccess, deleteIdentities, findAccountAccess, hasSold, revokeAccess } from './store.ts';

function withoutLinks(settings: Account['merchantSettings']): Account['merchantSettings'] {
  const { default_redirect_url: _, default_support_url: __, ...rest } = settings;
  return rest;
}

/** Access that a claim does not end. */
interface Retained {
  factors?: RetainedFactors;
}

/** Change of the sign-in methods by which the claim was made. */
type ClaimAlert = Parameters<typeof planSecurityAlert>[2];

/** Values after a claim. The reader of the address gets no account that the person transferred. */
export const withoutAccess = ({ now }: Shard, account: Account, access: AccountAccess, retained: Retained = {}): Partial<Account> => ({
  walletAddress: null,
  walletKey: null,
  emailVerified: true,
  ...(retained.factors?.counted ? { factors: retained.factors.counted } : { factors: null, factorsEndAt: null }),
  isStaff: false,
  tokenVersion: account.tokenVersion + 1,
  ...(isHandedOver(account) ? {} : { ...emptied(account), claimed: { at: now, ...access } }),
});

const emptied = ({ merchantSettings }: Account): Partial<Account> => ({
  payoutWallet: null,
  roles: {},
  transfer: null,
  requireFactor: false,
  merchantSettings: withoutLinks(merchantSettings),
});

interface Claim {
  access: AccountAccess;
  alert: ClaimAlert;
  retained?: Retained;
}

/** Plans the end of all other access. The address that proved it gets one email about that, and each that was verified an alert. */
export const planRevokeAccess = (ctx: Shard, account: Account, { access, alert, retained = {} }: Claim): Write[] => [
  deleteIdentities(ctx.db, account.id),
  ...(retained.factors ? deleteFactorsBefore(ctx.db, account.id, retained.factors) : deleteFactors(ctx.db, account.id)),
  ...(isHandedOver(account) ? [] : planEndOfAccess(ctx, account)),
  ...planClaimedEmail(ctx, account, access),
  ...planSecurityAlert(ctx, account.emailVerified ? account : { ...account, email: null }, alert),
];

const planEndOfAccess = (ctx: Shard, account: Account): Write[] => [
  ...revokeAccess(ctx, account.id),
  revokeAllKeys(ctx.db, account.id, ctx.now),
  forgetWallets(ctx.db, account.id),
  deleteMembers(ctx.db, account.id),
  deleteInvitations(ctx.db, account.id),
  recordClaim(ctx, account),
];

const planClaimedEmail = (ctx: Shard, { id: accountId, email: address }: Account, access: AccountAccess): Write[] => [
  ...planEmail(ctx, { template: 'account_claimed', facts: { ...access, at: iso(ctx.now) }, accountId, address: address! }).writes,
];

/** Entry of a claim: the proven reader of the address ended all access of before. */
const recordClaim = (ctx: Shard, { id: accountId, ownerId }: Account): Write =>
  recordAction(
    ctx,
    { merchantId: accountId, livemode: true },
    { action: 'account.claimed', subject: { type: 'account', id: accountId }, by: personIn(ownerId) },
  );

/** True if the person has sold in an account of any id. */
export async function hasSoldAnywhere(ctx: Shard, person: Account): Promise<boolean> {
  const owned = await listOwned(ctx, person);
  const sold = await Promise.all(owned.map(({ id }) => hasSold(homeOf(ctx, id).db, id)));
  return sold.includes(true);
}

/** Ends all access to the accounts of other ids that the person owns. Returns their number. `isAgain`: where there is any alone. */
async function endAccessElsewhere(ctx: Shard, person: Account, isAgain = false): Promise<number> {
  const owned = await listOwned(ctx, person, person.id);
  for (const known of owned) {
    const home = homeOf(ctx, known.id);
    if (isAgain && !(await hasAccess(home, known))) continue;
    const end = (account: Account) =>
      account.ownerId === person.id ? { values: emptied(account), writes: planEndOfAccess(home, account) } : null;
    await endKeys(home, known, () => changeAccount(home, known.id, end));
  }
  return owned.length;
}

async function hasAccess(home: Shard, { id, payoutWallet, roles, transfer }: Account): Promise<boolean> {
  const { keys, endpoints, wallets } = await findAccountAccess(home, { id, ownerId: id });
  return keys + endpoints + wallets + Object.keys(roles).length > 0 || payoutWallet !== null || transfer !== null;
}

/**
 * Stores a claim with `store` and revokes every key from the next request on, also keys created meanwhile. Accounts of other ids come before
 * it, so that after a crash the proof still works, and again after it, because a call of before may have stored more there.
 */
export async function claiming<T>(ctx: Shard, account: Account, store: () => Promise<T>): Promise<T> {
  const others = await endAccessElsewhere(ctx, account);
  const stored = await (isHandedOver(account) ? store() : endKeys(ctx, account, store));
  if (others > 0) await endAccessElsewhere(ctx, account, true);
  return stored;
}

async function endKeys<T>(ctx: Shard, account: Account, store: () => Promise<T>): Promise<T> {
  const keys = await listKeys(ctx.db, account.id, null);
  return changeKeys(ctx, account, keys, async () => {
    const stored = await store();
    keys.push(...(await listKeys(ctx.db, account.id, null)));
    return stored;
  });
}
