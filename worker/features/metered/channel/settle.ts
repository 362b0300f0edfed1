import type { ProductId } from '#core/ids.ts';
import { findListing } from '#features/products/product.ts';
import { customerColumns } from '#features/settlements/co-sign.ts';
import { claimOwn, followThrough, getOutcome } from '#features/settlements/follow-through.ts';
import { newSettlementColumns, ownSignatureOf, ownTransactionColumns } from '#features/settlements/new-settlement.ts';
import { findPendingSettlement, loadSettlement } from '#features/settlements/store.ts';
import type { Scope } from '#platform/context.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import { poll } from '#platform/deadline.ts';
import type { AcceptedVoucher } from '#rules/metered/channel.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { BLOCKHASH_LIFE } from '#solana/finality.ts';
import type { Channel } from '#solana/programs/payment-channels/channel.ts';
import { callSession, type OpenedSession } from '../session.ts';
import { beginSettlement, findSettling } from '../store.ts';
import { type NotReady, prepareSettlement, type ReadySettlement, type SettlementStep, type Watermarks } from './prepare.ts';

/** `landed`: the chain shows its success. `pending`: it may still land. `busy`: another settlement was followed instead. `failed`: the chain refused it. */
export type Settled = NotReady | { kind: 'landed'; slot: number } | { kind: 'pending' | 'busy' | 'failed' };

/**
 * Settles the highest voucher and distributes the channel in one transaction, and records a payment of kind `metered` for the payout. The
 * settlement is claimed before it is sent, one at a time. `channel`: null in the sandbox. `vouchers`: the highest first.
 */
export async function settleChannel(
  ctx: Scope,
  session: OpenedSession,
  { channel, vouchers, step }: { channel: Channel | null; vouchers: AcceptedVoucher[]; step: SettlementStep },
): Promise<Settled> {
  const watermarks: Watermarks = channel ?? (await readSandboxWatermarks(ctx, session));
  const prepared = await prepareSettlement(ctx, session, { channel, watermarks, vouchers, step });
  if (prepared.kind !== 'prepared') return prepared;
  if (prepared.units === 0n) return sendUnpaid(ctx, prepared.wire);
  const settlement = await draftSettlement(ctx, session, prepared, step);
  if (!(await claimForSession(ctx, session, settlement, { channel, cumulative: prepared.settlesTo }))) return { kind: 'busy' };
  const outcome = await followThrough(ctx, settlement, { isNew: true });
  if (outcome.status === 'failed') ctx.note(`session ${session.sessionId}: settlement ${outcome.reason}`);
  if (outcome.status !== 'settled') return { kind: outcome.status };
  await noteSettled(ctx, session, prepared.settlesTo);
  return (await findLanding(ctx, settlement.txSignature)) ?? { kind: 'pending' };
}

/** Finds the slot in which the session's last settlement succeeded. */
export async function findLandedSlot(ctx: Scope, session: OpenedSession): Promise<number | null> {
  const last = await findSettling(ctx.db, session);
  const stored = last && (await loadSettlement(ctx, last.paymentId));
  if (stored?.settlement.status !== 'settled' || stored.isLost) return null;
  const landing = await findLanding(ctx, stored.settlement.txSignature);
  return landing?.kind === 'landed' ? landing.slot : null;
}

async function findLanding(ctx: Scope, signature: string): Promise<{ kind: 'landed'; slot: number } | { kind: 'failed' } | null> {
  const sighting = await ctx.chain.findTransaction(signature);
  if (sighting.kind === 'unavailable') ctx.note(`rpc: ${sighting.reason}`);
  if (sighting.kind !== 'found') return null;
  return sighting.transaction.failed ? { kind: 'failed' } : { kind: 'landed', slot: sighting.transaction.slot };
}

/**
 * Reads the settled total. It includes a settlement that crashed before the update of the object. Returns null while a settlement is
 * pending.
 */
export async function readSettledTotal(ctx: Scope, session: OpenedSession): Promise<bigint | null> {
  const seen = BigInt(session.settled);
  const last = await findSettling(ctx.db, session);
  if (last === null || last.cumulative <= seen) return seen;
  const { status } = await getOutcome(ctx, last.paymentId);
  if (status === 'pending') return null;
  return status === 'settled' ? last.cumulative : seen;
}

async function readSandboxWatermarks(ctx: Scope, session: OpenedSession): Promise<Watermarks> {
  const settled = (await readSettledTotal(ctx, session)) ?? BigInt(session.settled);
  return { settled, payoutWatermark: settled };
}

const WAITS_MS = [0, 250, 400, 600, 900, 1300, 1800, 2500];

/** Sends a transaction that pays out nothing, so no payment is recorded. The next call rebuilds one that did not land. */
async function sendUnpaid(ctx: Scope, wire: Uint8Array): Promise<Settled> {
  const sent = await ctx.chain.sendTransaction(wire, { preflight: false });
  if (sent.kind !== 'sent') ctx.note(`broadcast: ${sent.reason}`);
  const signature = ownSignatureOf(wire);
  const patienceMs = ctx.config.SETTLE_PATIENCE_MS;
  return (await poll(ctx, { waitsMs: WAITS_MS, patienceMs }, () => findLanding(ctx, signature))) ?? { kind: 'pending' };
}

async function draftSettlement(
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
    ...newSettlementColumns(ctx.now, ctx.merchantId, lastValidBlockHeight),
    // Clocks of the object and the Worker differ. A seal must not seem older than the close of its session.
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

/**
 * Claims a settlement for the session. Returns false if it followed a pending one instead. Ignores a pending settlement that cannot land:
 * the channel is sealed, or is closing and the pending one is older than the close or its blockhash.
 */
async function claimForSession(
  ctx: Scope,
  session: OpenedSession,
  settlement: Settlement,
  { channel, cumulative }: { channel: Channel | null; cumulative: bigint },
): Promise<boolean> {
  const before = (await findSettling(ctx.db, session))?.paymentId ?? null;
  const pending = before === null ? null : await findPendingSettlement(ctx.db, before);
  const isBeforeClosing = pending !== null && session.closingAt !== null && pending.createdAt < session.closingAt;
  const isOutlived = pending !== null && settlement.lastValidBlockHeight > pending.lastValidBlockHeight + BLOCKHASH_LIFE;
  // The grace period may be shorter than the proof that an outlived seal is lost, and the program accepts only one seal.
  const isPassedOver = channel?.status === 'sealed' || (channel?.status === 'closing' && (isBeforeClosing || isOutlived));
  if (pending && !isPassedOver) {
    await followThrough(ctx, pending, { isNew: false });
    return false;
  }
  return claimOwn(ctx, settlement, beginSettlement(ctx, session, { before, paymentId: settlement.paymentId, cumulative }));
}

/** Updates the session's object with the amount that the chain has accepted. */
export async function noteSettled(ctx: Scope, { sessionId, deposit }: OpenedSession, settled: bigint): Promise<void> {
  await callSession(ctx, sessionId, (object, caller) => object.seen({ deposit: BigInt(deposit), settled, ...caller }));
}
