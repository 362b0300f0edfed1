import { createRoute, z } from '@hono/zod-openapi';
import type { Actor } from '../context.ts';
import type { AccountId } from '../core/ids.ts';
import { iso } from '../core/time.ts';
import { merchantErrors, merchantRoute } from '../http/guards.ts';
import { ModeQuery, ok, orNull, router, Timestamp } from '../http/openapi.ts';
import { PLAN_NAMES } from '../plans.ts';
import { ACCOUNT } from '../states.ts';
import { ClaimsBody } from './auth.routes.ts';
import { type Account, getAccount } from './store.ts';
import { claimsOf } from './tokens.ts';

const SETTINGS = [
  'checkout_brand_name',
  'checkout_logo_url',
  'checkout_hero_image_url',
  'checkout_success_button_label',
  'checkout_accent_hex',
  'default_redirect_url',
  'default_support_url',
] as const;
const MerchantSettings = z.object(Object.fromEntries(SETTINGS.map((name) => [name, z.string().optional()]))).openapi('MerchantSettings');

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

const toAccountResource = (account: Account, actor: Actor) => ({
  user_id: account.id,
  email: account.email,
  wallet_address: account.walletAddress,
  display_name: account.displayName,
  tier: account.plan,
  status: account.status,
  email_verified: account.emailVerified,
  timezone: account.timezone,
  created_at: iso(account.createdAt),
  key_id: actor.keyId,
  sandbox: actor.keyId !== null && !actor.livemode,
  notification_prefs: account.notificationPrefs,
  merchant_settings: account.merchantSettings,
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

export const accountRoutes = router().openapi(me, async (c) => {
  const { actor, ctx } = c.var;
  return c.json(toAccountResource(await getAccount(ctx.db, actor.accountId as AccountId), actor), 200);
});
