/**
 * Another person may have created an account with an unverified address. Once the reader of the address proves ownership, all earlier
 * access is revoked: sessions, keys, endpoints, other ways in, members, payout wallets and open sales.
 * @module
 */

import type { AccountId } from '#core/ids.ts';
import { iso } from '#core/time.ts';
import { planEmail } from '#features/email/outbox.ts';
import type { Shard } from '#platform/context.ts';
import { personIn, recordAction } from '#platform/db/audit/record-action.ts';
import type { Write } from '#platform/db/commit.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { isHandedOver } from '#rules/access/roles.ts';
import { deleteFactors } from '../factors/store.ts';
import { changeKeys } from '../keys/keys.ts';
import { deleteInvitations } from '../members/invitation.store.ts';
import { deleteMembers } from '../members/store.ts';
import { forgetWallets, listKeys, revokeAllKeys } from '../store.ts';
import { type AccountAccess, deleteIdentities, revokeAccess } from './store.ts';

function withoutLinks(settings: Account['merchantSettings']): Account['merchantSettings'] {
  const { default_redirect_url: _, default_support_url: __, ...rest } = settings;
  return rest;
}

/** Values after a claim. The reader of the address gets no account that the person transferred. */
export const withoutAccess = ({ now }: Shard, account: Account, access: AccountAccess): Partial<Account> => ({
  walletAddress: null,
  walletKey: null,
  emailVerified: true,
  factors: null,
  factorsEndAt: null,
  isStaff: false,
  tokenVersion: account.tokenVersion + 1,
  ...(isHandedOver(account)
    ? {}
    : {
        payoutWallet: null,
        roles: {},
        transfer: null,
        requireFactor: false,
        merchantSettings: withoutLinks(account.merchantSettings),
        claimed: { at: now, ...access },
      }),
});

export const planRevokeAccess = (ctx: Shard, account: Account, access: AccountAccess): Write[] => [
  deleteIdentities(ctx.db, account.id),
  ...deleteFactors(ctx.db, account.id),
  ...(isHandedOver(account) ? [] : planEndOfAccess(ctx, account.id)),
  ...planClaimedEmail(ctx, account, access),
];

const planEndOfAccess = (ctx: Shard, accountId: AccountId): Write[] => [
  ...revokeAccess(ctx, accountId),
  revokeAllKeys(ctx.db, accountId, ctx.now),
  forgetWallets(ctx.db, accountId),
  deleteMembers(ctx.db, accountId),
  deleteInvitations(ctx.db, accountId),
];

const planClaimedEmail = (ctx: Shard, { id: accountId, email: address }: Account, access: AccountAccess): Write[] => [
  ...planEmail(ctx, { template: 'account_claimed', facts: { ...access, at: iso(ctx.now) }, accountId, address: address! }).writes,
];

/** Entry of a claim: the proven reader of the address ended all access of before. */
export const recordClaim = (ctx: Shard, accountId: AccountId): Write =>
  recordAction(
    ctx,
    { merchantId: accountId, livemode: true },
    { action: 'account.claimed', subject: { type: 'account', id: accountId }, by: personIn(accountId) },
  );

/** Stores a claim with `store` and revokes every key from the next request on, also keys created meanwhile. */
export async function claiming<T>(ctx: Shard, account: Account, store: () => Promise<T>): Promise<T> {
  if (isHandedOver(account)) return store();
  const keys = await listKeys(ctx.db, account.id, null);
  return changeKeys(ctx, account, keys, async () => {
    const stored = await store();
    keys.push(...(await listKeys(ctx.db, account.id, null)));
    return stored;
  });
}
