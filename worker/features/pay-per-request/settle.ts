import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { ApiError, storyOf } from '#core/errors.ts';
import type { PaymentId, ProductId } from '#core/ids.ts';
import { creditPayment } from '#features/entitlements/credit-payments.ts';
import { getSale, type Sale } from '#features/products/product.ts';
import { newSwitchedOffError, newX402NotReady } from '#features/rails/x402.ts';
import { customerColumns, draftSettlement, type PaymentReading, readPayment } from '#features/settlements/co-sign.ts';
import { findTold, giveSuccess } from '#features/settlements/finish.ts';
import { claimOnce, followThrough, type SettlementOutcome, toPaidPurchase } from '#features/settlements/follow-through.ts';
import { findSettlement, loadSettlement } from '#features/settlements/store.ts';
import { type Ctx, hasX402, isOf, type Scope, type Shard, type Tenant } from '#platform/context.ts';
import { commit } from '#platform/db/commit.ts';
import { findRecord, type IdempotentRequest, MONEY_KEEP_MS, replayRecord, type StoredAnswer } from '#platform/db/idempotency-record.ts';
import { type Lease, releaseLease, takeLease } from '#platform/db/lease.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import type { Customer } from '#rules/balance.ts';
import { X402_RAIL } from '#rules/rails.ts';
import { isForgottenPayee, makeSaleChallenge, type SaleChallenge } from './challenge.ts';
import { requireUse, type SettlementBody, toDuplicateResource, toSettlementResource } from './resource.ts';

interface SettlePayment {
  productId: ProductId;
  /** Value of the buyer's PAYMENT-SIGNATURE header. */
  paymentSignature: string;
  /** Whose entitlement it is; the payer's wallet where null. */
  customer: Customer | null;
  /** Used in the same step. */
  consumeUnits: number;
}

export type SettleResult =
  | Settled
  | { kind: 'pending'; txSignature: string }
  | { kind: 'refused'; reason: string; challenge: SaleChallenge };

/** `isDuplicate`: another request was told of its success; nothing may be served for this one. */
interface Settled {
  kind: 'settled';
  answer: StoredAnswer;
  consumedUnits: number;
  isDuplicate: boolean;
}

/** A success that no request was told of yet, but for `toldBefore`, whose use was given back. It is told once it is stored who has it. */
interface FirstSuccess extends Settled {
  settlement: Settlement;
  toldBefore: string | null;
}

/**
 * Settles a payment once per Idempotency-Key, and once per payment whatever the key: verify, claim, co-sign, broadcast, see
 * confirmed, store payment and receipt, credit the entitlement, use it. Every step can be repeated by the next request.
 * 404, 409 setup_not_ready, duplicate_settlement, state_conflict (refunded), 422 for too many units, 429, 503 rpc_unavailable.
 */
export async function settlePayment(ctx: Scope, request: IdempotentRequest, input: SettlePayment): Promise<SettleResult> {
  const caller = sha256Hex(utf8(`${request.scope}\n${request.key}`));
  const held = await takeLease(ctx, { ...request, keepMs: MONEY_KEEP_MS });
  if ('answer' in held) return replayAnswer(ctx, held.answer, caller);
  const settling = await settleUnderLease(ctx, input, caller).catch(async (error: unknown) => {
    await releaseLease(ctx, held.lease);
    throw error;
  });
  if ('toldBefore' in settling) return storeAnswer(ctx, request, held.lease, settling, caller);
  // Refusals, pending outcomes and repeated successes free the key.
  await (settling.kind === 'settled' && settling.isDuplicate ? storeDuplicate(ctx, held.lease, settling) : releaseLease(ctx, held.lease));
  return settling;
}

/** Stores the first answer of another key. It serves nothing, so that a failure to store it only frees the key. */
async function storeDuplicate(ctx: Shard, held: Lease, { answer }: Settled): Promise<void> {
  try {
    await commit(ctx, { events: [], writes: held.finish(answer), result: null });
  } catch (error) {
    ctx.note(`answer not kept: ${storyOf(error)}`);
    await releaseLease(ctx, held);
  }
}

/**
 * Stores the answer, or answers pending where that fails: a retry under the same key would look like a first request and be served twice. With it the
 * success of the payment belongs to this caller, for longer than any answer is kept.
 */
async function storeAnswer(
  ctx: Shard,
  request: IdempotentRequest,
  held: Lease,
  first: FirstSuccess,
  caller: string,
): Promise<SettleResult> {
  const { settlement, toldBefore, ...settling } = first;
  try {
    const writes = [...held.finish(settling.answer), ...giveSuccess(ctx, settlement, caller, toldBefore)];
    await commit(ctx, { events: [], writes, result: null });
    return settling;
  } catch (error) {
    ctx.note(`answer not kept: ${storyOf(error)}`);
    const known = await findRecord(ctx, request).catch(() => null);
    // Under our own fence the stored answer is ours, and only the database's answer was lost; else another call took the lease over and was first.
    if (known?.fence === held.fence && known.status !== null) return settling;
    const stored = known && (await replayRecord(ctx, known, request).catch(() => null));
    if (stored) return { ...settling, answer: stored, consumedUnits: 0 };
    await releaseLease(ctx, held);
    const told = await findTold(ctx.db, settlement).catch(() => null);
    const isAnothers = told !== null && told !== toldBefore && told !== caller;
    if (isAnothers) return answerDuplicate(ctx, settlement, JSON.parse(settling.answer.body));
    return { kind: 'pending', txSignature: settlement.txSignature };
  }
}

/** Answers a stored answer again; 409 state_conflict where the use it served was given back. */
async function replayAnswer(ctx: Shard, answer: StoredAnswer, caller: string): Promise<SettleResult> {
  const body = JSON.parse(answer.body) as SettlementBody & { payment_id: PaymentId };
  const { payment_id: paymentId, consumed_units: consumedUnits, duplicate: isDuplicate = false } = body;
  const stored = consumedUnits > 0 ? await loadSettlement(ctx, paymentId) : null;
  if (stored) requireUse(await creditPayment(ctx, toPaidPurchase(stored.settlement), { key: caller, units: consumedUnits }));
  return { kind: 'settled', answer, consumedUnits: 0, isDuplicate };
}

async function settleUnderLease(ctx: Scope, input: SettlePayment, caller: string): Promise<SettleResult | FirstSuccess> {
  const sale = await getSale(ctx, input.productId, X402_RAIL);
  if (!hasX402(ctx.config)) throw newX402NotReady('rail_unavailable');
  const read = await readPayment(ctx, input.paymentSignature);
  const claimed = read.ok ? await claimOrFind(ctx, sale, read, input) : read;
  if ('reason' in claimed) return refuseWithChallenge(ctx, sale, input, claimed.reason);
  const { settlement, isNew } = claimed;
  if (!isNew) {
    requireSamePurpose(settlement, ctx, input);
    requireBought(settlement, input);
  }
  const outcome = await followThrough(ctx, settlement, { isNew });
  const told = !isNew && outcome.status === 'settled' ? await findTold(ctx.db, settlement) : null;
  return creditAndUse(ctx, settlement, outcome, sale, { ...input, caller, told });
}

/** Follows a payment that this or another request brought before. 409 duplicate_settlement where it is for something else. */
async function claimOrFind(
  ctx: Shard,
  sale: Sale,
  read: PaymentReading & { ok: true },
  input: SettlePayment,
): Promise<{ settlement: Settlement; isNew: boolean } | { reason: string }> {
  const { messageHash } = read.verified;
  const known = await findSettlement(ctx, messageHash);
  if (known) return { settlement: known, isNew: false };
  if (sale.switchedOff) throw newSwitchedOffError(sale);
  if (await isForgottenPayee(ctx, sale, read.accepted.payTo)) return { reason: 'invalid_payment_requirements' };
  const drafted = await draftSettlement(ctx, sale, read, input.customer);
  // Of two requests the slower gets the claim of the faster one, which may even have settled it by now.
  if (drafted.ok) {
    requireBought(drafted.settlement, input);
    return claimOnce(ctx, drafted.settlement);
  }
  // Another request may have brought it since that look: what has landed meanwhile fails a simulation, and is paid all the same.
  const claimed = await findSettlement(ctx, messageHash);
  return claimed ? { settlement: claimed, isNew: false } : { reason: drafted.reason };
}

/** One payment is for one product and one customer of one merchant, for ever. */
function requireSamePurpose(settlement: Settlement, tenant: Tenant, { productId, customer }: SettlePayment): void {
  const isTheirs = isOf(tenant, settlement) && settlement.productId === productId;
  const named = customerColumns(customer, settlement.payerWallet);
  const isSameCustomer = settlement.customerRef === named.customerRef && settlement.customerWallet === named.customerWallet;
  if (!isTheirs || !isSameCustomer) throw new ApiError('duplicate_settlement');
}

/** Throws 422 before money moves if the request is to use more than the payment buys. A sale by time alone buys no number of units. */
function requireBought({ terms: { usageUnits } }: Settlement, { consumeUnits }: SettlePayment): void {
  if (usageUnits === null || consumeUnits <= usageUnits) return;
  const msg = `This payment buys ${usageUnits} units. Consume at most as many, or ask for a challenge for more`;
  const problems = [{ loc: ['body', 'consume_units'], msg, type: 'too_big' }];
  throw new ApiError('validation_error', { problems, meta: { buys_units: usageUnits } });
}

/**
 * The end of a settlement, whichever request brought it about; and whether this request is the one that is told of a success. `told`: who was, as
 * far as it is known; that it still holds is made sure when this one's answer is stored.
 */
async function creditAndUse(
  ctx: Ctx,
  settlement: Settlement,
  outcome: SettlementOutcome,
  sale: Sale,
  input: SettlePayment & { caller: string; told: string | null },
): Promise<SettleResult | FirstSuccess> {
  if (outcome.status === 'pending') return { kind: 'pending', txSignature: settlement.txSignature };
  if (outcome.status === 'failed') {
    ctx.note(`settlement: ${outcome.reason}`);
    return refuseWithChallenge(ctx, sale, input, 'invalid_exact_svm_transaction_failed');
  }
  const { caller, told } = input;
  const consume = input.consumeUnits > 0 ? { key: caller, units: input.consumeUnits, isTold: told !== null } : null;
  const credit = await creditPayment(ctx, toPaidPurchase(settlement), consume);
  const use = requireUse(credit);
  const body = toSettlementResource(ctx, settlement, outcome.receiptId!, credit);
  const answer = { status: 200, body: JSON.stringify(body), replayed: false };
  if (told === caller) return { kind: 'settled', answer: { ...answer, replayed: true }, consumedUnits: 0, isDuplicate: false };
  // Where another was told, only a use of its own is this request's: then the other's was given back.
  const isFirst = use?.by === 'mine' || (told === null && use === null);
  if (!isFirst) return answerDuplicate(ctx, settlement, body);
  return { kind: 'settled', answer, consumedUnits: use?.units ?? 0, isDuplicate: false, settlement, toldBefore: told };
}

async function answerDuplicate(ctx: Ctx, settlement: Settlement, body: SettlementBody): Promise<Settled> {
  const answer = { status: 200, body: JSON.stringify(await toDuplicateResource(ctx, settlement, body)), replayed: false };
  return { kind: 'settled', answer, consumedUnits: 0, isDuplicate: true };
}

/** The fresh challenge asks for as much as this request was to use. */
const refuseWithChallenge = async (
  ctx: Ctx,
  sale: Sale,
  { consumeUnits: units }: SettlePayment,
  reason: string,
): Promise<SettleResult> => ({
  kind: 'refused',
  reason,
  challenge: await makeSaleChallenge(ctx, sale, { error: reason, units }),
});
