import type { ProductId } from '#core/ids.ts';
import { calledBy } from '#features/entitlements/entitlement.ts';
import { findListing } from '#features/products/product.ts';
import { customerColumns } from '#features/settlements/co-sign.ts';
import { claimOwn, followThrough, getOutcome } from '#features/settlements/follow-through.ts';
import { newSettlementColumns, ownSignatureOf, ownTransactionColumns } from '#features/settlements/new-settlement.ts';
import { findPendingSettlement, loadSettlement } from '#features/settlements/store.ts';
import type { Scope } from '#platform/context.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import type { AcceptedVoucher } from '#rules/metered/channel.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import type { Channel } from '#solana/programs/payment-channels/channel.ts';
import { callSession, type OpenedSession } from '../session.ts';
import { beginSettlement, findSettling } from '../store.ts';
import { type NotReady, prepareSettlement, type ReadySettlement, type SettlementStep, type Watermarks } from './prepare.ts';

/**
 * What became of a settlement. `landed`: the chain shows that it succeeded, in this slot. `pending`: it was sent and may land yet. `busy`:
 * another one is under way, which was followed instead. `failed`: the chain has refused it.
 */
export type Settled = NotReady | { kind: 'landed'; slot: number } | { kind: 'pending' | 'busy' | 'failed' };

/**
 * Brings what vouchers promise onto the chain and to the merchant: the highest voucher and the distribution in one transaction of ours,
 * and a payment of kind `metered` for what arrives. It is claimed before it is sent, as any settlement is, so that a crash loses none,
 * and one is under way at a time. `channel`: its account as it was just read; null in the sandbox. `vouchers`: the highest first.
 */
export async function settleChannel(
  ctx: Scope,
  session: OpenedSession,
  { channel, vouchers, step }: { channel: Channel | null; vouchers: AcceptedVoucher[]; step: SettlementStep },
): Promise<Settled> {
  const stands: Watermarks = channel ?? (await standingInSandbox(ctx, session));
  const prepared = await prepareSettlement(ctx, session, { channel, stands, vouchers, step });
  if (prepared.kind !== 'prepared') return prepared;
  if (prepared.units === 0n) return sendUnpaid(ctx, prepared.wire);
  const settlement = await draft(ctx, session, prepared, step);
  if (!(await begin(ctx, session, settlement, { channel, cumulative: prepared.reached }))) return { kind: 'busy' };
  const outcome = await followThrough(ctx, settlement, { isNew: true });
  if (outcome.status === 'failed') ctx.note(`session ${session.sessionId}: settlement ${outcome.reason}`);
  if (outcome.status !== 'settled') return { kind: outcome.status };
  await noteSettled(ctx, session, prepared.reached);
  return (await landingOf(ctx, settlement.txSignature)) ?? { kind: 'pending' };
}

/** The slot in which the last settlement of a session succeeded; null: there is none that is known to have. */
export async function findLandedSlot(ctx: Scope, session: OpenedSession): Promise<number | null> {
  const last = await findSettling(ctx.db, session);
  const stored = last && (await loadSettlement(ctx, last.paymentId));
  if (stored?.settlement.status !== 'settled' || stored.isLost) return null;
  const landing = await landingOf(ctx, stored.settlement.txSignature);
  return landing?.kind === 'landed' ? landing.slot : null;
}

async function landingOf(ctx: Scope, signature: string): Promise<{ kind: 'landed'; slot: number } | { kind: 'failed' } | null> {
  const sighting = await ctx.chain.findTransaction(signature);
  if (sighting.kind === 'unavailable') ctx.note(`rpc: ${sighting.reason}`);
  if (sighting.kind !== 'found') return null;
  return sighting.transaction.failed ? { kind: 'failed' } : { kind: 'landed', slot: sighting.transaction.slot };
}

/**
 * What has been settled in all, as far as it was seen on the chain or as the last settlement's own end tells: a call that crashed before it
 * told the session's object is counted once. null while that settlement is under way.
 */
export async function settledInAll(ctx: Scope, session: OpenedSession): Promise<bigint | null> {
  const seen = BigInt(session.settled);
  const last = await findSettling(ctx.db, session);
  if (last === null || last.cumulative <= seen) return seen;
  const { status } = await getOutcome(ctx, last.paymentId);
  if (status === 'pending') return null;
  return status === 'settled' ? last.cumulative : seen;
}

async function standingInSandbox(ctx: Scope, session: OpenedSession): Promise<Watermarks> {
  const settled = (await settledInAll(ctx, session)) ?? BigInt(session.settled);
  return { settled, payoutWatermark: settled };
}

const LOOKS_MS = [0, 250, 400, 600, 900, 1300, 1800, 2500];

/** A transaction that pays out nothing is no payment: it is sent and looked for, and built anew where it did not land. */
async function sendUnpaid(ctx: Scope, wire: Uint8Array): Promise<Settled> {
  const sent = await ctx.chain.sendTransaction(wire, { preflight: false });
  if (sent.kind !== 'sent') ctx.note(`broadcast: ${sent.reason}`);
  const signature = ownSignatureOf(wire);
  let waited = 0;
  for (const wait of LOOKS_MS) {
    waited += wait;
    if (waited > ctx.config.SETTLE_PATIENCE_MS || ctx.leftMs() <= wait) break;
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const landing = await landingOf(ctx, signature);
    if (landing) return landing;
  }
  return { kind: 'pending' };
}

async function draft(
  ctx: Scope,
  session: OpenedSession,
  { wire, units, nonce, lastValidBlockHeight }: ReadySettlement,
  step: SettlementStep,
): Promise<Settlement> {
  const { merchantId, livemode, mint, merchantWallet, bound } = session;
  const productId = session.productId as ProductId;
  const listing = await findListing(ctx, { productId });
  const payerWallet = bound.payer ?? bound.authorizedSigner;
  return {
    ...newSettlementColumns(ctx.now, lastValidBlockHeight),
    // Clocks of objects and of the Worker differ, and what seals is never from before the session began to close.
    createdAt: step === 'last' ? Math.max(ctx.now, session.closingAt ?? 0) : ctx.now,
    ...ownTransactionColumns(wire),
    merchantId: merchantId as Settlement['merchantId'],
    livemode,
    purpose: 'metered',
    productId,
    setupIntentId: null,
    ...customerColumns(session.customer, payerWallet),
    mint,
    amount: units,
    payerWallet,
    feePayer: session.operator,
    recipientWallet: merchantWallet,
    recipientAta: await associatedTokenAccount(merchantWallet, mint),
    nonce,
    terms: {
      productName: listing?.product.name ?? '',
      slug: listing?.product.slug ?? '',
      merchantName: listing?.merchant.displayName ?? '',
      accessPeriodDays: null,
      usageUnits: null,
    },
  };
}

/** Blocks for which a blockhash is valid. */
const LIFETIME_BLOCKS = 150;

/**
 * Claims it for the session. False where another is under way, which is followed instead. What was sent before the program sealed the
 * channel can land no more; nor can, once its payer asked to close, what was sent to a channel that stays open, as was all that we sent
 * before the session began to close. While that payer's grace period runs, a seal whose blockhash has ended stands in no other's way: the
 * program takes one of them, and proving that the first is lost takes longer than the shortest grace period.
 */
async function begin(
  ctx: Scope,
  session: OpenedSession,
  settlement: Settlement,
  { channel, cumulative }: { channel: Channel | null; cumulative: bigint },
): Promise<boolean> {
  const before = (await findSettling(ctx.db, session))?.paymentId ?? null;
  const pending = before === null ? null : await findPendingSettlement(ctx.db, before);
  const isBeforeClosing = pending !== null && session.closingAt !== null && pending.createdAt < session.closingAt;
  const isOutlived = pending !== null && settlement.lastValidBlockHeight > pending.lastValidBlockHeight + LIFETIME_BLOCKS;
  const isAlone = channel?.status === 'sealed' || (channel?.status === 'closing' && (isBeforeClosing || isOutlived));
  if (pending && !isAlone) {
    await followThrough(ctx, pending, { isNew: false });
    return false;
  }
  return claimOwn(ctx, settlement, beginSettlement(ctx, session, { before, paymentId: settlement.paymentId, cumulative }));
}

/** Tells the session's object what the chain has accepted. */
export async function noteSettled(ctx: Scope, { sessionId, deposit }: OpenedSession, settled: bigint): Promise<void> {
  await callSession(ctx, sessionId, (object) => object.seen({ deposit: BigInt(deposit), settled, ...calledBy(ctx) }));
}
