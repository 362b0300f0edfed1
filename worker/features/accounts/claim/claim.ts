/**
 * An account whose address was never proven may have been made by another person. Once the reader of the address proves it, nothing that
 * was put there before keeps any power: sessions, keys, endpoints, other ways in, where money goes, and sales that have begun.
 * @module
 */

import { iso } from '#core/time.ts';
import { planLetter } from '#features/mail/outbox.ts';
import type { Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { endKeys } from '../agent-account.ts';
import { forgetWallets, listKeys, revokeAllKeys } from '../store.ts';
import { type Arms, disarm } from './store.ts';

/** Where buyers are led is no longer said by who made the account; what it is called and looks like stays. */
function withoutLinks(settings: Account['merchantSettings']): Account['merchantSettings'] {
  const { default_redirect_url: _, default_support_url: __, ...rest } = settings;
  return rest;
}

/** What of the row itself opened the account, and does so no more; and how much else did, which its owner is shown. */
export const disarmed = ({ now }: Shard, { tokenVersion, merchantSettings }: Account, arms: Arms): Partial<Account> => ({
  walletAddress: null,
  walletKey: null,
  emailVerified: true,
  isStaff: false,
  merchantSettings: withoutLinks(merchantSettings),
  tokenVersion: tokenVersion + 1,
  claimed: { at: now, ...arms },
});

/** Everything else that would keep power, and the letter that says how much of it there was. */
export const planDisarm = (ctx: Shard, { id: accountId, email: address }: Account, arms: Arms): Write[] => [
  ...disarm(ctx, accountId),
  revokeAllKeys(ctx.db, accountId, ctx.now),
  forgetWallets(ctx.db, accountId),
  ...planLetter(ctx, { letter: 'account_claimed', facts: { ...arms, at: iso(ctx.now) }, accountId, address: address! }).writes,
];

/** Stores a claim by `store`, and has every key refused from the next request on, also one that was made meanwhile. */
export async function claiming<T>(ctx: Shard, account: Account, store: () => Promise<T>): Promise<T> {
  const keys = await listKeys(ctx.db, account.id, null);
  return endKeys(ctx, account, keys, async () => {
    const stored = await store();
    keys.push(...(await listKeys(ctx.db, account.id, null)));
    return stored;
  });
}
