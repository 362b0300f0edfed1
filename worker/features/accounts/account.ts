import { ApiError } from '#core/errors.ts';
import type { Actor, Scope } from '#platform/context.ts';
import type { Keep } from '#platform/db/once.ts';
import { requireFreshSignIn } from '#platform/http/callers.ts';
import { ACCOUNT } from '#rules/states.ts';
import { changeAccount } from './change-account.ts';
import { eraseWhatNames } from './erasure.store.ts';
import { forgetWallets } from './payout.store.ts';
import { mergeSettings } from './settings.ts';
import { type MerchantSettings, revokeAllKeys } from './store.ts';

export interface UpdateAccount {
  displayName?: string;
  timezone?: string;
  merchantSettings?: MerchantSettings;
}

/** Changes what is shown of an account, live: 403 for a sandbox key. Answers the names of what changed, none where nothing would. */
export async function updateAccount(ctx: Scope, actor: Actor, input: UpdateAccount, keep: Keep<string[]>): Promise<string[]> {
  if (!actor.livemode && actor.via === 'key') {
    const detail = 'A sandbox key cannot change what live buyers see.';
    throw new ApiError('invalid_authorization', { status: 403, detail, meta: { reason: 'mode' } });
  }
  let updatedFields: string[] = [];
  await changeAccount(ctx, actor.accountId, async (account) => {
    const { settings, changed } = mergeSettings(account.merchantSettings, input.merchantSettings ?? {});
    const { displayName = account.displayName, timezone = account.timezone } = input;
    updatedFields = [
      ...(displayName === account.displayName ? [] : ['display_name']),
      ...(timezone === account.timezone ? [] : ['timezone']),
      ...changed.map((name) => `merchant_settings.${name}`),
    ];
    const values = updatedFields.length === 0 ? undefined : { displayName, timezone, merchantSettings: settings };
    return { values, writes: await keep(updatedFields) };
  });
  return updatedFields;
}

/** Rows of each kind; what a larger account has more is erased by the sweep. */
const ERASED_AT_ONCE = 200;

/**
 * Deletes an account: what names a person goes, its keys and tokens die at once, and no webhook leaves any more. Payments, receipts
 * and claims stay. The keyed hashes and the password stay too, so that only its owner is told that it was deleted, and no other person
 * takes its place. 403 sign_in_required for an old session.
 */
export async function deleteAccount(ctx: Scope, actor: Actor): Promise<void> {
  requireFreshSignIn(ctx, actor);
  await changeAccount(ctx, actor.accountId, (account) => ({
    values: {
      status: ACCOUNT.next(account.status, 'delete'),
      deletedAt: ctx.now,
      tokenVersion: account.tokenVersion + 1,
      email: null,
      emailVerified: false,
      walletAddress: null,
      displayName: 'Deleted account',
      timezone: 'UTC',
      isStaff: false,
      notificationPrefs: {},
      merchantSettings: {},
    },
    writes: [
      revokeAllKeys(ctx.db, account.id, ctx.now),
      forgetWallets(ctx.db, account.id),
      ...eraseWhatNames(ctx, account.id, ERASED_AT_ONCE),
    ],
  }));
}
