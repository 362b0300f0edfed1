import type { CreditAnswer, Customer } from '../balance.ts';
import { type Actor, type Ctx, hasX402 } from '../context.ts';
import { sha256Hex } from '../core/crypto.ts';
import { utf8 } from '../core/encoding.ts';
import { ApiError, storyOf } from '../core/errors.ts';
import type { AccountId, PaymentId, ProductId } from '../core/ids.ts';
import { toMoneyResource } from '../core/money.ts';
import { commit } from '../db/commit.ts';
import { findRecord, type IdempotentRequest, MONEY_KEEP_MS, replayRecord, type StoredAnswer } from '../db/idempotency-record.ts';
import { type Lease, lease, releaseLease } from '../db/lease.ts';
import { creditPayment, identityOf } from '../entitlements/entitlement.ts';
import { getSale, type Sale } from '../products/product.ts';
import { encodeHeader } from '../x402/wire.ts';
import { customerColumns, draftSettlement, readPayment } from './draft.ts';
import { notReady, type Offer, offerPayment } from './offer.ts';
import { claimOnce, type Outcome, paidOf, see } from './settlement.ts';
import { findSettlement, loadSettlement, type Settlement } from './store.ts';

export interface SettlePayment {
  productId: ProductId;
  /** Value of the buyer's PAYMENT-SIGNATURE header. */
  paymentSignature: string;
  /** Whose entitlement it is; the payer's wallet where null. */
  customer: Customer | null;
  /** Used in the same step. */
  consumeUnits: number;
}

export interface SettledBody {
  success: true;
  payment_id: PaymentId;
  receipt_id: string;
  tx_signature: string;
  network: string;
  payer: string;
  amount: ReturnType<typeof toMoneyResource>;
  entitlement_id: string;
  granted_units: number | null;
  consumed_units: number;
  consumption_id?: string;
  remaining: number | null;
  payment_response: string;
}

export type Settling =
  /** `isDuplicate`: the payment was first used by another request; nothing may be served for this one. */
  | { kind: 'settled'; answer: StoredAnswer; consumedUnits: number; isDuplicate: boolean }
  | { kind: 'pending'; txSignature: string }
  | { kind: 'refused'; reason: string; offer: Offer };

/**
 * Settles a payment once per Idempotency-Key, and once per payment whatever the key: verify, claim, co-sign, broadcast, see
 * confirmed, store payment and receipt, credit the entitlement, use it. Every step can be repeated by whoever comes next.
 * 404, 409 setup_not_ready, duplicate_settlement, state_conflict (refunded), 429, 503 rpc_unavailable. (contract section 6)
 */
export async function settlePayment(ctx: Ctx, actor: Actor, request: IdempotentRequest, input: SettlePayment): Promise<Settling> {
  const caller = sha256Hex(utf8(`${request.scope}\n${request.key}`));
  const held = await lease(ctx, { ...request, keepMs: MONEY_KEEP_MS });
  if ('answer' in held) return replayed(ctx, held.answer, caller);
  const settling = await settle(ctx, actor, input, caller).catch(async (error: unknown) => {
    await releaseLease(ctx, held.lease);
    throw error;
  });
  // Only what had an effect is kept: no refusal, nothing unknown, and no second look at what another request used.
  if (settling.kind === 'settled' && !settling.isDuplicate) return keep(ctx, request, held.lease, settling);
  await releaseLease(ctx, held.lease);
  return settling;
}

/** An answer that is not kept is not given: asked for again under its key it would pass for the first, and be served twice. */
async function keep(ctx: Ctx, request: IdempotentRequest, held: Lease, settling: Settling & { kind: 'settled' }): Promise<Settling> {
  try {
    await commit(ctx, { events: [], writes: held.finish(settling.answer), result: null });
    return settling;
  } catch (error) {
    ctx.note(`answer not kept: ${storyOf(error)}`);
    const known = await findRecord(ctx, request).catch(() => null);
    // Under our own fence the kept answer is ours, and only the word of it was lost; else another call took the lease over and was first.
    if (known?.fence === held.fence && known.status !== null) return settling;
    const stored = known && (await replayRecord(ctx, known, request).catch(() => null));
    if (stored) return { ...settling, answer: stored, consumedUnits: 0 };
    await releaseLease(ctx, held);
    const { tx_signature: txSignature } = JSON.parse(settling.answer.body) as SettledBody;
    return { kind: 'pending', txSignature };
  }
}

/** A kept answer is given again, but never where what it served was taken back. */
async function replayed(ctx: Ctx, answer: StoredAnswer, caller: string): Promise<Settling> {
  const { payment_id: paymentId, consumed_units: consumedUnits } = JSON.parse(answer.body) as SettledBody;
  const stored = consumedUnits > 0 ? await loadSettlement(ctx.db, paymentId) : null;
  if (stored) useOf(await creditPayment(ctx, paidOf(stored.settlement), { key: caller, units: consumedUnits }));
  return { kind: 'settled', answer, consumedUnits: 0, isDuplicate: false };
}

async function settle(ctx: Ctx, actor: Actor, input: SettlePayment, caller: string): Promise<Settling> {
  const sale = await getSale(ctx.db, actor.accountId as AccountId, actor.livemode, input.productId, 'x402_solana_usdc');
  if (!actor.livemode) throw notReady('sandbox');
  if (!hasX402(ctx.config)) throw notReady('rail_unavailable');
  const read = await readPayment(ctx, input.paymentSignature);
  if (!read.ok) return refuse(ctx, sale, input, read.reason);
  const { messageHash } = read.verified;
  const known = await findSettlement(ctx.db, messageHash);
  if (known) return resume(ctx, actor, known, sale, input, caller);
  const drafted = await draftSettlement(ctx, sale, read, input.customer);
  if (!drafted.ok) {
    // Somebody may have brought it since that look: what has landed meanwhile fails a simulation, and is paid all the same.
    const claimed = await findSettlement(ctx.db, messageHash);
    return claimed ? resume(ctx, actor, claimed, sale, input, caller) : refuse(ctx, sale, input, drafted.reason);
  }
  const { settlement, isNew } = await claimOnce(ctx, drafted.settlement);
  // Whoever was faster may even have settled it by now.
  if (!isNew) return resume(ctx, actor, settlement, sale, input, caller);
  return settled(ctx, settlement, await see(ctx, settlement, true), sale, input, caller);
}

/** A payment that was brought before, here or by another request. */
async function resume(ctx: Ctx, actor: Actor, known: Settlement, sale: Sale, input: SettlePayment, caller: string): Promise<Settling> {
  requireSamePurpose(known, actor, input);
  return settled(ctx, known, await see(ctx, known, false), sale, input, caller);
}

/** One payment is for one product and one customer of one merchant, for ever. */
function requireSamePurpose(settlement: Settlement, actor: Actor, { productId, customer }: SettlePayment): void {
  const isTheirs =
    settlement.merchantId === actor.accountId && settlement.livemode === actor.livemode && settlement.productId === productId;
  const named = customerColumns(customer, settlement.payerWallet);
  const isSameCustomer = settlement.customerRef === named.customerRef && settlement.customerWallet === named.customerWallet;
  if (!isTheirs || !isSameCustomer) throw new ApiError('duplicate_settlement');
}

/** The end of a settlement, whoever brought it about: everything in this answer follows from facts that no longer change. */
async function settled(
  ctx: Ctx,
  settlement: Settlement,
  outcome: Outcome,
  sale: Sale,
  input: SettlePayment,
  caller: string,
): Promise<Settling> {
  const { txSignature, payerWallet: payer } = settlement;
  if (outcome.status === 'pending') return { kind: 'pending', txSignature };
  if (outcome.status === 'failed') {
    ctx.note(`settlement: ${outcome.reason}`);
    return refuse(ctx, sale, input, 'invalid_exact_svm_transaction_failed');
  }
  const consume = input.consumeUnits > 0 ? { key: caller, units: input.consumeUnits } : null;
  const credit = await creditPayment(ctx, paidOf(settlement), consume);
  const use = useOf(credit);
  const network = ctx.config.network.caip2;
  const owner = { accountId: settlement.merchantId, livemode: settlement.livemode };
  const customer =
    settlement.customerRef === null ? { walletAddress: settlement.customerWallet! } : { customerRef: settlement.customerRef };
  const amount = settlement.amount.toString();
  const body: SettledBody = {
    success: true,
    payment_id: settlement.paymentId,
    receipt_id: outcome.receiptId!,
    tx_signature: txSignature,
    network,
    payer,
    amount: toMoneyResource({ asset: settlement.asset, units: settlement.amount }),
    entitlement_id: identityOf(owner, settlement.productId!, customer).entitlementId,
    granted_units: credit.grantedUnits,
    consumed_units: use?.units ?? 0,
    ...(use ? { consumption_id: use.consumptionId } : {}),
    remaining: credit.remaining,
    payment_response: encodeHeader({ success: true, payer, transaction: txSignature, network, amount }),
  };
  const answer = { status: 200, body: JSON.stringify(body), replayed: false };
  return { kind: 'settled', answer, consumedUnits: use?.by === 'mine' ? use.units : 0, isDuplicate: use?.by === 'other' };
}

/** The use that was made of a payment; a use that was taken back is never given again to the same request. */
function useOf({ consumption }: CreditAnswer) {
  if (consumption.by === 'refunded')
    throw new ApiError('state_conflict', { detail: 'What this request consumed was refunded.', meta: { reason: 'refunded' } });
  return consumption.by === 'none' ? null : consumption;
}

/** The fresh challenge asks for as much as this request was to use. */
const refuse = async (ctx: Ctx, sale: Sale, { consumeUnits: units }: SettlePayment, reason: string): Promise<Settling> => ({
  kind: 'refused',
  reason,
  offer: await offerPayment(ctx, sale, { error: reason, units }),
});
