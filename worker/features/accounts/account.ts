import { sha256Hex } from '#core/crypto.ts';
import { ApiError, raise } from '#core/errors.ts';
import type { AccountId } from '#core/ids.ts';
import type { Locale } from '#core/locales.ts';
import { dropMailsOf } from '#features/email/outbox.ts';
import type { Actor, Ctx, Scope, Shard } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import type { Write } from '#platform/db/commit.ts';
import { homeOf } from '#platform/db/directory.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { requireFreshSignIn, roleRefused, tokenRequired } from '#platform/http/callers.ts';
import { fetchPicture } from '#platform/providers/picture.ts';
import { checkTarget, targetRules } from '#platform/providers/target-url.ts';
import { isHandedOver, personStatusOf, roleIn } from '#rules/access/roles.ts';
import { NOTIFICATION_PREFS, type NotificationPrefs, prefsOf } from '#rules/emails.ts';
import { ACCOUNT } from '#rules/states.ts';
import { changeAccount } from './change-account.ts';
import { reopenErased } from './entries/erasure.store.ts';
import { eraseWhatNames, planErasedActs } from './erasure.store.ts';
import { eraseFactors } from './factors/store.ts';
import { addressKeysOfPerson } from './members/erase-invitations.ts';
import { deleteInvitations } from './members/invitation.store.ts';
import { deleteMembers } from './members/store.ts';
import { withdrawTransfers } from './members/transfer.ts';
import { planLocks } from './oauth/identities.ts';
import { mergeSettings } from './settings.ts';
import { forgetLogo, forgetWallets, getAccount, type MerchantSettings, revokeAllKeys, storeLogo } from './store.ts';

interface UpdateAccount {
  displayName?: string;
  timezone?: string;
  locale?: Locale;
  notificationPrefs?: Partial<NotificationPrefs>;
  merchantSettings?: MerchantSettings;
  salesPaused?: boolean;
  requireFactor?: boolean;
}

export interface AccountUpdate {
  updatedFields: string[];
  logoProblem: string | null;
}

/**
 * Updates the profile and settings of a live account. Returns no names if nothing changed. Throws 403 for a sandbox key, and without a recent
 * sign-in to resume sales.
 */
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
  // The locale belongs to the person, with a key to the owner, who may be in another database.
  const personId = actor.personId ?? (input.locale === undefined ? actor.accountId : (await getAccount(ctx.db, actor.accountId)).ownerId);
  const isOfPerson = personId === actor.accountId;
  const hasOwnLocale = !isOfPerson && (await changeLocale(ctx, personId, input.locale));
  await changeAccount(ctx, actor.accountId, async (account) => {
    const { settings, changed } = mergeSettings(account.merchantSettings, input.merchantSettings ?? {});
    const { displayName = account.displayName, timezone = account.timezone } = input;
    const locale = isOfPerson ? (input.locale ?? account.locale) : account.locale;
    const isPaused = account.salesPausedAt !== null;
    const { salesPaused = isPaused } = input;
    if (isPaused && !salesPaused) requireFreshSignIn(ctx, actor);
    const { requireFactor = account.requireFactor } = input;
    if (requireFactor !== account.requireFactor) await requireRuleChange(ctx, actor, account);
    const prefs = mergePrefs(account.notificationPrefs, input.notificationPrefs ?? {});
    updatedFields = [
      ...(displayName === account.displayName ? [] : ['display_name']),
      ...(timezone === account.timezone ? [] : ['timezone']),
      ...(locale === account.locale && !hasOwnLocale ? [] : ['locale']),
      ...(salesPaused === isPaused ? [] : ['sales_paused']),
      ...(requireFactor === account.requireFactor ? [] : ['require_factor']),
      ...prefs.changed.map((name) => `notification_prefs.${name}`),
      ...changed.map((name) => `merchant_settings.${name}`),
    ];
    const isUnchanged = updatedFields.length === (hasOwnLocale ? 1 : 0);
    const values = isUnchanged
      ? undefined
      : {
          displayName,
          timezone,
          locale,
          notificationPrefs: prefs.merged,
          merchantSettings: settings,
          salesPausedAt: salesPaused ? (account.salesPausedAt ?? ctx.wallNow) : null,
          requireFactor,
        };
    const entry = recordAction(ctx, ctx, {
      action: 'account.updated',
      subject: { type: 'account', id: account.id },
      before: recordedAccount(account),
      after: recordedAccount({ ...account, ...values }),
    });
    const effect = [...logo.writes(ctx, account.id), ...(values ? [entry] : [])];
    return { values, writes: [...effect, ...(await storeAnswer({ updatedFields, logoProblem: logo.problem }))] };
  });
  return { updatedFields, logoProblem: logo.problem };
}

/**
 * The owner alone decides whether members need a second factor. Throws 403 invalid_authorization (token_required, role, sign_in_required), or 409
 * state_conflict for an owner without one.
 */
async function requireRuleChange(ctx: Ctx, actor: Actor, account: Account): Promise<void> {
  if (actor.personId === null) throw tokenRequired();
  const role = roleIn(account, actor.personId) ?? raise('not_found');
  if (role !== 'owner') throw roleRefused(role, 'account:write');
  requireFreshSignIn(ctx, actor);
  if (account.requireFactor || actor.factors) return;
  const detail = 'You have no second factor. Add a passkey or an authenticator app first.';
  throw new ApiError('state_conflict', { detail, meta: { reason: 'factor_required' } });
}

/** Fields of an account in the audit log. */
const recordedAccount = ({
  displayName,
  timezone,
  locale,
  notificationPrefs,
  merchantSettings,
  salesPausedAt,
  requireFactor,
}: Account) => ({
  ...{ display_name: displayName, timezone, locale, notification_prefs: prefsOf(notificationPrefs), ...merchantSettings },
  sales_paused: salesPausedAt !== null,
  require_factor: requireFactor,
});

/** Sets the language of a person who acts on another account. True if it is another than before. */
async function changeLocale(ctx: Ctx, personId: AccountId, locale: Locale | undefined): Promise<boolean> {
  let isChanged = false;
  if (locale === undefined) return isChanged;
  const home = homeOf(ctx, personId);
  await changeAccount(home, personId, (person) => {
    isChanged = person.locale !== locale;
    if (!isChanged) return null;
    const fields = { before: { locale: person.locale }, after: { locale } };
    const entry = { action: 'account.updated', subject: { type: 'person', id: personId }, ...fields } as const;
    return { values: { locale }, writes: [recordAction(home, { merchantId: personId, livemode: true }, entry)] };
  });
  return isChanged;
}

function mergePrefs(stored: Account['notificationPrefs'], patch: Partial<NotificationPrefs>) {
  const known = prefsOf(stored);
  const changed = NOTIFICATION_PREFS.filter((name) => patch[name] !== undefined && patch[name] !== known[name]);
  return { merged: changed.length === 0 ? stored : { ...known, ...patch }, changed };
}

/** Rows of each kind that the deletion itself erases. The sweep erases the rest of a larger account. */
const ERASED_AT_ONCE = 200;

const NAMELESS_PERSON = {
  ...{ email: null, emailVerified: false, joinAskedAt: null, formerEmails: [], factors: null, walletAddress: null },
  ...{ name: 'Deleted account', locale: 'en', isStaff: false },
} satisfies Partial<Account>;

const namelessPerson = (ctx: Shard, person: Account): Partial<Account> => ({
  ...NAMELESS_PERSON,
  endedEmailKeys: addressKeysOfPerson(ctx, person),
  tokenVersion: person.tokenVersion + 1,
});

const NAMELESS_ACCOUNT = {
  ...{ payoutWallet: null, roles: {}, transfer: null, displayName: 'Deleted account', timezone: 'UTC' },
  ...{ notificationPrefs: {}, merchantSettings: {}, salesPausedAt: null, requireFactor: false, emailComplaints: [] },
} satisfies Partial<Account>;

/** Plans the end of an account, and of the person of the same id unless that person handed it over. */
export async function planDeletion(ctx: Shard, account: Account): Promise<{ values: Partial<Account>; writes: Write[] }> {
  const { id } = account;
  const end = { status: ACCOUNT.next(account.status, 'delete'), deletedAt: ctx.now, ...NAMELESS_ACCOUNT };
  const endOfPerson = isHandedOver(account) ? {} : namelessPerson(ctx, account);
  return {
    values: { ...end, ...endOfPerson },
    writes: [
      recordAction(ctx, { merchantId: id, livemode: true }, { action: 'account.deleted', subject: { type: 'account', id } }),
      revokeAllKeys(ctx.db, id, ctx.now),
      deleteMembers(ctx.db, id),
      deleteInvitations(ctx.db, id),
      forgetWallets(ctx.db, id),
      ...(isHandedOver(account) ? [] : [...eraseFactors(ctx.db, id), ...(await planLocks(ctx, id))]),
      reopenErased(ctx.db, id),
      dropMailsOf(ctx, id, ERASED_AT_ONCE),
      ...eraseWhatNames(ctx, id, ERASED_AT_ONCE),
      ...(await planErasedActs(ctx, id, ERASED_AT_ONCE)),
    ],
  };
}

/**
 * Deletes an account and the person who owns it: erases personal data, revokes keys and tokens at once and stops webhooks. Payments, receipts
 * and claims remain. Keyed hashes and the password remain, so that only the owner learns of the deletion and no other person can register as
 * them. Throws 403 sign_in_required for an old session, 409 state_conflict for a person who owns another account too.
 */
export async function deleteAccount(ctx: Scope, actor: Actor): Promise<void> {
  requireFreshSignIn(ctx, actor);
  const personId = actor.personId!;
  const { ownerId } = await changeAccount(ctx, actor.accountId, async (account) => {
    const role = roleIn(account, personId) ?? raise('not_found');
    if (role !== 'owner') throw roleRefused(role, 'account:write');
    await requireNoOther(ctx, personId, account.id);
    return planDeletion(ctx, account);
  });
  if (ownerId !== actor.accountId) await endPerson(ctx, ownerId);
}

/** Throws 409 state_conflict if the person owns another account, which would be left without its owner. */
async function requireNoOther(ctx: Ctx, personId: AccountId, accountId: AccountId): Promise<void> {
  const owned = await withdrawTransfers(ctx, await getAccount(homeOf(ctx, personId).db, personId), accountId);
  if (owned.length === 0) return;
  const detail = 'You own another account too. Hand it over first.';
  throw new ApiError('state_conflict', { detail, meta: { reason: 'owns_others', accounts: owned.map(({ id }) => id) } });
}

/** Ends a person who handed the first account over and owns none. Idempotent: the erasure of the deleted account repeats it after a crash. */
export async function endPerson(ctx: Ctx, personId: AccountId): Promise<void> {
  const home = homeOf(ctx, personId);
  await changeAccount(home, personId, async (person) => {
    if (personStatusOf(person) === 'deleted' || (await withdrawTransfers(ctx, person)).length > 0) return null;
    return {
      values: { ...namelessPerson(home, person), personEndedAt: home.now },
      writes: [...eraseFactors(home.db, personId), ...(await planLocks(home, personId))],
    };
  });
}

/** Writes that store the logo for PDFs, and the reason if there is none. The reason is null if a logo was stored or none was requested. */
interface LogoReading {
  writes(ctx: Shard, accountId: AccountId): Write[];
  problem: string | null;
}

const UNCHANGED: LogoReading = { writes: () => [], problem: null };
const cleared = (problem: string | null): LogoReading => ({ writes: ({ db }, accountId) => [forgetLogo(db, accountId)], problem });

/**
 * Fetches the logo each time a patch names one, so that saving the same address again refreshes the picture. PDFs use the stored bytes and
 * never wait for the merchant's server. A logo that cannot be drawn is not stored, but its address is saved because pages display it
 * directly.
 */
async function readLogo(ctx: Ctx, { checkout_logo_url: url }: MerchantSettings): Promise<LogoReading> {
  if (url === undefined) return UNCHANGED;
  if (url === '') return cleared(null);
  const target = checkTarget(url, targetRules(ctx));
  if (!target.ok) return cleared('the URL is not a public https URL on port 443 or 8443');
  const answer = await fetchPicture(ctx, url);
  if ('problem' in answer) return cleared(answer.problem);
  const { bytes } = answer;
  const { isDrawable } = await import('#pdf/logo.ts');
  if (!(await isDrawable(bytes))) return cleared('the file is not a readable PNG or JPEG of at most four million pixels');
  const logo = { url, sha256: sha256Hex(bytes), bytes };
  return { writes: ({ db }, merchantId) => [storeLogo(db, { merchantId, ...logo })], problem: null };
}
