import { ApiError } from '#core/errors.ts';
import type { Locale } from '#core/locales.ts';
import { dropMailsOf } from '#features/mail/outbox.ts';
import { NOTIFICATION_PREFS, type NotificationPrefs, prefsOf } from '#letters/letter.ts';
import type { Actor, Scope } from '#platform/context.ts';
import type { Keep } from '#platform/db/once.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { requireFreshSignIn } from '#platform/http/callers.ts';
import { ACCOUNT } from '#rules/states.ts';
import { changeAccount } from './change-account.ts';
import { eraseWhatNames } from './erasure.store.ts';
import { readLogo } from './logo.ts';
import { planLocks } from './oauth/identities.ts';
import { forgetWallets } from './payout.store.ts';
import { mergeSettings } from './settings.ts';
import { type MerchantSettings, revokeAllKeys } from './store.ts';

export interface UpdateAccount {
  displayName?: string;
  timezone?: string;
  locale?: Locale;
  notificationPrefs?: Partial<NotificationPrefs>;
  merchantSettings?: MerchantSettings;
}

/** What became of a patch: the names of what it changed, and in words why papers show no logo though it named one. */
export interface AccountUpdate {
  updatedFields: string[];
  logoProblem: string | null;
}

/** Changes what is shown of an account, live: 403 for a sandbox key. The names it answers are none where nothing would change. */
export async function updateAccount(ctx: Scope, actor: Actor, input: UpdateAccount, keep: Keep<AccountUpdate>): Promise<AccountUpdate> {
  if (!actor.livemode && actor.via === 'key') {
    const detail = 'A sandbox key cannot change what live buyers see.';
    throw new ApiError('invalid_authorization', { status: 403, detail, meta: { reason: 'mode' } });
  }
  const logo = await readLogo(ctx, input.merchantSettings ?? {});
  let updatedFields: string[] = [];
  await changeAccount(ctx, actor.accountId, async (account) => {
    const { settings, changed } = mergeSettings(account.merchantSettings, input.merchantSettings ?? {});
    const { displayName = account.displayName, timezone = account.timezone, locale = account.locale } = input;
    const prefs = mergePrefs(account.notificationPrefs, input.notificationPrefs ?? {});
    updatedFields = [
      ...(displayName === account.displayName ? [] : ['display_name']),
      ...(timezone === account.timezone ? [] : ['timezone']),
      ...(locale === account.locale ? [] : ['locale']),
      ...prefs.changed.map((name) => `notification_prefs.${name}`),
      ...changed.map((name) => `merchant_settings.${name}`),
    ];
    const values =
      updatedFields.length === 0
        ? undefined
        : { displayName, timezone, locale, notificationPrefs: prefs.merged, merchantSettings: settings };
    return { values, writes: [...logo.writes(ctx, account.id), ...(await keep({ updatedFields, logoProblem: logo.problem }))] };
  });
  return { updatedFields, logoProblem: logo.problem };
}

/** The switches after a patch, and the names of those it changes. */
function mergePrefs(stored: Account['notificationPrefs'], patch: Partial<NotificationPrefs>) {
  const known = prefsOf(stored);
  const changed = NOTIFICATION_PREFS.filter((name) => patch[name] !== undefined && patch[name] !== known[name]);
  return { merged: changed.length === 0 ? stored : { ...known, ...patch }, changed };
}

/** How many rows of each kind the deletion itself erases; the sweep erases the rest of a larger account. */
const ERASED_AT_ONCE = 200;

/**
 * Deletes an account: erases what names a person, revokes its keys and tokens at once, and sends no webhook any more. Payments, receipts
 * and claims stay. The keyed hashes and the password stay too, so that only its owner is told that it was deleted, and no other person
 * takes its place. 403 sign_in_required for an old session.
 */
export async function deleteAccount(ctx: Scope, actor: Actor): Promise<void> {
  requireFreshSignIn(ctx, actor);
  await changeAccount(ctx, actor.accountId, async (account) => ({
    values: {
      status: ACCOUNT.next(account.status, 'delete'),
      deletedAt: ctx.now,
      tokenVersion: account.tokenVersion + 1,
      email: null,
      emailVerified: false,
      formerEmails: [],
      walletAddress: null,
      displayName: 'Deleted account',
      timezone: 'UTC',
      locale: 'en',
      isStaff: false,
      notificationPrefs: {},
      merchantSettings: {},
    },
    writes: [
      revokeAllKeys(ctx.db, account.id, ctx.now),
      forgetWallets(ctx.db, account.id),
      dropMailsOf(ctx, account.id, ERASED_AT_ONCE),
      ...(await planLocks(ctx, account.id)),
      ...eraseWhatNames(ctx, account.id, ERASED_AT_ONCE),
    ],
  }));
}
