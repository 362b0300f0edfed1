import type { Address } from '@solana/kit';
import { SUBSCRIPTION_ERRORS } from '#solana/programs/subscriptions/errors.ts';
import type { SubscriptionInstruction } from '#solana/programs/subscriptions/parse-instruction.ts';
import {
  cancellationEnd,
  encodeSubscription,
  type Subscription,
  type SubscriptionPlan,
  sameTerms,
} from '#solana/programs/subscriptions/subscription.ts';
import type { ProgramCall } from '../program-call.ts';
import { fail } from '../program-failure.ts';
import {
  emit,
  hasEnded,
  isOurs,
  loadAuthority,
  loadPlan,
  loadSubscription,
  requireAuthority,
  requireOurs,
  requireSigner,
  requireWritable,
  resolveReceiver,
} from './checks.ts';

type Cancel = Extract<SubscriptionInstruction, { name: 'cancel' }>;
type Resume = Extract<SubscriptionInstruction, { name: 'resume' }>;
type Revoke = Extract<SubscriptionInstruction, { name: 'revoke' }>;

/** Ends a subscription with the period that is running, or at once where its plan is gone or another one. */
export function cancel(call: ProgramCall, { accounts }: Cancel): void {
  const subscription = loadOwn(call, accounts);
  if (subscription.subscriber !== accounts.subscriber) fail(SUBSCRIPTION_ERRORS.unauthorized);
  if (subscription.expiresAtTs !== 0n) fail(SUBSCRIPTION_ERRORS.subscriptionAlreadyCancelled);
  if (subscription.plan !== accounts.plan) fail(SUBSCRIPTION_ERRORS.subscriptionPlanMismatch);
  const expiresAtTs = cancellationEnd(subscription, findPlan(call, subscription), call.now);
  call.write(accounts.subscription, encodeSubscription({ ...subscription, expiresAtTs }));
  emit(call, accounts, 'cancelled', [accounts.plan, accounts.subscriber, expiresAtTs]);
}

/** Takes a cancellation back while the period lasts, under the authority of then. */
export function resume(call: ProgramCall, { accounts }: Resume): void {
  const { subscriber } = accounts;
  const subscription = loadOwn(call, accounts, () => loadAuthority(call, accounts.authority));
  if (subscription.subscriber !== subscriber) fail(SUBSCRIPTION_ERRORS.unauthorized);
  if (subscription.plan !== accounts.plan) fail(SUBSCRIPTION_ERRORS.subscriptionPlanMismatch);
  if (subscription.expiresAtTs === 0n) fail(SUBSCRIPTION_ERRORS.subscriptionNotCancelled);
  if (!isOurs(call.read(accounts.plan))) fail(SUBSCRIPTION_ERRORS.planClosed);
  const plan = loadPlan(call, accounts.plan);
  if (hasEnded(plan, call.now)) fail(SUBSCRIPTION_ERRORS.planExpired);
  if (!sameTerms(subscription, plan)) fail(SUBSCRIPTION_ERRORS.planTermsMismatch);
  requireAuthority(loadAuthority(call, accounts.authority), { user: subscriber, mint: plan.mint, initId: subscription.initId });
  if (subscription.expiresAtTs <= call.now) fail(SUBSCRIPTION_ERRORS.subscriptionCancelled);
  call.write(accounts.subscription, encodeSubscription({ ...subscription, expiresAtTs: 0n }));
  emit(call, accounts, 'resumed', [accounts.plan, subscriber, call.now]);
}

/** Closes a subscription that is over: by the subscriber, or by who paid its rent where nothing can be collected any more. */
export function revoke(call: ProgramCall, { accounts, payer }: Revoke): void {
  const { signer } = accounts;
  requireSigner(call, signer);
  requireWritable(call, signer, accounts.subscription);
  requireOurs(call, accounts.subscription);
  const subscription = loadSubscription(call, accounts.subscription);
  if (subscription.plan !== accounts.plan) fail(SUBSCRIPTION_ERRORS.subscriptionPlanMismatch);
  const isOver = subscription.expiresAtTs !== 0n && subscription.expiresAtTs <= call.now;
  if (signer === subscription.subscriber) {
    if (!isOver) fail(SUBSCRIPTION_ERRORS.subscriptionNotCancelled);
  } else {
    if (signer !== subscription.payer) fail(SUBSCRIPTION_ERRORS.unauthorized);
    const plan = findPlan(call, subscription);
    if (!isOver && plan !== null && !hasEnded(plan, call.now)) fail(SUBSCRIPTION_ERRORS.unauthorized);
  }
  call.close(accounts.subscription, resolveReceiver(call, signer, subscription.payer, payer));
}

/** The subscription an instruction is about; `checkAlso` is what the program looks at before it reads it. */
function loadOwn(
  call: ProgramCall,
  { subscriber, subscription }: { subscriber: Address; subscription: Address },
  checkAlso: () => void = () => {},
): Subscription {
  requireSigner(call, subscriber);
  requireOurs(call, subscription);
  requireWritable(call, subscription);
  checkAlso();
  return loadSubscription(call, subscription);
}

/** The plan a subscription agreed to; null where it is gone, or another one stands in its place. */
function findPlan(call: ProgramCall, subscription: Subscription): SubscriptionPlan | null {
  if (!isOurs(call.read(subscription.plan))) return null;
  const plan = loadPlan(call, subscription.plan);
  return sameTerms(subscription, plan) ? plan : null;
}
