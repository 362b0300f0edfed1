import { sha256Hex } from '#core/crypto.ts';
import { ApiError } from '#core/errors.ts';
import type { AccountId } from '#core/ids.ts';
import type { Locale } from '#core/locales.ts';
import { dropMailsOf } from '#features/mail/outbox.ts';
import type { Actor, Ctx, Scope, Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { requireFreshSignIn } from '#platform/http/callers.ts';
import { fetchPicture } from '#platform/providers/picture.ts';
import { checkTarget, targetRules } from '#platform/providers/target-url.ts';
import { NOTIFICATION_PREFS, type NotificationPrefs, prefsOf } from '#rules/letters.ts';
import { ACCOUNT } from '#rules/states.ts';
import { changeAccount } from './change-account.ts';
import { eraseWhatNames } from './erasure.store.ts';
import { planLocks } from './oauth/identities.ts';
import { mergeSettings } from './settings.ts';
import { forgetLogo, forgetWallets, type MerchantSettings, revokeAllKeys, storeLogo } from './store.ts';

interface UpdateAccount {
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
export async function updateAccount(
  ctx: Scope,
  actor: Actor,
  input: UpdateAccount,
  storeAnswer: StoreAnswer<AccountUpdate>,
): Promise<AccountUpdate> {
  if (!actor.livemode && actor.via === 'key') {
    const detail = 'A sandbox key cannot change settings of live buyers. Use a live key or a session token.';
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
    return { values, writes: [...logo.writes(ctx, account.id), ...(await storeAnswer({ updatedFields, logoProblem: logo.problem }))] };
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

/** A logo as papers will show it: statements for the batch of the setting, and in words why there is none; null where one was kept, or none was asked for. */
interface LogoReading {
  writes(ctx: Shard, accountId: AccountId): Write[];
  problem: string | null;
}

const UNCHANGED: LogoReading = { writes: () => [], problem: null };
const cleared = (problem: string | null): LogoReading => ({ writes: ({ db }, accountId) => [forgetLogo(db, accountId)], problem });

/**
 * Reads the logo that a patch of the settings names, every time it names one, so that saving the same address again brings the picture of
 * now. A receipt never waits for it: papers carry the bytes that are kept here. One that cannot be drawn is not kept, and its address is
 * saved all the same, because pages show it by themselves.
 */
async function readLogo(ctx: Ctx, { checkout_logo_url: url }: MerchantSettings): Promise<LogoReading> {
  if (url === undefined) return UNCHANGED;
  if (url === '') return cleared(null);
  const target = checkTarget(url, targetRules(ctx));
  if (!target.ok) return cleared('the URL is not a public https URL on port 443 or 8443');
  const answer = await fetchPicture(ctx, url);
  if ('problem' in answer) return cleared(answer.problem);
  const { bytes } = answer;
  const { isDrawable } = await import('#papers/logo.ts');
  if (!(await isDrawable(bytes))) return cleared('the file is not a readable PNG or JPEG of at most four million pixels');
  const logo = { url, sha256: sha256Hex(bytes), bytes };
  return { writes: ({ db }, merchantId) => [storeLogo(db, { merchantId, ...logo })], problem: null };
}
