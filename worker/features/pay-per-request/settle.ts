import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { ApiError, formatErrorChain } from '#core/errors.ts';
import type { PaymentId, ProductId, ReceiptId } from '#core/ids.ts';
import { creditPayment } from '#features/entitlements/credit-payments.ts';
import { readEntitlement } from '#features/entitlements/entitlement.ts';
import { getSale, type Sale } from '#features/products/product.ts';
import { newX402NotReady, requireOn } from '#features/rails/x402.ts';
import { type Anchor, loadAnchor } from '#features/receipts/hash-chain.ts';
import { customerColumns, draftSettlement, type PaymentReading, readPayment } from '#features/settlements/co-sign.ts';
import { assignSuccess } from '#features/settlements/finish.ts';
import { claimOnce, followThrough, toPaidPurchase } from '#features/settlements/follow-through.ts';
import { isIdentifierTaken, newIdentifierConflict } from '#features/settlements/payment-identifier.ts';
import { newProof } from '#features/settlements/proofs.ts';
import { findAnsweredBy, findSettlement, loadSettlement } from '#features/settlements/store.ts';
import { belongsTo, hasX402, type Scope, type Shard, type Tenant } from '#platform/context.ts';
import { commit } from '#platform/db/commit.ts';
import {
  findRecord,
  type IdempotentRequest,
  MONEY_RETENTION_MS,
  replayRecord,
  type StoredAnswer,
} from '#platform/db/idempotency-record.ts';
import { type Lease, releaseLease, takeLease } from '#platform/db/lease.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import type { Customer } from '#rules/balance.ts';
import { X402_RAIL } from '#rules/rails.ts';
import { isRevokedPayee, makeSaleChallenge, paidUrlOf, type SaleChallenge } from './challenge.ts';
import {
  answerOf,
  asDuplicate,
  entitlementOf,
  type Requested,
  requireUse,
  type SettlementAnswer,
  toSettlementResource,
} from './resource.ts';

interface SettlePayment {
  productId: ProductId;
  paymentSignature: string;
  customer: Customer | null;
  consumeUnits: number;
  /** Resource that the buyer requested. The receipt names its URL. */
  resource?: Requested | undefined;
}

export type SettleResult =
  | Settled
  | { kind: 'pending'; txSignature: string }
  | { kind: 'refused'; reason: string; challenge: SaleChallenge };

/** `isDuplicate`: another request was answered with the success. Nothing may be served for this one. */
interface Settled {
  kind: 'settled';
  answer: StoredAnswer;
  consumedUnits: number;
  isDuplicate: boolean;
}

/**
 * Settles a payment once per Idempotency-Key and once per payment: verify, claim, co-sign, broadcast, confirm, store payment and receipt,
 * credit, consume. The next request can repeat every step. Throws 404, 409 setup_not_ready, duplicate_settlement, idempotency_conflict
 * (payment identifier), state_conflict (refunded), 422 for too many units, 429, 503 rpc_unavailable.
 */
export async function settlePayment(ctx: Scope, request: IdempotentRequest, input: SettlePayment): Promise<SettleResult> {
  const result = await settleOnce(ctx, request, input);
  if (result.kind !== 'settled') return result;
  const body = JSON.stringify(toSettlementResource(ctx, JSON.parse(result.answer.body) as SettlementAnswer));
  return { ...result, answer: { ...result.answer, body } };
}

/** Returns answers in their stored form. */
async function settleOnce(ctx: Scope, request: IdempotentRequest, input: SettlePayment): Promise<SettleResult> {
  const caller = sha256Hex(utf8(`${request.scope}\n${request.key}`));
  // Read at the same time. Another request may claim the payment in between, which the claim itself refuses.
  const reading = loadFacts(ctx, input);
  reading.catch(() => {});
  const held = await takeLease(ctx, { ...request, retentionMs: MONEY_RETENTION_MS });
  if ('answer' in held) return replayAnswer(ctx, held.answer, caller);
  let isStored = false;
  try {
    const facts = await reading;
    const outcome = await claimAndFollow(ctx, facts, input);
    if (outcome.kind === 'pending') return outcome;
    if (outcome.kind === 'refused') {
      // The fresh challenge asks for as much as this request was to use.
      const challenge = await makeSaleChallenge(ctx, facts.sale, {
        error: outcome.reason,
        units: input.consumeUnits,
        resource: input.resource,
      });
      return { ...outcome, challenge };
    }
    const success = await creditAndUse(ctx, facts, { ...outcome, ...input, caller });
    const stored = await storeAnswer(ctx, { request, lease: held.lease, caller }, success);
    isStored = stored.isStored;
    return stored.result;
  } finally {
    // Refusals, pending outcomes and repeated successes release the key.
    if (!isStored) await releaseLease(ctx, held.lease);
  }
}

/** Answers a stored answer again. Throws 409 state_conflict if the use that it served was refunded. */
async function replayAnswer(ctx: Shard, answer: StoredAnswer, caller: string): Promise<Settled> {
  const known = JSON.parse(answer.body) as SettlementAnswer & { payment_id: PaymentId };
  const { payment_id: paymentId, consumed_units: units, duplicate: isDuplicate = false } = known;
  const stored = units > 0 ? await loadSettlement(ctx, paymentId) : null;
  if (stored) await creditUse(ctx, stored.settlement, { key: caller, units, isAnswered: false });
  return { kind: 'settled', answer, consumedUnits: 0, isDuplicate };
}

/** Product that is sold, payment as it was read, and its settlement if a request brought it before. */
interface Facts {
  sale: Sale;
  read: PaymentReading;
  known: Settlement | null;
  /** True if another transaction has the payment's identifier. */
  isIdentifierTaken: boolean;
  /** Anchor of the next receipt. Stays valid if other receipts are stored before it, except in a sandbox, which erases receipts. */
  anchor: Anchor | null;
}

async function loadFacts(ctx: Scope, { productId, paymentSignature }: SettlePayment): Promise<Facts> {
  const read = hasX402(ctx.config) ? await readPayment(ctx, paymentSignature) : null;
  const [sale, known, isTaken, anchor] = await Promise.all([
    getSale(ctx, productId, X402_RAIL),
    read?.ok ? findSettlement(ctx, read.signed.txSignature) : null,
    read?.ok ? isIdentifierTaken(ctx, read, { purpose: 'access', productId }) : false,
    read?.ok && ctx.livemode ? loadAnchor(ctx, { merchantId: ctx.merchantId, livemode: ctx.livemode, isPaidByOwner: false }) : null,
  ]);
  if (!read) throw newX402NotReady('rail_unavailable');
  return { sale, read, known, isIdentifierTaken: isTaken, anchor };
}

/** Settlement that the chain has confirmed. `isNew`: this request claimed it. */
interface Confirmed {
  kind: 'confirmed';
  settlement: Settlement;
  receiptId: ReceiptId;
  settledAt: number;
  isNew: boolean;
}

/** Claims the payment for ever, or finds its claim. Then broadcasts it, and follows it until the chain has confirmed it. */
async function claimAndFollow(
  ctx: Scope,
  facts: Facts,
  input: SettlePayment,
): Promise<Confirmed | { kind: 'pending'; txSignature: string } | { kind: 'refused'; reason: string }> {
  const claimed = await claimOrFind(ctx, facts, input);
  if ('reason' in claimed) return { kind: 'refused', reason: claimed.reason };
  const { settlement, isNew } = claimed;
  if (!isNew) {
    requireSamePurpose(settlement, ctx, input);
    requireBought(settlement, input);
  }
  const outcome = await followThrough(ctx, settlement, { isNew, anchor: facts.anchor });
  if (outcome.status === 'pending') return { kind: 'pending', txSignature: settlement.txSignature };
  if (outcome.status === 'settled') {
    const { receiptId, settledAt } = outcome;
    return { kind: 'confirmed', settlement, receiptId: receiptId!, settledAt, isNew };
  }
  ctx.note(`settlement: ${outcome.reason}`);
  return { kind: 'refused', reason: 'invalid_exact_svm_transaction_failed' };
}

/**
 * Claims a new payment, or continues a known one. Throws 409 duplicate_settlement if the payment was made for something else, 409
 * idempotency_conflict if another transaction has its identifier, 429 payer_limit_reached.
 */
async function claimOrFind(
  ctx: Shard,
  { sale, read, known, isIdentifierTaken: isTaken }: Facts,
  input: SettlePayment,
): Promise<{ settlement: Settlement; isNew: boolean } | { reason: string }> {
  if (!read.ok) return read;
  if (known) return { settlement: known, isNew: false };
  if (isTaken) throw newIdentifierConflict();
  requireOn(sale);
  if (await isRevokedPayee(ctx, sale, read.accepted.payTo)) return { reason: 'invalid_payment_requirements' };
  const { payer: payerWallet, amount } = read.verified;
  // Loaded on first use: few products have a limit.
  const payerLimit = sale.product.maxPerPayerPerDay === null ? null : await import('./payer-limit.ts');
  const drafted = (await payerLimit?.isAtPayerLimit(ctx, sale.product, { payerWallet, amount }))
    ? null
    : await draftSettlement(ctx, sale, read, input.customer);
  if (drafted?.ok) {
    requireBought(drafted.settlement, input);
    return payerLimit ? payerLimit.claimWithinPayerLimit(ctx, sale.product, drafted.settlement) : claimOnce(ctx, drafted.settlement);
  }
  // Another request may have brought the payment meanwhile: a landed transaction fails simulation but is paid.
  const claimed = await findSettlement(ctx, read.signed.txSignature);
  if (claimed) return { settlement: claimed, isNew: false };
  if (drafted === null) throw await payerLimit!.newPayerLimitError(ctx, sale.product, payerWallet);
  return { reason: drafted.reason };
}

function requireSamePurpose(settlement: Settlement, tenant: Tenant, { productId, customer }: SettlePayment): void {
  const isTheirs = belongsTo(tenant, settlement) && settlement.productId === productId;
  const named = customerColumns(customer, settlement.payerWallet);
  const isSameCustomer = settlement.customerRef === named.customerRef && settlement.customerWallet === named.customerWallet;
  if (!isTheirs || !isSameCustomer) throw new ApiError('duplicate_settlement');
}

/** Throws 422 before money moves if the request needs more units than the payment buys. A sale by time alone has no units. */
function requireBought({ terms: { usageUnits } }: Settlement, { consumeUnits }: SettlePayment): void {
  if (usageUnits === null || consumeUnits <= usageUnits) return;
  const msg = `Expected at most ${usageUnits}, the units that the payment buys`;
  const problems = [{ loc: ['body', 'consume_units'], msg, type: 'too_big' }];
  throw new ApiError('validation_error', { problems, meta: { buys_units: usageUnits } });
}

/**
 * Success of a payment, and which request it answers. `first`: this one, once the database records it. `repeated`: this one, which was
 * answered before. `duplicate`: another one.
 */
interface Success {
  role: 'first' | 'repeated' | 'duplicate';
  settlement: Settlement;
  /** Request that was answered before, if its use was refunded since. */
  previousAnsweredBy: string | null;
  answer: SettlementAnswer;
  consumedUnits: number;
}

/** Credits the entitlement and uses units in the same step, whichever request brought the payment. */
async function creditAndUse(
  ctx: Scope,
  { sale, read }: Facts,
  { settlement, receiptId, settledAt, isNew, consumeUnits: units, resource, caller }: Confirmed & SettlePayment & { caller: string },
): Promise<Success> {
  const answeredBy = isNew ? null : await findAnsweredBy(ctx.db, settlement);
  const consume = units > 0 ? { key: caller, units, isAnswered: answeredBy !== null } : null;
  const { credit, use } = await creditUse(ctx, settlement, consume);
  const proof = newProof(ctx, paidUrlOf(ctx, sale, resource, read.ok ? read.resourceUrl : null), settledAt);
  const answer = answerOf(ctx, settlement, { receiptId, credit, proof });
  const role = roleOf(caller, answeredBy, use);
  return { role, settlement, previousAnsweredBy: answeredBy, answer, consumedUnits: role === 'first' ? (use?.units ?? 0) : 0 };
}

async function creditUse(ctx: Shard, settlement: Settlement, consume: Parameters<typeof creditPayment>[2]) {
  const credit = await creditPayment(ctx, toPaidPurchase(settlement), consume);
  return { credit, use: requireUse(credit) };
}

/** If another request was answered, only a use of its own makes this one the first: then the other's was refunded. */
function roleOf(caller: string, answeredBy: string | null, use: ReturnType<typeof requireUse>): Success['role'] {
  if (answeredBy === caller) return 'repeated';
  return use?.by === 'mine' || (answeredBy === null && use === null) ? 'first' : 'duplicate';
}

const storable = (answer: SettlementAnswer): StoredAnswer => ({ status: 200, body: JSON.stringify(answer), replayed: false });

/** Serves nothing: the payment belongs to another request. */
async function answerDuplicate(ctx: Scope, { settlement, answer }: Success): Promise<Settled> {
  const owner = entitlementOf(settlement);
  const held = await readEntitlement(ctx, owner, owner.entitlementId);
  return { kind: 'settled', answer: storable(asDuplicate(answer, held ? held.remaining : 0)), consumedUnits: 0, isDuplicate: true };
}

interface Asked {
  request: IdempotentRequest;
  lease: Lease;
  /** Names the request among those that bring the same payment. */
  caller: string;
}

/** Stores the answer under its key. With a first answer the success of the payment belongs to this caller, for longer than any answer is stored. */
async function storeAnswer(ctx: Scope, asked: Asked, success: Success): Promise<{ result: SettleResult; isStored: boolean }> {
  const { role, settlement, previousAnsweredBy, consumedUnits } = success;
  const isFirst = role === 'first';
  const answer = { ...storable(success.answer), replayed: !isFirst };
  const result: Settled =
    role === 'duplicate' ? await answerDuplicate(ctx, success) : { kind: 'settled', answer, consumedUnits, isDuplicate: false };
  if (role === 'repeated') return { result, isStored: false };
  const assigned = isFirst ? assignSuccess(ctx, settlement, asked.caller, previousAnsweredBy) : [];
  try {
    await commit(ctx, { events: [], writes: [...asked.lease.finish(result.answer), ...assigned], result: null });
    return { result, isStored: true };
  } catch (error) {
    ctx.note(`answer not stored: ${formatErrorChain(error)}`);
    // A duplicate serves nothing, so that a failure to store it only frees the key.
    return isFirst ? recoverAnswer(ctx, asked, success, result) : { result, isStored: false };
  }
}

/**
 * Resolves a first answer after its batch failed. Pending if nothing is known: a retry would pass for a first request and be served twice.
 */
async function recoverAnswer(
  ctx: Scope,
  { request, lease, caller }: Asked,
  success: Success,
  result: Settled,
): Promise<{ result: SettleResult; isStored: boolean }> {
  const { settlement, previousAnsweredBy } = success;
  const known = await findRecord(ctx, request).catch(() => null);
  // An equal fence means that this call stored the answer and only the database's reply was lost. Otherwise another call took over the
  // lease and was first.
  if (known?.fence === lease.fence && known.status !== null) return { result, isStored: true };
  const stored = known && (await replayRecord(ctx, known, request).catch(() => null));
  if (stored) return { result: { ...result, answer: stored, consumedUnits: 0 }, isStored: true };
  const answeredBy = await findAnsweredBy(ctx.db, settlement).catch(() => null);
  const isAnothers = answeredBy !== null && answeredBy !== previousAnsweredBy && answeredBy !== caller;
  const pending = { kind: 'pending' as const, txSignature: settlement.txSignature };
  return { result: isAnothers ? await answerDuplicate(ctx, success) : pending, isStored: false };
}
