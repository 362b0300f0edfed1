import { z } from '@hono/zod-openapi';
import { LOCALE_NAMES } from '#core/locales.ts';
import { iso } from '#core/time.ts';
import { addressKeysOf, type BounceReason, findBounce } from '#features/mail/outbox.ts';
import type { Actor, Ctx, Shard } from '#platform/context.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { ShownName } from '#platform/http/bodies/own-fields.ts';
import { merchantBodyErrors } from '#platform/http/callers.ts';
import { malformedKeyErrors } from '#platform/http/idempotency-key.ts';
import { type ActorEnv, DetailResponse, given, orNull, type RouteContext, Timestamp, UpdateResponse } from '#platform/http/openapi.ts';
import { countPasswordTry, hitBucket } from '#platform/http/rate-limit.ts';
import { routes } from '#platform/http/route.ts';
import type { SignInProvider } from '#rules/admission.ts';
import { NOTIFICATION_PREFS, type NotificationPref, prefsOf } from '#rules/letters.ts';
import { PLAN_NAMES, planAt } from '#rules/plans.ts';
import { ACCOUNT } from '#rules/states.ts';
import { deleteAccount, updateAccount } from './account.ts';
import { ClaimsBody, Email } from './auth/routes.ts';
import { claimsOf } from './auth/tokens.ts';
import { changeSecurity } from './security.ts';
import { MerchantSettingsPatch, SETTING_NAMES } from './settings.ts';
import { getAccount, listIdentities } from './store.ts';

const MerchantSettings = z
  .object(Object.fromEntries(SETTING_NAMES.map((name) => [name, z.string().openapi({ description: 'Empty where it is not set.' })])))
  .openapi('MerchantSettings');

const switches = Object.fromEntries(NOTIFICATION_PREFS.map((name) => [name, z.boolean()])) as Record<NotificationPref, z.ZodBoolean>;
const NotificationPrefsBody = z
  .object(switches)
  .openapi('NotificationPrefs', { description: 'Which e-mails you get; all of them at first.' });

const ClaimedBody = z
  .object({ at: Timestamp, keys: z.int(), endpoints: z.int(), providers: z.int(), wallets: z.int() })
  .openapi('ClaimedAccount', {
    description:
      'There once the reader of the address has taken the account over from whoever made it: when, and how many of each ended with that.',
  });

const AccountBody = z
  .object({
    user_id: z.uuid(),
    email: orNull(z.string()),
    wallet_address: orNull(z.string()),
    display_name: z.string(),
    tier: z.enum(PLAN_NAMES),
    status: z.enum(ACCOUNT.states),
    email_verified: z.boolean(),
    email_problem: z.enum(['bounced', 'complained']).optional().openapi({
      description: 'E-mails to the address came back, or one was reported as spam: none goes there until it is proven once more.',
    }),
    timezone: z.string(),
    locale: z.enum(LOCALE_NAMES).openapi({ description: 'What language e-mails to you are in.' }),
    created_at: Timestamp,
    key_id: orNull(z.uuid()),
    sandbox: z.boolean(),
    notification_prefs: NotificationPrefsBody,
    merchant_settings: MerchantSettings,
    claims: ClaimsBody,
    has_password: z.boolean(),
    auth_providers: z.array(z.string()),
    claimed: ClaimedBody.optional(),
  })
  .openapi('Account');

/** What of an account stands in other tables than its own. */
interface Beside {
  providers: SignInProvider[];
  bounce: BounceReason | null;
}

async function besideOf(ctx: Shard, { id, email }: Account): Promise<Beside> {
  const [identities, bounce] = await Promise.all([
    listIdentities(ctx.db, id),
    email === null ? null : findBounce(ctx.db, addressKeysOf(ctx, email)),
  ]);
  return { providers: identities.map(({ provider }) => provider), bounce };
}

const toAccountResource = ({ now }: Ctx, account: Account, actor: Actor, { providers, bounce }: Beside) => ({
  user_id: account.id,
  email: account.email,
  wallet_address: account.walletAddress,
  display_name: account.displayName,
  tier: planAt(account, now),
  status: account.status,
  email_verified: account.emailVerified,
  ...given('email_problem', bounce),
  timezone: account.timezone,
  locale: account.locale,
  created_at: iso(account.createdAt),
  key_id: actor.keyId,
  sandbox: actor.keyId !== null && !actor.livemode,
  notification_prefs: prefsOf(account.notificationPrefs),
  merchant_settings: Object.fromEntries(SETTING_NAMES.map((name) => [name, account.merchantSettings[name] ?? ''])),
  claims: claimsOf(account),
  has_password: account.passwordHash !== null,
  auth_providers: providers,
  ...given('claimed', account.claimed && { ...account.claimed, at: iso(account.claimed.at) }),
});

/** The canonical IANA name of a zone that the platform's calendar knows; null for others. Plain offsets such as +02:00 have no rules for the seasons. */
function timezoneOf(text: string): string | null {
  try {
    return /^[A-Za-z]/.test(text) ? new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone : null;
  } catch {
    return null;
  }
}

const UpdateAccountRequest = z
  .object({
    display_name: ShownName(120).optional(),
    timezone: z
      .string()
      .max(64)
      .refine((text) => timezoneOf(text) !== null, 'Expected an IANA time zone such as Europe/Berlin')
      .transform((text) => timezoneOf(text) ?? text)
      .openapi({ type: 'string' })
      .optional(),
    locale: z.enum(LOCALE_NAMES).optional(),
    notification_prefs: NotificationPrefsBody.partial().optional(),
    merchant_settings: MerchantSettingsPatch.optional(),
  })
  .openapi('UpdateAccountRequest', { example: { timezone: 'Europe/Berlin', merchant_settings: { checkout_accent_hex: '#1a2b3c' } } });

const ChangeSecurityRequest = z
  .object({
    email: Email.optional(),
    current_password: z.string().max(1024).optional(),
    new_password: z.string().max(1024).optional(),
  })
  .openapi('ChangeSecurityRequest', { example: { current_password: 'correct horse', new_password: 'battery staple' } });

// A stolen token must not become a way to guess the password. The headers go on telling the account's own limit.
async function limitGuesses(c: RouteContext<ActorEnv>): Promise<void> {
  await hitBucket(c, 'login', c.var.actor.accountId);
  await countPasswordTry(c, c.var.actor.accountId);
}

export const accountRoutes = routes('Account')
  .read({
    path: 'GET /account/me',
    id: 'getAccount',
    summary: 'Get the account',
    description: 'The account that calls.',
    returns: AccountBody,
    answer: async ({ scope, actor }) => {
      const account = await getAccount(scope.db, actor.accountId);
      return toAccountResource(scope, account, actor, await besideOf(scope, account));
    },
  })
  .write({
    path: 'PATCH /account/me',
    id: 'updateAccount',
    summary: 'Update the account',
    description:
      'Settings are merged; an empty text clears one. `updated_fields` names what changed, settings as dotted paths. A `checkout_logo_url` ' +
      'is read whenever it is saved: a PNG or JPEG of at most 200 KB heads the PDFs of receipts; `detail` says where it cannot.',
    body: UpdateAccountRequest,
    returns: UpdateResponse,
    codes: ['state_conflict'],
    once: ({ scope, actor, body }, storeAnswer) => {
      const { display_name: displayName, notification_prefs: notificationPrefs, merchant_settings: merchantSettings, ...rest } = body;
      return updateAccount(scope, actor, { ...rest, displayName, notificationPrefs, merchantSettings }, storeAnswer);
    },
    present: ({ updatedFields, logoProblem }) => {
      const detail =
        logoProblem === null ? 'Account updated.' : `Account updated. Papers show no logo: ${logoProblem}. Save it again to try again.`;
      return { detail, updated_fields: updatedFields };
    },
  })
  .person({
    path: 'PATCH /account/me/security',
    id: 'changeSecurity',
    summary: 'Change e-mail or password',
    description:
      'An account without a password sets its first one within 15 minutes of signing in, without `current_password`. Sent again ' +
      'under its Idempotency-Key, with a token of a new sign-in, it has the same answer, and the old password is not asked for.',
    limit: limitGuesses,
    body: ChangeSecurityRequest,
    returns: UpdateResponse,
    codes: ['invalid_credentials', 'email_registered', 'state_conflict', 'password_too_short', 'no_change'],
    once: ({ scope, actor, body: { email, current_password: currentPassword, new_password: newPassword } }, storeAnswer) =>
      changeSecurity(scope, actor, { email, currentPassword, newPassword }, storeAnswer),
    present: (updated) => ({ detail: 'Changed. Every session has ended; sign in again.', updated_fields: updated }),
    isSecret: true,
  })
  .person({
    path: 'DELETE /account/account',
    id: 'deleteAccount',
    summary: 'Delete the account',
    description:
      'It needs a person who signed in within the last 15 minutes. Sessions, keys and webhooks end, what names a person is erased, hand-offs ' +
      'are 410 and products 404. Payments, memberships and receipts stay: they are also the buyers’. A payment under way is still confirmed. ' +
      'It needs no Idempotency-Key: sent again it finds the account deleted, and is answered 403 `account_deleted`.',
    returns: DetailResponse,
    refusals: merchantBodyErrors(...malformedKeyErrors, 'state_conflict'),
    answer: async ({ scope, actor }) => {
      await deleteAccount(scope, actor);
      return { detail: 'The account is deleted. Its sessions and keys have ended.' };
    },
  });
