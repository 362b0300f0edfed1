import type { z } from '@hono/zod-openapi';
import { newMeteredSessionId } from '#core/ids.ts';
import { LIFE } from '#core/limits.ts';
import { type Money, parseAmount } from '#core/money.ts';
import { MINUTE } from '#core/time.ts';
import type { Sale } from '#features/products/product.ts';
import { newObstacleError } from '#features/products/selling/fixes.ts';
import { obstaclesOf, payoutOf, prospectOf } from '#features/products/selling/obstacles.ts';
import { invalid } from '#features/products/terms.ts';
import { newOutageError } from '#features/rails/quote.ts';
import { getRail } from '#features/rails/registry.ts';
import { customerColumns } from '#features/settlements/co-sign.ts';
import { channelOperatorsOf } from '#platform/chain/fee-payer.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { Change } from '#platform/db/commit.ts';
import type { MeteredSessionRow } from '#platform/db/tables/settlements.ts';
import type { Customer } from '#rules/balance.ts';
import type { ProgramGeneration } from '#rules/metered/rpc.ts';
import { METERED_RAIL } from '#rules/rails.ts';
import { CHANNEL_PROGRAMS, findChannelProgram } from '#solana/programs/payment-channels/channel.ts';
import type { MeteredSessionRequest } from './resource.ts';
import { insertMeteredSession } from './store.ts';
import { closeExcess } from './watch/due.store.ts';

/** The only grace period that clients of the older program request. */
const OLDER_GRACE_SECONDS = 900;

/** Parses a positive amount of USDC. 422. */
export function parseUsdc(field: string, input: { asset: string; amount: string }): Money {
  if (input.asset !== 'USDC') throw invalid(`${field}.asset`, 'Channels are in USDC', 'invalid_value');
  const parsed = parseAmount('USDC', input.amount);
  if (!parsed.ok) throw invalid(`${field}.amount`, 'Expected an amount of USDC', parsed.reason);
  if (parsed.value.units === 0n) throw invalid(`${field}.amount`, 'Expected more than zero', 'too_small');
  return parsed.value;
}

/** Returns the named program's generation, or the network's default. 422. */
function resolveGeneration({ config }: Ctx, named: string | undefined): ProgramGeneration {
  const isMainnet = config.NETWORK === 'mainnet';
  if (named === undefined) return isMainnet ? 'current' : 'older';
  const program = findChannelProgram(named);
  if (program === null || (isMainnet && program !== CHANNEL_PROGRAMS.current))
    throw invalid('channel_program', 'Expected a channel program of this deployment', 'invalid_value');
  return program.generation;
}

/** 409 setup_not_ready, 503 rpc_unavailable. */
async function requireReady(ctx: Shard, sale: Sale): Promise<void> {
  const prospect = prospectOf(sale);
  const [obstacle] = obstaclesOf(ctx.config, prospect, METERED_RAIL);
  if (obstacle) throw newObstacleError(obstacle, METERED_RAIL, prospect);
  const { obstacles, unavailableDependency: silent } = await getRail(METERED_RAIL).probe(ctx, prospect);
  if (obstacles[0]) throw newObstacleError(obstacles[0], METERED_RAIL, prospect);
  if (silent) throw newOutageError(silent);
}

/** Plans a session that a buyer may open. 409 setup_not_ready if the merchant cannot be paid through a channel, 422 for invalid terms. */
export async function planMeteredSession(
  ctx: Shard,
  sale: Sale,
  input: z.infer<typeof MeteredSessionRequest>,
  customer: Customer | null,
): Promise<Change<MeteredSessionRow>> {
  const { product } = sale;
  const generation = resolveGeneration(ctx, input.channel_program);
  const gracePeriodSeconds = input.grace_period_seconds ?? OLDER_GRACE_SECONDS;
  if (generation === 'older' && gracePeriodSeconds > OLDER_GRACE_SECONDS)
    throw invalid('grace_period_seconds', `Expected ${OLDER_GRACE_SECONDS}, the value of this channel program’s clients`, 'too_big');
  const capAmount = parseUsdc('cap', input.cap).units;
  const minVoucherDelta = input.min_voucher_delta ? parseUsdc('min_voucher_delta', input.min_voucher_delta).units : 1n;
  const unitPriceAmount = input.unit_price ? parseUsdc('unit_price', input.unit_price).units : null;
  if (minVoucherDelta > capAmount) throw invalid('min_voucher_delta', 'More than the cap', 'too_big');
  await requireReady(ctx, sale);
  const operator = channelOperatorsOf(ctx.config).current;
  const who = customer === null ? { customerRef: null, customerWallet: null } : customerColumns(customer, '');
  const expiresAt = ctx.now + LIFE.channelOpenMinutes * MINUTE;
  const session: MeteredSessionRow = {
    id: newMeteredSessionId(ctx.now, product.merchantId),
    merchantId: product.merchantId,
    livemode: product.livemode,
    productId: product.id,
    ...who,
    capAmount,
    minVoucherDelta,
    unitPriceAmount,
    idleSeconds: input.idle_timeout_seconds ?? 3_600,
    gracePeriodSeconds,
    generation,
    operator,
    merchantWallet: payoutOf(prospectOf(sale))!,
    mint: ctx.config.network.usdcMint,
    expiresAt,
    createdAt: ctx.now,
    status: 'created',
    channelId: null,
    payerWallet: null,
    authorizedSigner: null,
    deposit: 0n,
    cumulative: 0n,
    reserved: 0n,
    settled: 0n,
    voucherEndsAt: null,
    usedAt: ctx.now,
    endedAt: null,
    settledAt: null,
    settlingPaymentId: null,
    payoutSeen: 0n,
    payoutSeenTx: null,
    payoutReadTx: null,
    sealDueAt: null,
    settlingCumulative: null,
    nextCheckAt: expiresAt,
    version: 0,
    updatedAt: ctx.now,
  };
  return { events: [], writes: [insertMeteredSession(ctx.db, session), closeExcess(ctx, session)], result: session };
}
