import { deriveAddress } from '../../derived-address.ts';
import { failProgram } from '../../program-failure.ts';
import type { ProgramRun } from '../../program-run.ts';
import { SUBSCRIPTION_ERRORS } from '../errors.ts';
import type { SubscriptionInstruction } from '../parse-instruction.ts';
import {
  encodeSubscription,
  findSubscriptionAddress,
  planSeeds,
  SUBSCRIPTION_BYTES,
  SUBSCRIPTIONS_PROGRAM,
  sameTerms,
} from '../subscription.ts';
import {
  emit,
  hasEnded,
  loadAuthority,
  loadPlan,
  requireAuthority,
  requireOurs,
  requireSigner,
  requireSystemProgram,
  requireWritable,
  resolvePayer,
} from './checks.ts';

type Subscribe = Extract<SubscriptionInstruction, { name: 'subscribe' }>;

/** Subscribes to a plan that is still exactly what the subscriber saw. Nothing is collected by it. */
export function subscribe(run: ProgramRun, { accounts, consent, payer: sponsor }: Subscribe): void {
  const { subscriber, owner, plan: planAddress } = accounts;
  requireSigner(run, subscriber);
  requireWritable(run, subscriber);
  requireOurs(run, planAddress);
  requireWritable(run, accounts.subscription);
  const authority = loadAuthority(run, accounts.authority);
  requireSystemProgram(accounts.systemProgram);
  const payer = resolvePayer(run, subscriber, sponsor);

  const expected = deriveAddress(SUBSCRIPTIONS_PROGRAM, planSeeds(owner, consent.planId), consent.planBump);
  if (planAddress !== expected) failProgram(SUBSCRIPTION_ERRORS.invalidPlanPda);
  const plan = loadPlan(run, planAddress);
  if (plan.status === 'sunset') failProgram(SUBSCRIPTION_ERRORS.planSunset);
  if (hasEnded(plan, run.now)) failProgram(SUBSCRIPTION_ERRORS.planExpired);
  if (plan.mint !== consent.mint || !sameTerms(plan, consent)) failProgram(SUBSCRIPTION_ERRORS.planTermsMismatch);
  requireAuthority(authority, { user: subscriber, mint: plan.mint, initId: consent.initId });
  const { address, bump } = findSubscriptionAddress(planAddress, subscriber);
  if (accounts.subscription !== address) failProgram(SUBSCRIPTION_ERRORS.invalidSubscriptionPda);
  if (run.read(address).data.length > 0) failProgram(SUBSCRIPTION_ERRORS.alreadySubscribed);

  run.create(address, payer, SUBSCRIPTION_BYTES);
  const terms = { amount: plan.amount, periodHours: plan.periodHours, createdAt: plan.createdAt };
  const progress = { amountPulledInPeriod: 0n, currentPeriodStartTs: run.now, expiresAtTs: 0n };
  const parties = { bump, subscriber, plan: planAddress, payer, initId: authority.initId };
  run.write(address, encodeSubscription({ ...parties, ...terms, ...progress }));
  emit(run, accounts, 'created', [planAddress, subscriber, plan.mint, run.now, payer]);
}
