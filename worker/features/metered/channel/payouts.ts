import { type AccountId, newId, newNonce, type PaymentId, type ProductId } from '#core/ids.ts';
import { MINUTE, SECOND, unixSeconds } from '#core/time.ts';
import { planSessionlessPayment } from '#features/payments/sessionless-payment.ts';
import { findListing, type Listing } from '#features/products/product.ts';
import { loadAnchor } from '#features/receipts/hash-chain.ts';
import { customerColumns } from '#features/settlements/co-sign.ts';
import type { Scope } from '#platform/context.ts';
import { commit, isConstraint } from '#platform/db/commit.ts';
import { channelClaim, insertClaim } from '#platform/db/outcome.ts';
import type { MeteredSessionRow } from '#platform/db/tables/settlements.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { paidOutOf } from '#solana/match.ts';
import type { Channel } from '#solana/programs/payment-channels/channel.ts';
import type { ChainTransaction } from '#solana/transaction.ts';
import type { OpenedSession } from '../session.ts';
import { insertPayouts, listBooked, noteProgress } from '../store.ts';

const PAGE_SIZE = 100;
/** Pages per call: anyone can name a channel in their transactions. */
const PAGES_MAX = 3;
/** Transactions per RPC call. */
const BATCH_SIZE = 20;
/** Calls left to the other sessions of a page, below which nothing more is booked. */
const LEFT_CALLS = 60;
/** Upper bound of the difference between our clock and the chain's. */
const SKEW_MS = 10 * MINUTE;

/**
 * Records what other parties had a channel pay out, which anyone may do. All payouts of one minute of the chain become one payment, once
 * that minute is over and final. `bookAll` finds what exceeds one call's pages when the session has ended.
 */
export async function bookPaidOut(ctx: Scope, session: OpenedSession, row: MeteredSessionRow, channel: Channel): Promise<void> {
  const due = channel.payoutWatermark - row.payoutSeen;
  if (due <= 0n) return;
  const window = await readWindow(ctx, session, { before: null, until: row.payoutSeenTx }, due);
  const open = await bookFinishedMinutes(ctx, session, window);
  if (open === 'unknown' || window.isUnknown) return;
  const isRead = window.paidOut >= due;
  if (!isRead && window.next === null) return;
  const payoutSeen = isRead ? row.payoutSeen + window.paidOut : channel.payoutWatermark;
  // The next call reads again from the first transaction that is not final.
  const next = open.length === 0 ? 0 : window.listed.findIndex(({ signature }) => signature === open[0]!.signature) + 1;
  await noteProgress(ctx, session, {
    payoutSeen: payoutSeen - window.listed.slice(0, next).reduce((sum, { paidOut }) => sum + paidOut, 0n),
    payoutSeenTx: window.listed[next]?.signature ?? row.payoutSeenTx,
  });
}

/** Records every payout of a session that has ended. Returns false if some are left for the next call. */
export async function bookAll(ctx: Scope, session: OpenedSession, row: MeteredSessionRow): Promise<boolean> {
  const window = await readWindow(ctx, session, { before: row.payoutReadTx, until: null });
  const open = await bookFinishedMinutes(ctx, session, window);
  if (open === 'unknown' || open.length > 0) return false;
  if (!window.isUnknown && window.next === null) return true;
  if (window.next !== row.payoutReadTx) await noteProgress(ctx, session, { payoutReadTx: window.next });
  return false;
}

/** Another party's transaction that had the channel pay the merchant. */
interface Payout {
  signature: string;
  transaction: ChainTransaction;
  paid: bigint;
  isFinal: boolean;
}

/**
 * Transactions that name a channel, newest first. `paidOut`: total to any account. `next`: cursor of the next page. Null if none is left, or
 * if no node knows the cursor any more. `isUnknown`: a node did not return all.
 */
interface Window {
  listed: { signature: string; paidOut: bigint }[];
  payouts: Payout[];
  paidOut: bigint;
  next: string | null;
  isUnknown: boolean;
  /** Unix time of a node's newest confirmed slot. */
  chainSeconds: number;
}

/** Reads pages until payouts of `due` are found, or all pages without it. */
async function readWindow(
  ctx: Scope,
  session: OpenedSession,
  { before, until }: { before: string | null; until: string | null },
  due?: bigint,
): Promise<Window> {
  const window: Window = { listed: [], payouts: [], paidOut: 0n, next: before, isUnknown: false, chainSeconds: 0 };
  for (let page = 0; page < PAGES_MAX && (due === undefined || window.paidOut < due); page++) {
    const isRead = await readPage(ctx, session, { before: window.next, until }, window);
    if (!isRead) return { ...window, isUnknown: true };
    if (window.next === null) break;
  }
  return window;
}

/** Adds a page to the window. Returns false if a node did not return all of it. */
async function readPage(
  ctx: Scope,
  { bound: { channelId }, createdAt, merchantWallet, mint }: OpenedSession,
  bounds: { before: string | null; until: string | null },
  window: Window,
): Promise<boolean> {
  const listed = await ctx.chain.listSignatures(channelId, { ...bounds, limit: PAGE_SIZE });
  if (listed.kind === 'lost') {
    window.next = null;
    return false;
  }
  if (listed.kind === 'unavailable') return noteUnavailable(ctx, listed.reason);
  const { items } = listed;
  const within = items.filter(({ blockTime }) => blockTime == null || blockTime * SECOND >= createdAt - SKEW_MS);
  const signatures = within.map(({ signature }) => signature);
  const booked = await listBooked(ctx.db, channelId, signatures);
  const recipientAta = await associatedTokenAccount(merchantWallet, mint);
  const payouts: Payout[] = [];
  const seen: Window['listed'] = [];
  for (let from = 0; from < signatures.length; from += BATCH_SIZE) {
    const answer = await ctx.chain.findTransactions(signatures.slice(from, from + BATCH_SIZE));
    if (answer.kind === 'unavailable') return noteUnavailable(ctx, answer.reason);
    for (const [i, sighting] of answer.sightings.entries()) {
      // A listed transaction may be missing on another node of the same address.
      if (sighting.kind !== 'found' || sighting.transaction.blockTimeSeconds === null) return false;
      const { transaction } = sighting;
      const { signature, confirmationStatus } = within[from + i]!;
      const { all, paid } = paidOutOf(transaction, channelId, recipientAta);
      seen.push({ signature, paidOut: all });
      const isFinal = confirmationStatus === 'finalized';
      if (paid > 0n && !booked.has(signature)) payouts.push({ signature, transaction, paid, isFinal });
    }
  }
  window.chainSeconds = Math.max(window.chainSeconds, listed.nodeSeconds ?? unixSeconds(ctx.now));
  window.listed.push(...seen);
  window.payouts.push(...payouts);
  window.paidOut += seen.reduce((sum, { paidOut }) => sum + paidOut, 0n);
  window.next = items.length === 0 || within.length < items.length ? null : items.at(-1)!.signature;
  return true;
}

function noteUnavailable(ctx: Scope, reason: string): false {
  ctx.note(`rpc: ${reason}`);
  return false;
}

const minuteOf = ({ transaction }: Payout): number => Math.floor((transaction.blockTimeSeconds! * SECOND) / MINUTE);

/**
 * Books a payment for each minute that is over and final, the oldest first. Returns the payouts that have to wait, or `unknown` if the
 * budget of calls is used up or another call books them.
 */
async function bookFinishedMinutes(ctx: Scope, session: OpenedSession, { payouts, chainSeconds }: Window): Promise<Payout[] | 'unknown'> {
  const listing = payouts.length === 0 ? null : await findListing(ctx, { productId: session.productId as ProductId });
  const open: Payout[] = [];
  for (const [minute, group] of Map.groupBy(payouts.toReversed(), minuteOf)) {
    const isOver = chainSeconds * SECOND >= (minute + 1) * MINUTE && group.every(({ isFinal }) => isFinal);
    if (!isOver) open.push(...group);
    else if (ctx.budget.left < LEFT_CALLS || !(await book(ctx, session, group, listing))) return 'unknown';
  }
  return open;
}

/** Books payouts as one payment, once. The claim names the newest transaction. Returns false if another call has booked one of them. */
async function book(ctx: Scope, session: OpenedSession, group: Payout[], listing: Listing | null): Promise<boolean> {
  const { livemode, mint, merchantWallet, bound } = session;
  const { channelId } = bound;
  const { signature: txSignature, slot, blockTimeSeconds } = group.at(-1)!.transaction;
  const paid = group.reduce((sum, payout) => sum + payout.paid, 0n);
  const payer = bound.payer ?? bound.authorizedSigner;
  const paymentId = newId<PaymentId>(ctx.now, ctx.merchantId);
  const booked = planSessionlessPayment(
    ctx,
    {
      paymentId,
      merchantId: session.merchantId as AccountId,
      merchantName: listing?.merchant.displayName ?? '',
      livemode,
      productId: session.productId as ProductId,
      productName: listing?.product.name ?? '',
      slug: listing?.product.slug ?? '',
      nonce: newNonce(ctx.merchantId),
      asset: 'USDC',
      mint,
      amount: paid,
      recipientWallet: merchantWallet,
      recipientAta: await associatedTokenAccount(merchantWallet, mint),
      ...customerColumns(session.customer, payer),
      accessPeriodDays: null,
      usageUnits: null,
      isMetered: true,
      channelId,
      createdAt: ctx.now,
      expiresAt: ctx.now,
    },
    { txSignature, slot, blockTime: blockTimeSeconds! * SECOND, payer, paidUnits: paid, feePaidUnits: 0n },
    await loadAnchor(ctx, { merchantId: session.merchantId as AccountId, livemode, isPaidByOwner: false }),
  );
  const claim = {
    livemode,
    kind: 'metered' as const,
    subjectId: paymentId,
    txSignature: channelClaim(txSignature, channelId),
  };
  const payouts = insertPayouts(ctx.db, { livemode, channelId, paymentId }, group);
  const writes = [payouts, insertClaim(ctx.db, claim, { now: ctx.now, slot }), ...booked.writes];
  return commit(ctx, { ...booked, writes, result: true }).catch((error: unknown) => {
    if (!isConstraint(error)) throw error;
    return false;
  });
}
