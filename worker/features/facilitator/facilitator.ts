/**
 * Facilitator of a merchant's own x402 server: the service verifies, pays the network fee, broadcasts and confirms, and stores no payment.
 * Field names and reasons follow the x402 reference. A refusal is an answer, not an error.
 * @module
 */

import { ApiError, formatErrorChain } from '#core/errors.ts';
import { type AnswerId, madeAt, newId } from '#core/ids.ts';
import { isPaused } from '#features/accounts/store.ts';
import { newObstacleError } from '#features/products/selling/fixes.ts';
import { isPayoutWallet, listSettings } from '#features/rails/store.ts';
import { newX402NotReady } from '#features/rails/x402.ts';
import {
  draftPayment,
  type PaymentReading,
  readPayload,
  type SettlementDraft,
  type SettlementPurposeFacts,
} from '#features/settlements/co-sign.ts';
import { claimSuccess } from '#features/settlements/finish.ts';
import { claimOnce, followThrough, getOutcome } from '#features/settlements/follow-through.ts';
import { IDENTIFIER_CONFLICT, isIdentifierConflict, isIdentifierTaken } from '#features/settlements/payment-identifier.ts';
import { findSettlement } from '#features/settlements/store.ts';
import { feePayersOf } from '#platform/chain/fee-payer.ts';
import { belongsTo, type Ctx, hasX402, type Scope, type Shard, type Tenant } from '#platform/context.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import { BAZAAR } from '#protocols/x402/bazaar.ts';
import { COMPUTE_CAPS } from '#protocols/x402/exact.ts';
import { PAYMENT_IDENTIFIER } from '#protocols/x402/payment-identifier.ts';
import {
  type PaymentPayload,
  type PaymentRequirements,
  parsePaymentPayload,
  parseRequirements,
  type SettleResponse,
  type VerifyResponse,
  X402_VERSION,
} from '#protocols/x402/wire.ts';
import { settingOf } from '#rules/product-rails.ts';
import { X402_RAIL } from '#rules/rails.ts';

interface FacilitatorCall {
  x402Version: number;
  paymentPayload: unknown;
  paymentRequirements: unknown;
}

export function supportedKinds({ config }: Ctx) {
  if (!hasX402(config)) return { kinds: [], extensions: [], signers: {} };
  const { current, addresses } = feePayersOf(config);
  const extra = { feePayer: current, ...COMPUTE_CAPS };
  const kind = { x402Version: X402_VERSION, scheme: 'exact', network: config.network.caip2, extra };
  return { kinds: [kind], extensions: [BAZAAR, PAYMENT_IDENTIFIER], signers: { 'solana:*': [...addresses] } };
}

/**
 * Runs a dry run of settle: valid if the payment would succeed, or has succeeded without an answered call. A server that verifies first can
 * thus serve a buyer after a crash, and never serves twice. Throws 409 setup_not_ready, 503 rpc_unavailable.
 */
export async function verifyFacilitated(ctx: Scope, call: FacilitatorCall): Promise<VerifyResponse> {
  const judged = await readFacilitatorCall(ctx, call);
  if (!judged.ok) return { isValid: false, invalidReason: judged.reason, ...(judged.payer ? { payer: judged.payer } : {}) };
  const { payer } = judged.read.verified;
  const known = await findSettlement(ctx, judged.read.signed.txSignature);
  const drafted = known ? null : await draftFacilitated(ctx, judged);
  const refusal = known && (refusalOf(known, ctx) ?? (await findLoss(ctx, known)));
  const invalidReason = known ? refusal : drafted && !drafted.ok ? drafted.reason : null;
  return invalidReason === null ? { isValid: true, payer } : { isValid: false, invalidReason, payer };
}

/** `isFirst`: this call got the success of the payment, and no call before it. */
export interface FacilitatedAnswer {
  answer: SettleResponse;
  isFirst: boolean;
}

/**
 * Settles a payment once, keyed by its transaction. One of concurrent calls gets the success, the others `duplicate_settlement` with the
 * signature, so that the buyer of a crashed call is served at the next. A later call of the account gets the first result.
 */
export async function settleFacilitated(ctx: Scope, call: FacilitatorCall): Promise<FacilitatedAnswer> {
  const network = ctx.config.network.caip2;
  const judged = await readFacilitatorCall(ctx, call);
  if (!judged.ok) return newRefusal(network, judged.reason, judged.payer);
  const { payer } = judged.read.verified;
  const known = await findSettlement(ctx, judged.read.signed.txSignature);
  const claimed = known ? { ok: true as const, settlement: known, isNew: false } : await claimFacilitated(ctx, judged);
  if (!claimed.ok) return newRefusal(network, claimed.reason, payer);
  const { settlement, isNew } = claimed;
  const transaction = isTheirs(settlement, ctx) ? settlement.txSignature : '';
  const success = { success: true as const, payer, transaction, network, amount: settlement.amount.toString() };
  if (isAnsweredBefore(settlement, ctx)) return { answer: success, isFirst: false };
  const refusal = refusalOf(settlement, ctx);
  if (refusal !== null) return newRefusal(network, refusal, payer, transaction);
  const outcome = await followThrough(ctx, settlement, { isNew });
  if (outcome.status === 'pending') return newRefusal(network, 'settlement_pending', payer, transaction);
  if (outcome.status === 'failed') return newRefusal(network, FAILED, payer, transaction);
  const taken = await claimForCall(ctx, settlement);
  if (taken !== 'ours') return newRefusal(network, taken === 'theirs' ? 'duplicate_settlement' : 'settlement_pending', payer, transaction);
  return { answer: success, isFirst: true };
}

const FAILED = 'invalid_exact_svm_transaction_failed';

const newRefusal = (network: string, errorReason: string, payer?: string, transaction = ''): FacilitatedAnswer => ({
  answer: { success: false, errorReason, ...(payer === undefined ? {} : { payer }), transaction, network },
  isFirst: false,
});

function refusalOf(settlement: Settlement, tenant: Tenant): string | null {
  if (!isTheirs(settlement, tenant) || settlement.answeredBy !== null) return 'duplicate_settlement';
  return settlement.status === 'failed' ? FAILED : null;
}

const isAnsweredBefore = (settlement: Settlement, { wallNow, ...tenant }: Scope): boolean =>
  isTheirs(settlement, tenant) && settlement.answeredBy !== null && madeAt(settlement.answeredBy) <= wallNow;

async function findLoss(ctx: Shard, { status, paymentId }: Settlement): Promise<string | null> {
  return status === 'settled' && (await getOutcome(ctx, paymentId)).status === 'failed' ? FAILED : null;
}

const CLAIMS_MAX = 3;

/** Claims the success for this call. `unknown` where the database does not answer: then a later call of the same account gets it. */
async function claimForCall(ctx: Shard, settlement: Settlement): Promise<'ours' | 'theirs' | 'unknown'> {
  const call = newId<AnswerId>(ctx.wallNow + ctx.elapsedMs(), settlement.merchantId);
  for (let attempt = 1; attempt <= CLAIMS_MAX; attempt++) {
    try {
      return (await claimSuccess(ctx.db, settlement, call)) === call ? 'ours' : 'theirs';
    } catch (error) {
      ctx.note(`success not claimed: ${formatErrorChain(error)}`);
    }
  }
  return 'unknown';
}

type FacilitatorReading =
  | { ok: true; read: PaymentReading & { ok: true }; requirements: PaymentRequirements }
  | { ok: false; reason: string; payer?: string };

/**
 * Reads a call: a USDC payment to this merchant on this network that can be co-signed at a bounded cost. Returns the x402 reason otherwise.
 * Throws 409 setup_not_ready.
 */
async function readFacilitatorCall(ctx: Scope, call: FacilitatorCall): Promise<FacilitatorReading> {
  if (!ctx.livemode) throw newX402NotReady('sandbox');
  if (!hasX402(ctx.config)) throw newX402NotReady('rail_unavailable');
  if (call.x402Version !== X402_VERSION) return { ok: false, reason: 'invalid_x402_version' };
  const payload = parsePaymentPayload(call.paymentPayload);
  if (!payload.ok) return payload;
  const requirements = parseRequirements(call.paymentRequirements);
  if (!requirements.ok) return requirements;
  const mismatch = await findMismatch(ctx, payload.value, requirements.value);
  if (mismatch) return { ok: false, reason: mismatch };
  const read = await readPayload(ctx, payload.value, requirements.value);
  return read.ok ? { ok: true, read, requirements: requirements.value } : read;
}

async function findMismatch(ctx: Scope, payload: PaymentPayload, asked: PaymentRequirements): Promise<string | null> {
  if (asked.scheme !== 'exact' || payload.accepted.scheme !== 'exact') return 'invalid_exact_svm_unsupported_scheme';
  if (asked.network !== ctx.config.network.caip2) return 'invalid_network';
  if (payload.accepted.network !== asked.network) return 'invalid_exact_svm_network_mismatch';
  // The service pays the network only for this merchant's own sales, not for any use of the key.
  return (await isPayoutWallet(ctx.db, ctx.merchantId, asked.payTo)) ? null : 'invalid_payment_requirements';
}

const isTheirs = (settlement: Settlement, tenant: Tenant): boolean => settlement.purpose === 'facilitator' && belongsTo(tenant, settlement);

async function draftFacilitated(ctx: Scope, { read, requirements }: FacilitatorReading & { ok: true }): Promise<SettlementDraft> {
  const [isOff, settings] = await Promise.all([isPaused(ctx.db, ctx.merchantId), listSettings(ctx)]);
  const setting = settingOf(settings, X402_RAIL);
  const obstacle = isOff ? 'paused' : setting?.enabled === false ? 'rail_enabled' : null;
  if (obstacle) throw newObstacleError(obstacle, X402_RAIL, { product: null, setting, accountWallet: null });
  if (await isIdentifierTaken(ctx, read, { purpose: 'facilitator', productId: null })) return { ok: false, reason: IDENTIFIER_CONFLICT };
  return orDuplicate(() => draftPayment(ctx, read, purposeFactsOf(ctx, requirements)));
}

async function claimFacilitated(ctx: Scope, judged: FacilitatorReading & { ok: true }) {
  const drafted = await draftFacilitated(ctx, judged);
  return drafted.ok ? orDuplicate(async () => ({ ok: true as const, ...(await claimOnce(ctx, drafted.settlement)) })) : drafted;
}

/** Turns 409 duplicate_settlement, and that of an identifier, into a refusal, which is an answer here. */
async function orDuplicate<T>(attempt: () => Promise<T>): Promise<T | { ok: false; reason: string }> {
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof ApiError && error.code === 'duplicate_settlement') return { ok: false, reason: error.code };
    if (isIdentifierConflict(error)) return { ok: false, reason: IDENTIFIER_CONFLICT };
    throw error;
  }
}

const purposeFactsOf = ({ merchantId, livemode }: Tenant, { payTo }: PaymentRequirements): SettlementPurposeFacts => ({
  merchantId,
  livemode,
  purpose: 'facilitator',
  productId: null,
  setupIntentId: null,
  customerRef: null,
  customerWallet: null,
  recipientWallet: payTo,
  nonce: '',
  terms: { productName: '', slug: '', merchantName: '', accessPeriodDays: null, usageUnits: null },
});
