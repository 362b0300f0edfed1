import type { Address } from '@solana/kit';
import { base64 } from '#core/encoding.ts';
import { ApiError, raise } from '#core/errors.ts';
import { scheduleAuthorization } from '#features/authorizations/authorization.ts';
import { findAuthorizationFor } from '#features/authorizations/store.ts';
import { beginSubscribing } from '#features/checkout/subscribing/agree.ts';
import { invalid } from '#features/products/terms.ts';
import { PLENTY } from '#platform/chain/accounts/accounts.ts';
import { decodeSigned, instructionsOf } from '#platform/chain/simulated-blocks.ts';
import type { Scope } from '#platform/context.ts';
import { commit, isAborted } from '#platform/db/commit.ts';
import { type StoreAnswer, withAnswer } from '#platform/db/once.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { parseSubscriptionInstruction, type SubscriptionInstruction } from '#solana/programs/subscriptions/parse-instruction.ts';
import { SUBSCRIPTIONS_PROGRAM } from '#solana/programs/subscriptions/subscription.ts';
import type { Instruction } from '#solana/transaction.ts';
import type { TestOutcome, TestPayment } from './outcomes.ts';
import { planSignature, planVouchedSignature, simulatedChainOf, type TestWallet } from './wallet.ts';

interface Subscribe {
  outcome: TestOutcome;
  /** Null: the wallet that the checkout names. */
  wallet: TestWallet | null;
}

const SIGNED_MAX = 4;

/**
 * Signs all remaining transactions of a checkout's subscription and returns the last one. The first period is collected on confirm or by
 * the next sweep. `underpaid` leaves half of the price in the wallet.
 * Throws 422 for `overpaid` or a wallet other than the checkout's, 409 state_conflict if nothing is left to sign.
 */
export async function subscribeAs(
  scope: Scope,
  payment: Payment,
  { outcome, wallet }: Subscribe,
  storeAnswer: StoreAnswer<TestPayment>,
): Promise<TestPayment> {
  if (outcome === 'overpaid') throw invalid('outcome', 'Not allowed for a subscription, which is collected at its price', 'not_taken');
  const authorization = (await findAuthorizationFor(scope.db, payment.id)) ?? raise('not_found');
  if (wallet !== null && wallet.address !== authorization.subscriberWallet)
    throw new ApiError('payment_mismatch', { meta: { reason: 'not_a_signer', wallet: wallet.address } });
  await leaveInWallet(scope, authorization, outcome === 'underpaid' ? authorization.amount / 2n : PLENTY);
  for (let signed = 0; signed < SIGNED_MAX; signed++) {
    const { steps, problem } = await beginSubscribing(scope, payment, authorization);
    const transaction = steps[0]?.transaction;
    if (problem !== null || !transaction) throw nothingToSign(problem);
    const { txSignature, writes } = await sign(scope, wallet, transaction);
    const result: TestPayment = { field: 'tx_signature', value: txSignature, payer: authorization.subscriberWallet };
    const isLast = steps.length === 1;
    const soon = { nextAttemptAt: null, nextCheckAt: scope.now };
    const change = { events: [], writes: isLast ? [...writes, scheduleAuthorization(scope.db, authorization, soon)] : writes, result };
    try {
      await commit(scope, isLast ? await withAnswer(change, storeAnswer(result)) : change);
      if (isLast) return result;
    } catch (error) {
      // The wallet signed something else concurrently. The next round reads what is left.
      if (!isAborted(error)) throw error;
    }
  }
  throw new ApiError('state_conflict', { detail: 'Too many concurrent changes. Retry.', meta: { reason: 'contended' } });
}

const nothingToSign = (problem: string | null): ApiError =>
  problem === null
    ? new ApiError('state_conflict', { detail: 'Nothing is left to sign. Confirm the payment.', meta: { reason: 'subscribed' } })
    : new ApiError('payment_mismatch', { detail: 'The network refuses the next step.', meta: { reason: 'transaction_rejected' } });

async function sign(scope: Scope, wallet: TestWallet | null, transaction: string) {
  const signed = await (wallet === null ? planVouchedSignature(scope, transaction) : planSignature(scope, wallet, transaction));
  if (signed.txSignature === null) throw nothingToSign('refused');
  return signed;
}

/** Sets the subscriber's balance in a batch of its own, because the transactions signed next change the same account. */
export async function leaveInWallet(
  scope: Scope,
  { subscriberWallet, mint }: Pick<AuthorizationRow, 'subscriberWallet' | 'mint'>,
  amount: bigint,
): Promise<void> {
  const writes = await simulatedChainOf(scope).ledger.planHolding(subscriberWallet, mint, amount);
  await commit(scope, { events: [], writes, result: undefined });
}

type Name = SubscriptionInstruction['name'];
const OF_OWNERS: readonly Name[] = ['createPlan', 'updatePlan', 'deletePlan'];
const OF_BUYERS: readonly Name[] = ['initAuthority', 'subscribe', 'resume', 'cancel', 'revoke', 'revokeAuthority', 'closeAuthority'];

export const publishesPlan = (transaction: string): boolean => isOnly(transaction, OF_OWNERS);

/** True if the transaction contains only instructions of a subscriber, apart from opening a token account. */
export const isConsent = (transaction: string): boolean => isOnly(transaction, OF_BUYERS);

function isOnly(transaction: string, names: readonly Name[]): boolean {
  const decoded = decodeSigned(base64.decode(transaction));
  const named = decoded ? instructionsOf(decoded.message).filter(({ programId }) => programId === SUBSCRIPTIONS_PROGRAM) : [];
  return named.length > 0 && named.every((instruction) => names.some((name) => name === nameOf(instruction)));
}

function nameOf({ accounts, data }: Instruction): Name | null {
  const parsed = parseSubscriptionInstruction({ accounts: accounts.map((account) => account as Address), data });
  return parsed.ok ? parsed.value.name : null;
}
