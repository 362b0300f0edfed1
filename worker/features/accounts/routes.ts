import { z } from '@hono/zod-openapi';
import { LOCALE_NAMES } from '#core/locales.ts';
import { iso } from '#core/time.ts';
import { addressKeysOf, type BounceReason, findBounce } from '#features/email/outbox.ts';
import type { Actor, Ctx, Shard } from '#platform/context.ts';
import { homeOf, regionOf } from '#platform/db/directory.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { ShownName } from '#platform/http/bodies/own-fields.ts';
import { merchantBodyErrors } from '#platform/http/callers.ts';
import { malformedKeyErrors } from '#platform/http/idempotency-key.ts';
import {
  AccountUuid,
  type ActorEnv,
  DetailResponse,
  given,
  orNull,
  type RouteContext,
  Timestamp,
  UpdateResponse,
} from '#platform/http/openapi.ts';
import { callerOrigin, hitBucketOrOwn } from '#platform/http/rate-limit.ts';
import { routes } from '#platform/http/route.ts';
import { REGIONS } from '#platform/variables/regions.ts';
import { type CountedFactors, NO_FACTORS } from '#rules/access/factors.ts';
import { ROLES } from '#rules/access/roles.ts';
import type { SignInProvider } from '#rules/admission.ts';
import { NOTIFICATION_PREFS, type NotificationPref, prefsOf } from '#rules/emails.ts';
import { PLAN_NAMES, planAt } from '#rules/plans.ts';
import { ACCOUNT } from '#rules/states.ts';
import { deleteAccount, updateAccount } from './account.ts';
import { personOfToken } from './auth/known-sign-ins.ts';
import { ClaimsBody, Email } from './auth/routes.ts';
import { actingClaims } from './auth/tokens.ts';
import { TransferBody } from './members/transfer.routes.ts';
import { listIdentities } from './oauth/store.ts';
import { changeSecurity } from './security.ts';
import { MerchantSettingsPatch, SETTING_NAMES } from './settings.ts';
import { getAccount } from './store.ts';

const MerchantSettings = z
  .object(
    Object.fromEntries(
      SETTING_NAMES.map((name) => [name, z.string().describe(`${MerchantSettingsPatch.shape[name].description} Empty if not set.`)]),
    ),
  )
  .openapi('MerchantSettings');

const SWITCHES = {
  webhooks: 'Emails about endpoints that fail or are disabled.',
  payouts: 'Emails about unmatched money and refunds.',
  renewals: 'Emails before a plan ends.',
  buyer_receipts: 'Receipts to buyers who gave an email address.',
  product_news: 'Emails about product news.',
} satisfies Record<NotificationPref, string>;
const switches = Object.fromEntries(NOTIFICATION_PREFS.map((name) => [name, z.boolean().describe(SWITCHES[name])])) as Record<
  NotificationPref,
  z.ZodBoolean
>;
const NotificationPrefsBody = z
  .object(switches)
  .openapi('NotificationPrefs', { description: 'Email notification settings. All are enabled by default.' });

const ClaimedBody = z
  .object({
    at: Timestamp,
    keys: z.int(),
    endpoints: z.int(),
    providers: z.int().describe('Sign-in providers that were unlinked.'),
    wallets: z.int(),
  })
  .openapi('ClaimedAccount', {
    description: 'Time of the takeover of the account by the owner of its email address, and the access that ended with it.',
  });

const FactorsBody = z
  .object({
    passkeys: z.int(),
    totp: z.boolean().describe('True if the person has an authenticator app.'),
    recovery_codes_left: z.int(),
  })
  .openapi('Factors');

const AccountBody = z
  .object({
    user_id: AccountUuid,
    account_id: z.uuid(),
    role: orNull(z.enum(ROLES)).describe('Role of the caller in the account. Null for a key.'),
    email: orNull(z.string()),
    wallet_address: orNull(z.string()),
    display_name: z.string().describe('Name of the account, as buyers see it.'),
    tier: z.enum(PLAN_NAMES).describe('Plan: `free`, `starter`, `growth` or `scale`.'),
    status: z.enum(ACCOUNT.states),
    email_verified: z.boolean(),
    email_problem: z
      .enum(['bounced', 'complained'])
      .optional()
      .describe('Reason emails to the address are suspended: a bounce or a spam complaint. Verify the address again to resume.'),
    timezone: z.string().describe('IANA time zone, such as `Europe/Berlin`. Analytics use its days.'),
    locale: z.enum(LOCALE_NAMES).describe('Language of emails to you.'),
    region: z.enum(REGIONS).optional().describe('Region that stores the account, if the deployment has regions.'),
    created_at: Timestamp,
    key_id: orNull(z.uuid()),
    sandbox: z.boolean().describe('True if the calling key acts in the sandbox.'),
    notification_prefs: NotificationPrefsBody,
    merchant_settings: MerchantSettings.describe('Appearance of your checkout pages.'),
    sales_paused: z.boolean(),
    require_factor: z.boolean(),
    transfer: TransferBody.optional(),
    claims: ClaimsBody,
    has_password: z.boolean(),
    factors: FactorsBody,
    auth_providers: z.array(z.string()),
    claimed: ClaimedBody.optional().describe('Access that ended when the owner of the email address took over the account.'),
  })
  .openapi('Account');

interface AccountDetails {
  providers: SignInProvider[];
  bounce: BounceReason | null;
}

async function findAccountDetails(ctx: Shard, { id, email }: Account): Promise<AccountDetails> {
  const [identities, bounce] = await Promise.all([
    listIdentities(ctx.db, id),
    email === null ? null : findBounce(ctx.db, addressKeysOf(ctx, email)),
  ]);
  return { providers: identities.map(({ provider }) => provider), bounce };
}

/** Person who calls. With a key, the owner. */
async function findPerson(ctx: Ctx, account: Account, { personId }: Actor): Promise<Account> {
  const id = personId ?? account.ownerId;
  return id === account.id ? account : getAccount(homeOf(ctx, id).db, id);
}

/** Open offer of the account, for its owner and the member. */
function shownTransfer({ wallNow }: Ctx, { ownerId, transfer }: Account, { personId }: Actor) {
  const isShown = transfer !== null && transfer.expiresAt > wallNow && (personId === ownerId || personId === transfer.to);
  return isShown ? { to: transfer.to, expires_at: iso(transfer.expiresAt) } : null;
}

const toFactors = ({ passkeys, totp, recoveryCodes }: CountedFactors) => ({ passkeys, totp, recovery_codes_left: recoveryCodes });

interface Viewed extends AccountDetails {
  person: Account;
  actor: Actor;
}

const toAccountResource = (ctx: Ctx, account: Account, { person, actor, providers, bounce }: Viewed) => ({
  user_id: person.id,
  account_id: account.id,
  role: actor.role,
  email: person.email,
  wallet_address: person.walletAddress,
  display_name: account.displayName,
  tier: planAt(account, ctx.now),
  status: account.status,
  email_verified: person.emailVerified,
  ...given('email_problem', bounce),
  timezone: account.timezone,
  locale: person.locale,
  ...given('region', regionOf(ctx, account.id)),
  created_at: iso(account.createdAt),
  key_id: actor.keyId,
  sandbox: actor.keyId !== null && !actor.livemode,
  notification_prefs: prefsOf(account.notificationPrefs),
  merchant_settings: Object.fromEntries(SETTING_NAMES.map((name) => [name, account.merchantSettings[name] ?? ''])),
  sales_paused: account.salesPausedAt !== null,
  require_factor: account.requireFactor,
  ...given('transfer', shownTransfer(ctx, account, actor)),
  claims: actingClaims(person, { account }),
  has_password: person.passwordHash !== null,
  factors: toFactors(person.factors ?? NO_FACTORS),
  auth_providers: providers,
  ...given('claimed', account.claimed && { ...account.claimed, at: iso(account.claimed.at) }),
});

/**
 * Returns the canonical IANA name of a zone that the platform's calendar knows, else null. Plain offsets such as +02:00 are refused because
 * they have no daylight saving rules.
 */
function timezoneOf(text: string): string | null {
  try {
    return /^[A-Za-z]/.test(text) ? new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone : null;
  } catch {
    return null;
  }
}

const UpdateAccountRequest = z
  .object({
    display_name: ShownName(120).optional().describe('Name of the account, as buyers see it.'),
    timezone: z
      .string()
      .max(64)
      .refine((text) => timezoneOf(text) !== null, 'Expected an IANA time zone such as Europe/Berlin')
      .transform((text) => timezoneOf(text) ?? text)
      .openapi({ type: 'string' })
      .optional()
      .describe('IANA time zone, such as `Europe/Berlin`. Analytics use its days.'),
    locale: z.enum(LOCALE_NAMES).optional().describe('Language of emails, such as `en`.'),
    notification_prefs: NotificationPrefsBody.partial().optional(),
    merchant_settings: MerchantSettingsPatch.optional().describe('Appearance of your checkout pages.'),
    sales_paused: z
      .boolean()
      .optional()
      .describe(
        'Pauses all sales in both modes: they answer 409 with reason `paused`. What has begun finishes. Resuming requires a recent sign-in.',
      ),
    require_factor: z.boolean().optional().describe('Refuses members without a second factor. Set by an owner who has one.'),
  })
  .openapi('UpdateAccountRequest', { example: { timezone: 'Europe/Berlin', merchant_settings: { checkout_accent_hex: '#1a2b3c' } } });

const ChangeSecurityRequest = z
  .object({
    email: Email.optional(),
    current_password: z.string().max(1024).optional().describe('Current password, as proof of identity.'),
    new_password: z.string().max(1024).optional().describe('New password of 8 to 128 characters, and none of the commonest.'),
  })
  .openapi('ChangeSecurityRequest', { example: { current_password: 'correct horse', new_password: 'battery staple' } });

// Limits password guesses with a stolen token. The headers continue to show the account's own limit.
async function limitGuesses(c: RouteContext<ActorEnv>): Promise<void> {
  const { accountId } = c.var.actor;
  await hitBucketOrOwn(c, 'login', accountId, personOfToken(accountId));
}

export const accountRoutes = routes('Account', 'settings')
  .read({
    path: 'GET /account/me',
    id: 'getAccount',
    sdk: 'account.get',
    summary: 'Get the account',
    description: 'Returns the calling account.',
    needsNoFactor: true,
    returns: AccountBody,
    answer: async ({ scope, actor }) => {
      const account = await getAccount(scope.db, actor.accountId);
      const person = await findPerson(scope, account, actor);
      return toAccountResource(scope, account, { person, actor, ...(await findAccountDetails(homeOf(scope, person.id), person)) });
    },
  })
  .write({
    path: 'PATCH /account/me',
    id: 'updateAccount',
    sdk: 'account.update',
    summary: 'Update the account',
    description:
      'Updates settings; an empty text clears one. `updated_fields` lists what changed as dotted paths. `checkout_logo_url` is fetched when it is saved: a PNG or JPEG of at most 200 KB appears on PDF receipts.',
    body: UpdateAccountRequest,
    returns: UpdateResponse,
    codes: ['state_conflict'],
    once: ({ scope, actor, body }, storeAnswer) => {
      const { display_name: displayName, notification_prefs: notificationPrefs, merchant_settings: merchantSettings } = body;
      const { timezone, locale, sales_paused: salesPaused, require_factor: requireFactor } = body;
      const input = { timezone, locale, displayName, notificationPrefs, merchantSettings, salesPaused, requireFactor };
      return updateAccount(scope, actor, input, storeAnswer);
    },
    audit: ['account.updated'],
    present: ({ updatedFields, logoProblem }) => {
      const detail =
        logoProblem === null
          ? 'Account updated.'
          : `Account updated. PDF receipts have no logo: ${logoProblem}. Save the logo again to retry.`;
      return { detail, updated_fields: updatedFields };
    },
  })
  .self({
    path: 'PATCH /account/me/security',
    id: 'changeSecurity',
    sdk: 'account.changeSecurity',
    agent: { confirm: true },
    summary: 'Change email address or password',
    description:
      'Changes the email address or the password. An account without a password sets its first one within 15 minutes of signing in, without `current_password`.',
    limit: limitGuesses,
    body: ChangeSecurityRequest,
    returns: UpdateResponse,
    codes: ['invalid_credentials', 'email_registered', 'state_conflict', 'password_too_short', 'password_too_common', 'no_change'],
    once: ({ c, scope, actor, body: { email, current_password: currentPassword, new_password: newPassword } }, storeAnswer) =>
      changeSecurity(scope, actor, { email, currentPassword, newPassword, ip: callerOrigin(c).ip }, storeAnswer),
    audit: ['person.email_changed', 'person.password_changed'],
    present: (updated) => ({ detail: 'Changed. All sessions have ended; sign in again.', updated_fields: updated }),
    isSecret: true,
  })
  .person({
    path: 'DELETE /account/account',
    group: 'account',
    id: 'deleteAccount',
    sdk: 'account.delete',
    agent: { confirm: true },
    summary: 'Delete the account',
    description:
      'Deletes the account. Requires a recent sign-in. Sessions, keys and webhooks end, and personal data is erased; payments, memberships and receipts remain.',
    returns: DetailResponse,
    refusals: merchantBodyErrors(...malformedKeyErrors, 'state_conflict'),
    audit: ['account.deleted'],
    answer: async ({ scope, actor }) => {
      await deleteAccount(scope, actor);
      return { detail: 'The account is deleted. Its sessions and keys have ended.' };
    },
  });
