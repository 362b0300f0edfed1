import { base58 } from '#core/encoding.ts';
import { type AccountId, newId, type PaymentId, type ProductId } from '#core/ids.ts';
import { MINUTE, SECOND } from '#core/time.ts';
import { planPerRequest } from '#features/payments/settled-payment.ts';
import { findListing, type Listing } from '#features/products/product.ts';
import { customerColumns } from '#features/settlements/co-sign.ts';
import type { Scope } from '#platform/context.ts';
import { commit, isConstraint } from '#platform/db/commit.ts';
import { channelClaim, insertClaim } from '#platform/db/fate.ts';
import type { MeteredSessionRow } from '#platform/db/tables/settlements.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { paidOutOf } from '#solana/match.ts';
import type { Channel } from '#solana/programs/payment-channels/channel.ts';
import type { ChainTransaction } from '#solana/transaction.ts';
import type { OpenedSession } from '../session.ts';
import { listBooked, notePlace } from './payouts.store.ts';

const PAGE_SIZE = 100;
/** Read by one look; anyone can name a channel in their transactions. */
const PAGES_MAX = 3;
/** Transactions that one call asks for. */
const ASKED_AT_ONCE = 20;
/** Calls left at which nothing more is booked: a few for each of the sessions that are looked at side by side. */
const LEFT_CALLS = 60;
/** Clocks of ours and of the chain differ by less. */
const SKEW_MS = 10 * MINUTE;

/**
 * Anyone may have a channel pay out what was settled, and the holder of a voucher may settle it. Where a channel that stands has paid out
 * more than was looked up, what moved it is looked up, and what was not our own transaction becomes a payment. A node that is behind is asked
 * again by the next look. Of more transactions than one look reads the rest is found once the session has ended.
 */
export async function bookPaidOut(ctx: Scope, session: OpenedSession, row: MeteredSessionRow, channel: Channel): Promise<void> {
  const due = channel.payoutWatermark - row.payoutSeen;
  if (due === 0n) return;
  let before: string | null = null;
  let newest: string | null = null;
  for (let page = 0, found = 0n; page < PAGES_MAX && found < due; page++) {
    const read = await bookPage(ctx, session, { before, until: row.payoutSeenTx });
    if (typeof read === 'string') return;
    newest ??= read.newest;
    found += read.paidOut;
    before = read.next;
    if (before === null && found < due) return;
  }
  await notePlace(ctx, session, { payoutSeen: channel.payoutWatermark, payoutSeenTx: newest ?? row.payoutSeenTx });
}

/** Looks up all that ever came out of the channel of a session that has ended. False where some is left for the next look. */
export async function bookAll(ctx: Scope, session: OpenedSession, row: MeteredSessionRow): Promise<boolean> {
  let before = row.payoutReadTx;
  for (let page = 0; page < PAGES_MAX; page++) {
    const read = await bookPage(ctx, session, { before, until: null });
    if (read === 'unknown') break;
    if (read !== 'lost' && read.next === null) return true;
    before = read === 'lost' ? null : read.next;
  }
  if (before !== row.payoutReadTx) await notePlace(ctx, session, { payoutReadTx: before });
  return false;
}

/** `paidOut`: by all transactions of the page, to any account. `next`: null once none is left that can have moved the channel's money. */
interface Page {
  paidOut: bigint;
  newest: string | null;
  next: string | null;
}

/**
 * `lost`: no node knows the transaction any more that the page begins after. `unknown`: a node did not show all, or the invocation may make
 * no more calls; the next look goes on behind what is booked.
 */
async function bookPage(
  ctx: Scope,
  session: OpenedSession,
  bounds: { before: string | null; until: string | null },
): Promise<Page | 'lost' | 'unknown'> {
  const { channelId } = session.bound;
  const listed = await ctx.chain.listSignatures(channelId, { ...bounds, limit: PAGE_SIZE });
  if (listed.kind === 'lost') return 'lost';
  if (listed.kind === 'unavailable') return newUnknown(ctx, listed.reason);
  const { items } = listed;
  const within = items.filter(({ blockTime }) => blockTime == null || blockTime * SECOND >= session.createdAt - SKEW_MS);
  const signatures = within.map(({ signature }) => signature);
  const booked = await listBooked(ctx.db, channelId, signatures);
  const recipientAta = await associatedTokenAccount(session.merchantWallet, session.mint);
  const listing = await findListing(ctx, { productId: session.productId as ProductId });
  let paidOut = 0n;
  for (let from = 0; from < signatures.length; from += ASKED_AT_ONCE) {
    const answer = await ctx.chain.findTransactions(signatures.slice(from, from + ASKED_AT_ONCE));
    if (answer.kind === 'unavailable') return newUnknown(ctx, answer.reason);
    for (const sighting of answer.sightings) {
      // Listed, and not shown: another node of the same address may be behind.
      if (sighting.kind !== 'found' || sighting.transaction.blockTimeSeconds === null) return 'unknown';
      const { all, paid } = paidOutOf(sighting.transaction, channelId, recipientAta);
      paidOut += all;
      if (paid === 0n || booked.has(sighting.transaction.signature)) continue;
      if (ctx.budget.left < LEFT_CALLS) return 'unknown';
      await book(ctx, session, sighting.transaction, { paid, recipientAta, listing });
    }
  }
  const isOver = items.length === 0 || within.length < items.length;
  return { paidOut, newest: items[0]?.signature ?? null, next: isOver ? null : items.at(-1)!.signature };
}

function newUnknown(ctx: Scope, reason: string): 'unknown' {
  ctx.note(`rpc: ${reason}`);
  return 'unknown';
}

/** A payment, its receipt and its events, once: its claim names transaction and channel, and is watched as any other. */
async function book(
  ctx: Scope,
  session: OpenedSession,
  { signature: txSignature, slot, blockTimeSeconds }: ChainTransaction,
  { paid, recipientAta, listing }: { paid: bigint; recipientAta: string; listing: Listing | null },
): Promise<void> {
  const { livemode, mint, merchantWallet, bound } = session;
  const productId = session.productId as ProductId;
  const payer = bound.payer ?? bound.authorizedSigner;
  const paymentId = newId<PaymentId>(ctx.now);
  const booked = planPerRequest(
    ctx,
    {
      paymentId,
      merchantId: session.merchantId as AccountId,
      merchantName: listing?.merchant.displayName ?? '',
      livemode,
      productId,
      productName: listing?.product.name ?? '',
      slug: listing?.product.slug ?? '',
      nonce: base58.encode(crypto.getRandomValues(new Uint8Array(16))),
      asset: 'USDC',
      mint,
      amount: paid,
      recipientWallet: merchantWallet,
      recipientAta,
      ...customerColumns(session.customer, payer),
      accessPeriodDays: null,
      usageUnits: null,
      isMetered: true,
      channelId: bound.channelId,
      createdAt: ctx.now,
      expiresAt: ctx.now,
    },
    { txSignature, slot, blockTime: blockTimeSeconds! * SECOND, payer, paidUnits: paid, feePaidUnits: 0n },
  );
  const messageHash = channelClaim(txSignature, bound.channelId);
  const claim = { livemode, kind: 'metered' as const, subjectId: paymentId, messageHash, createdAt: ctx.now };
  // Where the transaction pays something else too, and where another sweep was faster, which then refuses the second as well.
  for (const claimed of [txSignature, messageHash]) {
    const writes = [insertClaim(ctx.db, { ...claim, txSignature: claimed }, slot), ...booked.writes];
    const isStored = await commit(ctx, { ...booked, writes, result: true }).catch((error: unknown) => {
      if (!isConstraint(error)) throw error;
      return false;
    });
    if (isStored) return;
  }
}
