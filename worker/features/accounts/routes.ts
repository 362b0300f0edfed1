import { createRoute, z } from '@hono/zod-openapi';
import { iso } from '#core/time.ts';
import type { Actor, Ctx } from '#platform/context.ts';
import type { Keep } from '#platform/db/once.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import {
  keyedPersonRoute,
  merchantBodyErrors,
  merchantErrors,
  merchantRoute,
  merchantWriteErrors,
  writeRoute,
} from '#platform/http/callers.ts';
import { answerOnce, malformedKeyErrors, OptionalIdempotencyHeader, sendStored } from '#platform/http/idempotency-key.ts';
import {
  type ActorEnv,
  DetailResponse,
  jsonBody,
  ModeQuery,
  ok,
  orNull,
  type RouteContext,
  router,
  Timestamp,
} from '#platform/http/openapi.ts';
import { hitBucket } from '#platform/http/rate-limit.ts';
import { PLAN_NAMES, planAt } from '#rules/plans.ts';
import { ACCOUNT } from '#rules/states.ts';
import { deleteAccount, updateAccount } from './account.ts';
import { ClaimsBody, Email } from './auth/routes.ts';
import { claimsOf } from './auth/tokens.ts';
import { changeSecurity } from './security.ts';
import { MerchantSettingsPatch, SETTING_NAMES } from './settings.ts';
import { getAccount } from './store.ts';

const MerchantSettings = z
  .object(Object.fromEntries(SETTING_NAMES.map((name) => [name, z.string().openapi({ description: 'Empty where it is not set.' })])))
  .openapi('MerchantSettings');

const AccountBody = z
  .object({
    user_id: z.uuid(),
    email: orNull(z.string()),
    wallet_address: orNull(z.string()),
    display_name: z.string(),
    tier: z.enum(PLAN_NAMES),
    status: z.enum(ACCOUNT.states),
    email_verified: z.boolean(),
    timezone: z.string(),
    created_at: Timestamp,
    key_id: orNull(z.uuid()),
    sandbox: z.boolean(),
    notification_prefs: z.record(z.string(), z.boolean()),
    merchant_settings: MerchantSettings,
    claims: ClaimsBody,
    has_password: z.boolean(),
    auth_providers: z.array(z.string()),
  })
  .openapi('Account');

const toAccountResource = ({ now }: Ctx, account: Account, actor: Actor) => ({
  user_id: account.id,
  email: account.email,
  wallet_address: account.walletAddress,
  display_name: account.displayName,
  tier: planAt(account, now),
  status: account.status,
  email_verified: account.emailVerified,
  timezone: account.timezone,
  created_at: iso(account.createdAt),
  key_id: actor.keyId,
  sandbox: actor.keyId !== null && !actor.livemode,
  notification_prefs: account.notificationPrefs,
  merchant_settings: Object.fromEntries(SETTING_NAMES.map((name) => [name, account.merchantSettings[name] ?? ''])),
  claims: claimsOf(account),
  has_password: account.passwordHash !== null,
  auth_providers: [],
});

const me = createRoute({
  method: 'get',
  path: '/account/me',
  operationId: 'getAccount',
  tags: ['Account'],
  summary: 'The account that calls',
  ...merchantRoute('read'),
  request: { query: z.object(ModeQuery) },
  responses: { ...ok(AccountBody), ...merchantErrors() },
});

const UpdateResponse = z.object({ detail: z.string(), updated_fields: z.array(z.string()) }).openapi('UpdateResponse');

/** A zone the platform's own calendar knows; plain offsets such as +02:00 have no rules for the seasons. */
function isTimezone(text: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return /^[A-Za-z]/.test(text);
  } catch {
    return false;
  }
}

const UpdateAccountRequest = z
  .object({
    display_name: z.string().trim().min(1).max(120).optional(),
    timezone: z.string().max(64).refine(isTimezone, 'Expected an IANA time zone such as Europe/Berlin').optional(),
    merchant_settings: MerchantSettingsPatch.optional(),
  })
  .openapi('UpdateAccountRequest', { example: { timezone: 'Europe/Berlin', merchant_settings: { checkout_accent_hex: '#1a2b3c' } } });

const update = createRoute({
  method: 'patch',
  path: '/account/me',
  operationId: 'updateAccount',
  tags: ['Account'],
  summary: 'Change name, time zone or checkout settings',
  description: 'Settings are merged; an empty text clears one. `updated_fields` names what changed, settings as dotted paths.',
  ...writeRoute,
  request: { headers: OptionalIdempotencyHeader, query: z.object(ModeQuery), ...jsonBody(UpdateAccountRequest) },
  responses: { ...ok(UpdateResponse), ...merchantWriteErrors('state_conflict') },
});

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
}

const security = createRoute({
  method: 'patch',
  path: '/account/me/security',
  operationId: 'changeSecurity',
  tags: ['Account'],
  summary: 'Change e-mail or password; every session ends',
  description:
    'An account without a password sets its first one within 15 minutes of signing in, without `current_password`. Sent again ' +
    'under its Idempotency-Key, with a token of a new sign-in, it has the same answer, and the old password is not asked for.',
  ...keyedPersonRoute(limitGuesses),
  request: { headers: OptionalIdempotencyHeader, ...jsonBody(ChangeSecurityRequest) },
  responses: {
    ...ok(UpdateResponse),
    ...merchantWriteErrors('invalid_credentials', 'email_registered', 'state_conflict', 'password_too_short', 'no_change'),
  },
});

const remove = createRoute({
  method: 'delete',
  path: '/account/account',
  operationId: 'deleteAccount',
  tags: ['Account'],
  summary: 'Delete the account, at once and for ever',
  description:
    'It needs a person who signed in within the last 15 minutes. Sessions, keys and webhooks end, what names a person is erased, hand-offs ' +
    'are 410 and products 404. Payments, memberships and receipts stay: they are also the buyers’. A payment under way is still confirmed. ' +
    'It needs no Idempotency-Key: sent again it finds the account deleted, and is answered 403 `account_deleted`.',
  ...keyedPersonRoute(),
  request: { headers: OptionalIdempotencyHeader },
  responses: { ...ok(DetailResponse), ...merchantBodyErrors(...malformedKeyErrors, 'state_conflict') },
});

export const accountRoutes = router()
  .openapi(me, async (c) => {
    const { actor, scope: ctx } = c.var;
    return c.json(toAccountResource(ctx, await getAccount(ctx.db, actor.accountId), actor), 200);
  })
  .openapi(update, async (c) => {
    const { display_name, timezone, merchant_settings } = c.req.valid('json');
    const patch = { displayName: display_name, timezone, merchantSettings: merchant_settings };
    const present = (updated: string[]) => ({ status: 200, body: { detail: 'Account updated.', updated_fields: updated } });
    return sendStored(c, await answerOnce<string[]>(c, (keep) => updateAccount(c.var.scope, c.var.actor, patch, keep), present));
  })
  .openapi(security, async (c) => {
    const { email, current_password, new_password } = c.req.valid('json');
    const change = { email, currentPassword: current_password, newPassword: new_password };
    const present = (updated: string[]) => {
      return { status: 200, body: { detail: 'Changed. Every session has ended; sign in again.', updated_fields: updated } };
    };
    const run = (keep: Keep<string[]>) => changeSecurity(c.var.scope, c.var.actor, change, keep);
    return sendStored(c, await answerOnce(c, run, present, { isSecret: true }));
  })
  .openapi(remove, async (c) => {
    await deleteAccount(c.var.scope, c.var.actor);
    return c.json({ detail: 'The account is deleted. Its sessions and keys have ended.' }, 200);
  });
