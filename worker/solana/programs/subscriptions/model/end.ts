import type { Address } from '@solana/kit';
import { failProgram } from '../../program-failure.ts';
import type { ProgramRun } from '../../program-run.ts';
import { SUBSCRIPTION_ERRORS } from '../errors.ts';
import type { SubscriptionInstruction } from '../parse-instruction.ts';
import { cancellationEnd, encodeSubscription, type Subscription, type SubscriptionPlan, sameTerms } from '../subscription.ts';
import {
  emit,
  hasEnded,
  isOfProgram,
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

/** Ends a subscription with the current period, or at once if its plan was deleted or replaced. */
export function cancel(run: ProgramRun, { accounts }: Cancel): void {
  const subscription = loadOwn(run, accounts);
  if (subscription.subscriber !== accounts.subscriber) failProgram(SUBSCRIPTION_ERRORS.unauthorized);
  if (subscription.expiresAtTs !== 0n) failProgram(SUBSCRIPTION_ERRORS.subscriptionAlreadyCancelled);
  if (subscription.plan !== accounts.plan) failProgram(SUBSCRIPTION_ERRORS.subscriptionPlanMismatch);
  const expiresAtTs = cancellationEnd(subscription, findPlan(run, subscription), run.now);
  run.write(accounts.subscription, encodeSubscription({ ...subscription, expiresAtTs }));
  emit(run, accounts, 'cancelled', [accounts.plan, accounts.subscriber, expiresAtTs]);
}

/** Undoes a cancellation within the period, under the original authority. */
export function resume(run: ProgramRun, { accounts }: Resume): void {
  const { subscriber } = accounts;
  const subscription = loadOwn(run, accounts, () => loadAuthority(run, accounts.authority));
  if (subscription.subscriber !== subscriber) failProgram(SUBSCRIPTION_ERRORS.unauthorized);
  if (subscription.plan !== accounts.plan) failProgram(SUBSCRIPTION_ERRORS.subscriptionPlanMismatch);
  if (subscription.expiresAtTs === 0n) failProgram(SUBSCRIPTION_ERRORS.subscriptionNotCancelled);
  if (!isOfProgram(run.read(accounts.plan))) failProgram(SUBSCRIPTION_ERRORS.planClosed);
  const plan = loadPlan(run, accounts.plan);
  if (hasEnded(plan, run.now)) failProgram(SUBSCRIPTION_ERRORS.planExpired);
  if (!sameTerms(subscription, plan)) failProgram(SUBSCRIPTION_ERRORS.planTermsMismatch);
  requireAuthority(loadAuthority(run, accounts.authority), { user: subscriber, mint: plan.mint, initId: subscription.initId });
  if (subscription.expiresAtTs <= run.now) failProgram(SUBSCRIPTION_ERRORS.subscriptionCancelled);
  run.write(accounts.subscription, encodeSubscription({ ...subscription, expiresAtTs: 0n }));
  emit(run, accounts, 'resumed', [accounts.plan, subscriber, run.now]);
}

/** Closes an ended subscription: by the subscriber, or by the rent payer if nothing can be collected. */
export function revoke(run: ProgramRun, { accounts, payer }: Revoke): void {
  const { signer } = accounts;
  requireSigner(run, signer);
  requireWritable(run, signer, accounts.subscription);
  requireOurs(run, accounts.subscription);
  const subscription = loadSubscription(run, accounts.subscription);
  if (subscription.plan !== accounts.plan) failProgram(SUBSCRIPTION_ERRORS.subscriptionPlanMismatch);
  const isOver = subscription.expiresAtTs !== 0n && subscription.expiresAtTs <= run.now;
  if (signer === subscription.subscriber) {
    if (!isOver) failProgram(SUBSCRIPTION_ERRORS.subscriptionNotCancelled);
  } else {
    if (signer !== subscription.payer) failProgram(SUBSCRIPTION_ERRORS.unauthorized);
    const plan = findPlan(run, subscription);
    if (!isOver && plan !== null && !hasEnded(plan, run.now)) failProgram(SUBSCRIPTION_ERRORS.unauthorized);
  }
  run.close(accounts.subscription, resolveReceiver(run, signer, subscription.payer, payer));
}

function loadOwn(
  run: ProgramRun,
  { subscriber, subscription }: { subscriber: Address; subscription: Address },
  checkAlso: () => void = () => {},
): Subscription {
  requireSigner(run, subscriber);
  requireOurs(run, subscription);
  requireWritable(run, subscription);
  checkAlso();
  return loadSubscription(run, subscription);
}

function findPlan(run: ProgramRun, subscription: Subscription): SubscriptionPlan | null {
  if (!isOfProgram(run.read(subscription.plan))) return null;
  const plan = loadPlan(run, subscription.plan);
  return sameTerms(subscription, plan) ? plan : null;
}
