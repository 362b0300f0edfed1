import { z } from '@hono/zod-openapi';
import { ApiError, planFull } from '#core/errors.ts';
import { DECIMALS } from '#core/money.ts';
import { isoOrNull } from '#core/time.ts';
import { planPayout } from '#features/accounts/payout.ts';
import { abortIfOverProductQuota, getActiveProductCount } from '#features/products/product.ts';
import { requireSpendable } from '#platform/chain/payees.ts';
import { tokenAccountExists } from '#platform/chain/token-accounts.ts';
import type { Actor, Ctx, Scope, Shard } from '#platform/context.ts';
import type { Change, Write } from '#platform/db/commit.ts';
import type { Setting } from '#platform/db/tables/rails.ts';
import { AssetName, NetworkId, orNull, Timestamp } from '#platform/http/openapi.ts';
import { ORIGINS_MAX, parseOrigin } from '#protocols/x402/origins.ts';
import { PLANS } from '#rules/plans.ts';
import { isConfigured, RAIL_IDS, RAIL_KINDS, SELLING_RAILS, settingOf } from '#rules/product-rails.ts';
import { RAILS, type RailId, X402_RAIL } from '#rules/rails.ts';
import { isNative, mintOf } from '#solana/assets.ts';
import { associatedTokenAccount, buildAtaTransaction } from '#solana/checkout-transaction.ts';
import type { RailStatus } from './rail.ts';
import { getRail } from './registry.ts';
import { findAccountWallet, insertSetting, listRailsOff, listSettings, updateSetting } from './store.ts';

export const RailBody = z
  .object({
    rail_id: z.enum(RAIL_IDS).describe('Payment rail. GET /v1/access/rails lists them.'),
    name: z.string(),
    kind: z.enum(RAIL_KINDS),
    asset: AssetName,
    network: NetworkId,
    mint: z.string().optional().describe('Mint address of the token; absent for SOL.'),
    decimals: z.int(),
    status: z.enum(['available', 'degraded', 'unavailable']),
    reason: z.string().optional(),
    supports: z.array(z.string()),
  })
  .openapi('Rail');

async function readRailStatus(ctx: Ctx, railId: RailId, railsOff: string[]): Promise<RailStatus> {
  if (railsOff.includes(railId)) return { status: 'unavailable', reason: 'switched_off' };
  return isConfigured(ctx.config, railId) ? getRail(railId).status(ctx) : { status: 'unavailable', reason: 'not_configured' };
}

export async function listRails(ctx: Shard): Promise<z.infer<typeof RailBody>[]> {
  const railsOff = await listRailsOff(ctx.db);
  return Promise.all(RAIL_IDS.map(async (railId) => ({ ...railFacts(ctx, railId), ...(await readRailStatus(ctx, railId, railsOff)) })));
}

function railFacts({ config }: Ctx, railId: RailId): Omit<z.infer<typeof RailBody>, 'status' | 'reason'> {
  const { name, kind, asset, supports } = RAILS[railId];
  const mint = mintOf(config.network, asset);
  return {
    rail_id: railId,
    name,
    kind,
    asset,
    network: config.network.caip2,
    ...(isNative(asset) ? {} : { mint }),
    decimals: DECIMALS[asset],
    supports: [...supports],
  };
}

export const RailSettingBody = z
  .object({
    rail_id: z.enum(RAIL_IDS).describe('Payment rail. GET /v1/access/rails lists them.'),
    enabled: z.boolean(),
    payout_wallet: orNull(z.string()).describe('Wallet that the rail pays; null: the wallet of the account.'),
    payout_ata: orNull(z.string()).describe('USDC account of the wallet. SOL is paid to the wallet itself.'),
    ata_exists: orNull(z.boolean()).describe(
      'True if the USDC account exists. Null without a wallet, if none is required, if the node does not respond, and in the sandbox.',
    ),
    create_ata_transaction: orNull(z.string()).describe(
      'Unsigned transaction in base64 that creates the missing account. Open `/sign#<transaction>` of this service to sign and send it with the payout wallet.',
    ),
    origins: z
      .array(z.string())
      .optional()
      .describe('Origins of your shops, on the x402 rail. Challenges name the first of them for a URL of any other origin.'),
    updated_at: orNull(Timestamp).describe('Time of the last change; null: never set.'),
  })
  .openapi('RailSetting');

export const RailSettingUpdate = z
  .object({
    enabled: z.boolean().optional(),
    payout_wallet: orNull(z.string().max(64))
      .optional()
      .describe(
        'Solana wallet that receives the payments. Defaults to the wallet of the rail, then of the account. A product without any cannot be sold.',
      ),
    origins: z
      .array(z.string().max(300))
      .max(ORIGINS_MAX)
      .optional()
      .describe(
        'Origins of your shops, such as `https://api.shop.com`, for the x402 rail alone. `[]` clears them. Agents find and sign in only to shops with an origin.',
      ),
  })
  .openapi('RailSettingUpdate', { example: { payout_wallet: 'Av7QWv6RRdrFxbb9GXWM1g8Gut59feSWcr9tRBia7xZa' } });

/**
 * Formats a rail setting with its payout token account's state and, if missing, a transaction that creates the account. The sandbox calls
 * no node.
 */
async function toRailSettingResource(
  ctx: Ctx,
  railId: RailId,
  setting: Pick<Setting, 'livemode' | 'enabled' | 'payoutWallet' | 'origins'> & { updatedAt: number | null },
  accountWallet: string | null,
): Promise<z.infer<typeof RailSettingBody>> {
  const wallet = setting.payoutWallet ?? accountWallet;
  const { asset } = RAILS[railId];
  const ata = wallet && !isNative(asset) ? await associatedTokenAccount(wallet, mintOf(ctx.config.network, asset)) : null;
  const exists = ata && setting.livemode ? await tokenAccountExists(ctx, ata, 'presence') : null;
  return {
    rail_id: railId,
    enabled: setting.enabled,
    payout_wallet: setting.payoutWallet,
    payout_ata: ata,
    ata_exists: exists,
    create_ata_transaction: exists === false ? await ataTransaction(ctx, wallet!) : null,
    ...(railId === X402_RAIL ? { origins: setting.origins } : {}),
    updated_at: isoOrNull(setting.updatedAt),
  };
}

export async function ataTransaction(ctx: Ctx, wallet: string): Promise<string | null> {
  const state = await ctx.chain.prepare([]);
  return state.kind === 'ready' ? buildAtaTransaction(wallet, ctx.config.network.usdcMint, state.lifetime) : null;
}

export async function listRailSettings(ctx: Scope): Promise<z.infer<typeof RailSettingBody>[]> {
  const { merchantId, livemode } = ctx;
  const [settings, accountWallet] = await Promise.all([listSettings(ctx), findAccountWallet(ctx.db, merchantId)]);
  return Promise.all(
    SELLING_RAILS.map((railId) => {
      const known = settingOf(settings, railId);
      return toRailSettingResource(
        ctx,
        railId,
        known ?? { livemode, enabled: true, payoutWallet: null, origins: [], updatedAt: null },
        accountWallet,
      );
    }),
  );
}

/**
 * Plans a rail setting. A new wallet is checked by the payout rule (403 sign_in_required) and published as payout.changed. Throws 422
 * validation_error for what is no origin, invalid_wallet_address for an address no key can sign for, 429 plan_limit_reached if too many
 * drafts become payable.
 */
export async function planRailSetting(
  ctx: Scope,
  actor: Actor,
  railId: RailId,
  input: z.infer<typeof RailSettingUpdate>,
): Promise<Change<z.infer<typeof RailSettingBody>> & { before: z.infer<typeof RailSettingBody> }> {
  const { merchantId, livemode } = ctx;
  const { payout_wallet: wallet } = input;
  const origins = input.origins && requireOrigins(ctx, railId, input.origins);
  if (typeof wallet === 'string') await requireSpendable(ctx, wallet, livemode);
  const [settings, accountWallet] = await Promise.all([listSettings(ctx), findAccountWallet(ctx.db, merchantId)]);
  const before = settingOf(settings, railId);
  const empty: Setting = { merchantId, livemode, railId, enabled: true, payoutWallet: null, origins: [], updatedAt: ctx.now, version: 0 };
  const after: Setting = {
    ...(before ?? empty),
    enabled: input.enabled ?? before?.enabled ?? true,
    payoutWallet: wallet === undefined ? (before?.payoutWallet ?? null) : wallet,
    origins: origins ?? before?.origins ?? [],
    updatedAt: ctx.now,
    version: (before?.version ?? 0) + 1,
  };
  const shown = await toRailSettingResource(ctx, railId, after, accountWallet);
  const { payoutWallet: previous = null } = before ?? {};
  const subject = { type: 'rail', id: `${merchantId}:${livemode ? 'live' : 'sandbox'}:${railId}`, version: after.version } as const;
  const isMoved = after.payoutWallet !== previous;
  const isFirstWallet = isMoved && previous === null && accountWallet === null;
  const opens = after.enabled && (before?.enabled === false || isFirstWallet);
  const quota = opens ? await planQuota(ctx, actor, after) : [];
  const payout = isMoved
    ? await planPayout(ctx, actor, { subject, wallet: after.payoutWallet, previous, paidFor: RAILS[railId].name, railId })
    : null;
  return {
    events: payout?.events ?? [],
    writes: [...(before ? updateSetting(ctx, before, after) : [insertSetting(ctx.db, after)]), ...(payout?.writes ?? []), ...quota],
    result: shown,
    before: {
      ...shown,
      enabled: before?.enabled ?? true,
      payout_wallet: previous,
      ...(shown.origins && { origins: before?.origins ?? [] }),
    },
  };
}

/** Plans the quota check: a rail with its first wallet, or enabled again, makes drafts payable. Throws 429 plan_limit_reached. */
async function planQuota(ctx: Scope, actor: Actor, after: Setting): Promise<Write[]> {
  const limit = PLANS[actor.plan].activeProductsMax;
  if (!Number.isFinite(limit)) return [];
  const [before, used] = await Promise.all([getActiveProductCount(ctx), getActiveProductCount(ctx, after)]);
  const max = Math.max(limit, before);
  if (used > max) throw planFull('products', { limit, used, plan: actor.plan });
  return abortIfOverProductQuota(ctx, ctx, max, null);
}

const ORIGIN_PROBLEMS = {
  not_an_origin: 'Expected an origin: `https://host` or `https://host:port`, without a path',
  https_required: 'Expected an origin with https',
  ip_address: 'Expected a host name, not an IP address',
};

/** Returns the origins in their standard form, each once. Throws 422 at the first that is none, or for a rail without shops. */
function requireOrigins({ config }: Ctx, railId: RailId, given: string[]): string[] {
  const refuse = (loc: (string | number)[], msg: string) =>
    new ApiError('validation_error', { problems: [{ loc: ['body', 'origins', ...loc], msg, type: 'custom' }] });
  if (railId !== X402_RAIL) throw refuse([], `Only the rail ${X402_RAIL} takes origins`);
  const origins = given.map((text, index) => {
    const parsed = parseOrigin(text, { allowsLocal: config.NETWORK !== 'mainnet' });
    if (!parsed.ok) throw refuse([index], ORIGIN_PROBLEMS[parsed.reason]);
    return parsed.value;
  });
  return [...new Set(origins)];
}
