import { createNoopSigner } from '@solana/kit';
import { getTransferCheckedInstruction } from '@solana-program/token';
import { failProgram } from '../../program-failure.ts';
import type { ProgramRun } from '../../program-run.ts';
import { readHolder } from '../../token-account.ts';
import { SUBSCRIPTION_ERRORS } from '../errors.ts';
import type { SubscriptionInstruction } from '../parse-instruction.ts';
import { encodeSubscription, type Period, periodAt, type Subscription, type SubscriptionPlan, sameTerms } from '../subscription.ts';
import {
  emit,
  hasEnded,
  isOfProgram,
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

export function collect(run: ProgramRun, instruction: Collect): void {
  const { accounts, amount, subscriber, mint } = instruction;
  const { authority, decimals } = checkAccounts(run, instruction);
  const plan = loadPlan(run, accounts.plan);
  const receiver = checkPlan(run, instruction, plan);
  const subscription = loadSubscription(run, accounts.subscription);
  checkSubscription(run, instruction, subscription, plan);
  const period = checkAllowance(run, subscription, plan, amount);
  const amountPulledInPeriod = period.amountPulled + amount;
  const moved = { ...subscription, amountPulledInPeriod, currentPeriodStartTs: period.startTs };
  run.write(accounts.subscription, encodeSubscription(moved));

  if (accounts.mint !== mint) failProgram(SUBSCRIPTION_ERRORS.mintMismatch);
  if (authority.user !== subscriber || authority.mint !== mint) failProgram(SUBSCRIPTION_ERRORS.invalidDelegatePda);
  if (authority.initId !== subscription.initId) failProgram(SUBSCRIPTION_ERRORS.staleSubscriptionAuthority);
  requireHolding(run, accounts.subscriberTokenAccount, { owner: subscriber, mint });
  if (receiver.mint !== mint) failProgram(SUBSCRIPTION_ERRORS.mintMismatch);
  const { subscriberTokenAccount: source, receiverTokenAccount: destination } = accounts;
  const transfer = { source, mint, destination, authority: createNoopSigner(accounts.authority), amount, decimals };
  run.invoke(getTransferCheckedInstruction(transfer), [accounts.authority]);
  emit(run, accounts, 'transfer', [
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

function checkAccounts(run: ProgramRun, { accounts }: Collect) {
  requireOurs(run, accounts.subscription);
  requireWritable(run, accounts.subscription);
  if (!isOfProgram(run.read(accounts.plan))) failProgram(SUBSCRIPTION_ERRORS.planClosed);
  const authority = loadAuthority(run, accounts.authority);
  requireWritable(run, accounts.subscriberTokenAccount, accounts.receiverTokenAccount);
  requireSigner(run, accounts.puller);
  requireTokenProgram(accounts.tokenProgram);
  const decimals = requireMint(run, accounts.mint, accounts.tokenProgram);
  requireTokenAccount(run, accounts.subscriberTokenAccount, accounts.tokenProgram);
  requireTokenAccount(run, accounts.receiverTokenAccount, accounts.tokenProgram);
  return { authority, decimals };
}

function checkPlan(run: ProgramRun, { accounts, mint }: Collect, plan: SubscriptionPlan) {
  if (plan.mint !== mint) failProgram(SUBSCRIPTION_ERRORS.mintMismatch);
  if (hasEnded(plan, run.now)) failProgram(SUBSCRIPTION_ERRORS.planExpired);
  const mayPull = plan.owner === accounts.puller || plan.pullers.includes(accounts.puller);
  if (!mayPull) failProgram(SUBSCRIPTION_ERRORS.unauthorized);
  const receiver = readHolder(run.read(accounts.receiverTokenAccount).data);
  const mayReceive = plan.destinations.length === 0 || plan.destinations.includes(receiver.owner);
  return mayReceive ? receiver : failProgram(SUBSCRIPTION_ERRORS.unauthorizedDestination);
}

function checkSubscription(run: ProgramRun, { accounts, subscriber }: Collect, subscription: Subscription, plan: SubscriptionPlan): void {
  if (!sameTerms(subscription, plan)) failProgram(SUBSCRIPTION_ERRORS.planTermsMismatch);
  if (subscription.plan !== accounts.plan) failProgram(SUBSCRIPTION_ERRORS.subscriptionPlanMismatch);
  if (subscription.subscriber !== subscriber) failProgram(SUBSCRIPTION_ERRORS.unauthorized);
  const isOver = subscription.expiresAtTs !== 0n && run.now >= subscription.expiresAtTs;
  if (isOver) failProgram(SUBSCRIPTION_ERRORS.subscriptionCancelled);
}

function checkAllowance(run: ProgramRun, subscription: Subscription, plan: SubscriptionPlan, amount: bigint): Period {
  if (amount === 0n) failProgram(SUBSCRIPTION_ERRORS.invalidAmount);
  if (run.now < subscription.currentPeriodStartTs) failProgram(SUBSCRIPTION_ERRORS.delegationNotStarted);
  const period = periodAt(subscription, plan, run.now);
  if (amount > subscription.amount - period.amountPulled) failProgram(SUBSCRIPTION_ERRORS.amountExceedsPeriodLimit);
  return period;
}
