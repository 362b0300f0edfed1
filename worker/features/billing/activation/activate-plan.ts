import { ApiError } from '#core/errors.ts';
import type { AccountId, SetupIntentId } from '#core/ids.ts';
import { isoOrNull } from '#core/time.ts';
import { planTitle } from '#features/plans/buy-plan.ts';
import { getActivation } from '#features/plans/store.ts';
import { makeChallenge, readChallenge } from '#features/settlements/challenge.ts';
import { draftPayment, type PaymentReading, readPayment, type SettlementDraft } from '#features/settlements/co-sign.ts';
import { claimOnce, followThrough, type SettlementOutcome } from '#features/settlements/follow-through.ts';
import { isIdentifierTaken, newIdentifierConflict } from '#features/settlements/payment-identifier.ts';
import { newProof, paymentResponse, receiptKeyIdOf, settledBy } from '#features/settlements/proofs.ts';
import { findSettlement } from '#features/settlements/store.ts';
import { type Actor, type Ctx, hasX402, type Scope, type Shard } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import type { Activation } from '#platform/db/tables/plans.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import { describeEmptyPost } from '#protocols/x402/bazaar.ts';
import { encodeHeader, type PaymentRequired } from '#protocols/x402/wire.ts';
import { type HeldPlan, type PaidPlan, PLAN_DAYS, planPrice } from '#rules/plans.ts';
import { requireForSale, requireTimeLeft, requireWithinLimits, treasuryNotReady } from './preconditions.ts';
import { abortIfOverspending, abortIfSetupEnded, isSignatureTaken } from './store.ts';

interface ActivatePlan {
  plan: PaidPlan;
  paymentSignature: string | null;
  setupIntentId: SetupIntentId | null;
}

type ActivationResult =
  | {
      kind: 'activated';
      body: { plan: string; paid_through: string | null; account_id: string; receipt_id: string };
      paymentResponse: string;
    }
  | { kind: 'pending'; txSignature: string }
  | PlanChallenge;

/** `result`: the plans that the account would hold after paying now. */
export type PlanChallenge = {
  kind: 'required';
  required: PaymentRequired;
  header: string;
  reason: string | null;
  paymentResponse: string | null;
  result: HeldPlan;
};

/**
 * Buys 30 days of a plan, once per payment, with the settlement of a sale paid to the service. The same payment repeats the first answer.
 * Throws 403 spend_limit_exceeded, 409 setup_not_ready, state_conflict (a higher plan runs), duplicate_settlement, idempotency_conflict
 * (payment identifier), 503 rpc_unavailable. In the sandbox a test wallet pays and the plan does not change.
 */
export async function activatePlan(ctx: Scope, actor: Actor, given: ActivatePlan): Promise<ActivationResult> {
  // Real payments alone extend a setup, and its limits apply to real money.
  const input = ctx.livemode ? given : { ...given, setupIntentId: null };
  const payTo = requireTreasury(ctx);
  const accountId = actor.accountId;
  const read = input.paymentSignature === null ? null : await readPayment(ctx, input.paymentSignature);
  const known = read?.ok ? await findSettlement(ctx, read.signed.txSignature) : undefined;
  if (known) {
    requireSamePlan(ctx, known, input.plan);
    return answerActivation(ctx, payTo, known, await followThrough(ctx, known, { isNew: false }), input);
  }
  if (read?.ok && (await isIdentifierTaken(ctx, read, { purpose: 'activation', productId: null }))) throw newIdentifierConflict();
  const asked = { payTo, accountId, plan: input.plan, result: await requireForSale(ctx, payTo, accountId, input) };
  if (!read) return makePlanChallenge(ctx, asked, null);
  if (!read.ok) return makePlanChallenge(ctx, asked, read.reason);
  const drafted = await draftActivation(ctx, accountId, input, read);
  if (!drafted.ok) return makePlanChallenge(ctx, asked, drafted.reason);
  const { settlement, isNew } = await claimActivation(ctx, drafted.settlement);
  requireSamePlan(ctx, settlement, input.plan);
  return answerActivation(ctx, payTo, settlement, await followThrough(ctx, settlement, { isNew }), input);
}

function requireTreasury({ config }: Ctx): string {
  if (!hasX402(config) || config.TREASURY_WALLET === undefined) throw treasuryNotReady('treasury_wallet_set');
  return config.TREASURY_WALLET;
}

/** Binds a payment to one plan of one account, for ever. */
function requireSamePlan(ctx: Scope, settlement: Settlement, plan: PaidPlan): void {
  const { purpose, merchantId, livemode, terms } = settlement;
  if (purpose !== 'activation' || merchantId !== ctx.merchantId || livemode !== ctx.livemode || terms.plan !== plan)
    throw new ApiError('duplicate_settlement');
}

async function claimActivation(ctx: Shard, settlement: Settlement): Promise<{ settlement: Settlement; isNew: boolean }> {
  const entry = recordAction(ctx, settlement, {
    action: 'billing.plan_bought',
    subject: { type: 'account', id: settlement.merchantId },
    after: { plan: settlement.terms.plan, payment_id: settlement.paymentId },
  });
  try {
    return await claimOnce(ctx, settlement, [abortIfSetupEnded(ctx, settlement), ...abortIfOverspending(ctx, settlement), entry]);
  } catch (error) {
    const { setupIntentId, terms } = settlement;
    // The claim was refused without a stored settlement: the setup ended, concurrent claims used the day's budget, or the signature is
    // taken.
    const isBusy = error instanceof ApiError && error.options.meta?.reason === 'payer_busy';
    const isRefused = isBusy || (error instanceof ApiError && error.code === 'duplicate_settlement');
    if (!isRefused || (await isSignatureTaken(ctx.db, settlement))) throw error;
    if (setupIntentId) {
      await requireTimeLeft(ctx, setupIntentId);
      await requireWithinLimits(ctx, setupIntentId, terms.plan as PaidPlan);
    }
    if (isBusy) throw error;
    throw new ApiError('temporarily_unavailable', { retryAfterSeconds: 1 });
  }
}

async function draftActivation(
  ctx: Scope,
  accountId: AccountId,
  input: ActivatePlan,
  read: PaymentReading & { ok: true },
): Promise<SettlementDraft> {
  const { plan, setupIntentId } = input;
  const sold = { livemode: ctx.livemode, merchantId: accountId, productId: `plan:${plan}` };
  const challenge = readChallenge({ keys: ctx.config.CHALLENGE_KEYS!, now: ctx.now }, read.accepted, sold);
  if (!challenge.ok) {
    ctx.note(challenge.note);
    return challenge;
  }
  return draftPayment(ctx, read, {
    merchantId: accountId,
    livemode: ctx.livemode,
    purpose: 'activation',
    productId: null,
    setupIntentId,
    customerRef: null,
    customerWallet: null,
    recipientWallet: challenge.payTo,
    nonce: challenge.nonce,
    terms: {
      productName: planTitle(plan),
      slug: '',
      merchantName: 'svc',
      accessPeriodDays: PLAN_DAYS,
      usageUnits: null,
      plan,
      receiptKeyId: receiptKeyIdOf(ctx),
    },
  });
}

/** Builds the answer from immutable facts, so that a replay is equal to the last byte. */
async function answerActivation(
  ctx: Scope,
  payTo: string,
  settlement: Settlement,
  outcome: SettlementOutcome,
  input: ActivatePlan,
): Promise<ActivationResult> {
  const { txSignature: transaction, payerWallet: payer, merchantId } = settlement;
  const network = ctx.config.network.caip2;
  if (outcome.status === 'pending') return { kind: 'pending', txSignature: transaction };
  if (outcome.status === 'failed') {
    ctx.note(`settlement: ${outcome.reason}`);
    const errorReason = 'invalid_exact_svm_transaction_failed';
    const paymentResponse = encodeHeader({ success: false, errorReason, payer, transaction, network });
    const result = await requireForSale(ctx, payTo, merchantId, input);
    return { ...makePlanChallenge(ctx, { payTo, accountId: merchantId, plan: input.plan, result }, errorReason), paymentResponse };
  }
  const newest = newProof(ctx, resourceUrlOf(ctx, input.plan), outcome.settledAt);
  const proof = { ...newest, keyId: settlement.terms.receiptKeyId ?? newest.keyId };
  const body = bodyOf(await getActivation(ctx.db, settlement.paymentId));
  return { kind: 'activated', body, paymentResponse: paymentResponse(ctx, settledBy(ctx, settlement), proof) };
}

const bodyOf = ({ resultingPlan, paidThrough, accountId, receiptId }: Activation) => ({
  plan: resultingPlan,
  paid_through: isoOrNull(paidThrough),
  account_id: accountId,
  receipt_id: receiptId,
});

const resourceUrlOf = ({ baseUrl }: Ctx, plan: PaidPlan): string => `${baseUrl}/v1/access/x402/activate/${plan}`;

interface PlanChallengeFacts {
  payTo: string;
  accountId: AccountId;
  plan: PaidPlan;
  result: HeldPlan;
}

function makePlanChallenge(ctx: Scope, { payTo, accountId, plan, result }: PlanChallengeFacts, reason: string | null): PlanChallenge {
  const sold = {
    livemode: ctx.livemode,
    merchantId: accountId,
    productId: `plan:${plan}`,
    amount: planPrice(plan).toString(),
    payTo,
    quantity: 1,
    units: 1,
    days: null,
  };
  const url = resourceUrlOf(ctx, plan);
  const resource = { url, description: planTitle(plan), mimeType: 'application/json' };
  const challenge = makeChallenge(ctx, sold, resource, { error: reason ?? undefined, bazaar: describeEmptyPost() });
  return { kind: 'required', ...challenge, reason, paymentResponse: null, result };
}
