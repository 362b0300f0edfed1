import { type Actor, type Ctx, hasX402 } from '../context.ts';
import type { AccountId } from '../core/ids.ts';
import { commit } from '../db/commit.ts';
import {
  type PaymentPayload,
  type PaymentRequirements,
  parsePaymentPayload,
  parseRequirements,
  type SettleResponse,
  type VerifyResponse,
  X402_VERSION,
} from '../x402/wire.ts';
import { forgetOpened, isContested, noteOpened } from './contest.ts';
import { type Cause, CLAIM_LEASE_MS, draftPayment, type Read, readPayload } from './draft.ts';
import { feePayersOf } from './fee-payer.ts';
import { notReady } from './offer.ts';
import { claimOnce, type Outcome, outcomeOf, pursue } from './settlement.ts';
import { findSettlement, isPayoutWallet, postponeSettlement, type Settlement } from './store.ts';

/**
 * The facilitator of a merchant's own x402 server, which sells by itself: we verify, pay the network, broadcast and confirm,
 * and keep no books. The words are the reference's; what is refused is an answer. (contract section 6 "Facilitator")
 */
export interface FacilitatorCall {
  x402Version: number;
  paymentPayload: unknown;
  paymentRequirements: unknown;
}

/** Kinds of payment we take, and who pays the network for them; none where x402 is not set up. */
export function supportedKinds({ config }: Ctx) {
  if (!hasX402(config)) return { kinds: [], extensions: [], signers: {} };
  const { current, addresses } = feePayersOf(config);
  const kind = { x402Version: X402_VERSION, scheme: 'exact', network: config.network.caip2, extra: { feePayer: current } };
  return { kinds: [kind], extensions: [], signers: { 'solana:*': [...addresses] } };
}

/**
 * Would it be paid? A payment that was settled is refused here, so that a server that verifies first never serves twice for
 * it; one whose outcome is open passes, because its buyer comes back for what he paid. 409 setup_not_ready, 503 rpc_unavailable.
 */
export async function verifyFacilitated(ctx: Ctx, actor: Actor, call: FacilitatorCall): Promise<VerifyResponse> {
  const judged = await judge(ctx, actor, call);
  if (!judged.ok) return { isValid: false, invalidReason: judged.reason, ...(judged.payer ? { payer: judged.payer } : {}) };
  const { verified } = judged.read;
  const { payer } = verified;
  const known = await findSettlement(ctx.db, verified.messageHash);
  if (known) {
    const isOpen = isTheirs(known, actor) && known.status === 'pending' && !isAtWork(ctx, known);
    if (!isOpen) return { isValid: false, invalidReason: 'duplicate_settlement', payer };
  } else {
    const drafted = await draftPayment(ctx, verified, causeOf(actor, judged.requirements));
    if (!drafted.ok) return { isValid: false, invalidReason: drafted.reason, payer };
  }
  noteOpened(ctx, verified.messageHash);
  return { isValid: true, payer };
}

/**
 * Settles a payment once: the message is the key, whatever else the call says. Again, it gives the first answer; but while
 * another call is at it, or where several requests opened with it, `duplicate_settlement`, as the reference does: a payment sent
 * many times at once is served once.
 */
export async function settleFacilitated(ctx: Ctx, actor: Actor, call: FacilitatorCall): Promise<SettleResponse> {
  const network = ctx.config.network.caip2;
  const refuse = (errorReason: string, payer?: string, transaction = ''): SettleResponse => ({
    success: false,
    errorReason,
    ...(payer === undefined ? {} : { payer }),
    transaction,
    network,
  });
  const judged = await judge(ctx, actor, call);
  if (!judged.ok) return refuse(judged.reason, judged.payer);
  const { verified } = judged.read;
  const known = await findSettlement(ctx.db, verified.messageHash);
  if (known) {
    if (!isTheirs(known, actor)) return refuse('duplicate_settlement', verified.payer);
    const duplicate = refuse('duplicate_settlement', verified.payer, known.txSignature);
    if (isAtWork(ctx, known)) return duplicate;
    const outcome = known.status === 'pending' ? await see(ctx, known, false) : await outcomeOf(ctx, known.paymentId);
    return outcome.status === 'settled' && isContested(ctx, verified.messageHash) ? duplicate : answer(network, known, outcome);
  }
  const drafted = await draftPayment(ctx, verified, causeOf(actor, judged.requirements));
  if (!drafted.ok) return refuse(drafted.reason, verified.payer);
  const { settlement, isNew } = await claimOnce(ctx, drafted.settlement);
  if (!isNew) return refuse('duplicate_settlement', verified.payer, isTheirs(settlement, actor) ? settlement.txSignature : '');
  return answer(network, settlement, await see(ctx, settlement, true));
}

type Judged = { ok: true; read: Read & { ok: true }; requirements: PaymentRequirements } | { ok: false; reason: string; payer?: string };

/** Is it a payment to this merchant, in our money, on our network, that we could co-sign without being drained? */
async function judge(ctx: Ctx, actor: Actor, call: FacilitatorCall): Promise<Judged> {
  if (!actor.livemode) throw notReady('sandbox');
  if (!hasX402(ctx.config)) throw notReady('rail_unavailable');
  if (call.x402Version !== X402_VERSION) return { ok: false, reason: 'invalid_x402_version' };
  const payload = parsePaymentPayload(call.paymentPayload);
  if (!payload.ok) return payload;
  const requirements = parseRequirements(call.paymentRequirements);
  if (!requirements.ok) return requirements;
  const mismatch = await mismatchOf(ctx, actor, payload.value, requirements.value);
  if (mismatch) return { ok: false, reason: mismatch };
  const read = await readPayload(ctx, payload.value, requirements.value);
  return read.ok ? { ok: true, read, requirements: requirements.value } : read;
}

async function mismatchOf(ctx: Ctx, actor: Actor, payload: PaymentPayload, asked: PaymentRequirements): Promise<string | null> {
  if (asked.scheme !== 'exact' || payload.accepted.scheme !== 'exact') return 'invalid_exact_svm_unsupported_scheme';
  if (asked.network !== ctx.config.network.caip2) return 'invalid_network';
  if (payload.accepted.network !== asked.network) return 'invalid_exact_svm_network_mismatch';
  // We pay the network for this merchant's sales, not for whatever his key is used for.
  return (await isPayoutWallet(ctx.db, actor.accountId as AccountId, asked.payTo)) ? null : 'invalid_payment_requirements';
}

const isTheirs = ({ purpose, merchantId, livemode }: Settlement, actor: Actor): boolean =>
  purpose === 'facilitator' && merchantId === actor.accountId && livemode === actor.livemode;

/** A claim whose own call is still at it: nobody has moved its next look yet, and it has not died. */
const isAtWork = ({ now }: Ctx, { status, nextCheckAt, createdAt }: Settlement): boolean =>
  status === 'pending' && nextCheckAt !== null && nextCheckAt === createdAt + CLAIM_LEASE_MS && now < nextCheckAt;

const causeOf = (actor: Actor, { payTo }: PaymentRequirements): Cause => ({
  merchantId: actor.accountId as AccountId,
  livemode: actor.livemode,
  purpose: 'facilitator',
  productId: null,
  setupIntentId: null,
  customerRef: null,
  customerWallet: null,
  recipientWallet: payTo,
  nonce: '',
  terms: { productName: '', slug: '', merchantName: '', accessPeriodDays: null, usageUnits: null },
});

async function see(ctx: Ctx, settlement: Settlement, send: boolean): Promise<Outcome> {
  const outcome = await pursue(ctx, settlement, { send, patienceMs: ctx.config.SETTLE_PATIENCE_MS });
  // Given up for now: the server that asks again, and the sweep, may look at once.
  if (outcome.status !== 'pending') return outcome;
  forgetOpened(settlement.messageHash);
  const writes = [postponeSettlement(ctx.db, settlement, ctx.now)];
  await commit(ctx, { events: [], writes, result: null }).catch(() => ctx.note('the claim stays held until its lease ends'));
  return outcome;
}

/** From facts that no longer change: the first answer and every later one are equal. */
function answer(network: string, { payerWallet: payer, txSignature: transaction, amount }: Settlement, outcome: Outcome): SettleResponse {
  if (outcome.status === 'settled') return { success: true, payer, transaction, network, amount: amount.toString() };
  const errorReason = outcome.status === 'pending' ? 'settlement_pending' : 'invalid_exact_svm_transaction_failed';
  return { success: false, errorReason, payer, transaction, network };
}
