import { createNoopSigner } from '@solana/kit';
import { getTransferCheckedInstruction } from '@solana-program/token';
import { SUBSCRIPTION_ERRORS } from '#solana/programs/subscriptions/errors.ts';
import type { SubscriptionInstruction } from '#solana/programs/subscriptions/parse-instruction.ts';
import {
  encodeSubscription,
  type Period,
  periodAt,
  type Subscription,
  type SubscriptionPlan,
  sameTerms,
} from '#solana/programs/subscriptions/subscription.ts';
import { readHolding } from '../../tokens.ts';
import type { ProgramCall } from '../program-call.ts';
import { fail } from '../program-failure.ts';
import {
  emit,
  hasEnded,
  isOurs,
  loadAuthority,
  loadPlan,
  loadSubscription,
  requireHolding,
  requireMint,
  requireOurs,
  requireSigner,
  requireTokenAccount,
  requireTokenProgram,
  requireWritable,
} from './checks.ts';

type Collect = Extract<SubscriptionInstruction, { name: 'collect' }>;

/** Collects an amount of the current period by the authority's signature, where nothing was changed since the consent. */
export function collect(call: ProgramCall, instruction: Collect): void {
  const { accounts, amount, subscriber, mint } = instruction;
  const { authority, decimals } = checkAccounts(call, instruction);
  const plan = loadPlan(call, accounts.plan);
  const receiver = checkPlan(call, instruction, plan);
  const subscription = loadSubscription(call, accounts.subscription);
  checkSubscription(call, instruction, subscription, plan);
  const period = checkAllowance(call, subscription, plan, amount);
  const amountPulledInPeriod = period.amountPulled + amount;
  const moved = { ...subscription, amountPulledInPeriod, currentPeriodStartTs: period.startTs };
  call.write(accounts.subscription, encodeSubscription(moved));

  if (accounts.mint !== mint) fail(SUBSCRIPTION_ERRORS.mintMismatch);
  if (authority.user !== subscriber || authority.mint !== mint) fail(SUBSCRIPTION_ERRORS.invalidDelegatePda);
  if (authority.initId !== subscription.initId) fail(SUBSCRIPTION_ERRORS.staleSubscriptionAuthority);
  requireHolding(call, accounts.subscriberTokenAccount, { owner: subscriber, mint });
  if (receiver.mint !== mint) fail(SUBSCRIPTION_ERRORS.mintMismatch);
  const { subscriberTokenAccount: source, receiverTokenAccount: destination } = accounts;
  const transfer = { source, mint, destination, authority: createNoopSigner(accounts.authority), amount, decimals };
  call.invoke(getTransferCheckedInstruction(transfer), [accounts.authority]);
  emit(call, accounts, 'transfer', [
    accounts.subscription,
    accounts.plan,
    subscriber,
    mint,
    amount,
    period.startTs,
    period.endTs,
    amountPulledInPeriod,
    receiver.owner,
    destination,
    accounts.puller,
  ]);
}

function checkAccounts(call: ProgramCall, { accounts }: Collect) {
  requireOurs(call, accounts.subscription);
  requireWritable(call, accounts.subscription);
  if (!isOurs(call.read(accounts.plan))) fail(SUBSCRIPTION_ERRORS.planClosed);
  const authority = loadAuthority(call, accounts.authority);
  requireWritable(call, accounts.subscriberTokenAccount, accounts.receiverTokenAccount);
  requireSigner(call, accounts.puller);
  requireTokenProgram(accounts.tokenProgram);
  const decimals = requireMint(call, accounts.mint, accounts.tokenProgram);
  requireTokenAccount(call, accounts.subscriberTokenAccount, accounts.tokenProgram);
  requireTokenAccount(call, accounts.receiverTokenAccount, accounts.tokenProgram);
  return { authority, decimals };
}

/** Who may collect, until when, and to whom. */
function checkPlan(call: ProgramCall, { accounts, mint }: Collect, plan: SubscriptionPlan) {
  if (plan.mint !== mint) fail(SUBSCRIPTION_ERRORS.mintMismatch);
  if (hasEnded(plan, call.now)) fail(SUBSCRIPTION_ERRORS.planExpired);
  const mayPull = plan.owner === accounts.puller || plan.pullers.includes(accounts.puller);
  if (!mayPull) fail(SUBSCRIPTION_ERRORS.unauthorized);
  const receiver = readHolding(call.read(accounts.receiverTokenAccount).data);
  const mayReceive = plan.destinations.length === 0 || plan.destinations.includes(receiver.owner);
  return mayReceive ? receiver : fail(SUBSCRIPTION_ERRORS.unauthorizedDestination);
}

function checkSubscription(call: ProgramCall, { accounts, subscriber }: Collect, subscription: Subscription, plan: SubscriptionPlan): void {
  if (!sameTerms(subscription, plan)) fail(SUBSCRIPTION_ERRORS.planTermsMismatch);
  if (subscription.plan !== accounts.plan) fail(SUBSCRIPTION_ERRORS.subscriptionPlanMismatch);
  if (subscription.subscriber !== subscriber) fail(SUBSCRIPTION_ERRORS.unauthorized);
  const isOver = subscription.expiresAtTs !== 0n && call.now >= subscription.expiresAtTs;
  if (isOver) fail(SUBSCRIPTION_ERRORS.subscriptionCancelled);
}

function checkAllowance(call: ProgramCall, subscription: Subscription, plan: SubscriptionPlan, amount: bigint): Period {
  if (amount === 0n) fail(SUBSCRIPTION_ERRORS.invalidAmount);
  if (call.now < subscription.currentPeriodStartTs) fail(SUBSCRIPTION_ERRORS.delegationNotStarted);
  const period = periodAt(subscription, plan, call.now);
  if (amount > subscription.amount - period.amountPulled) fail(SUBSCRIPTION_ERRORS.amountExceedsPeriodLimit);
  return period;
}
