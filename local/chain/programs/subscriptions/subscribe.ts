import { deriveAddress } from '#solana/programs/derived-address.ts';
import { SUBSCRIPTION_ERRORS } from '#solana/programs/subscriptions/errors.ts';
import type { SubscriptionInstruction } from '#solana/programs/subscriptions/parse-instruction.ts';
import {
  encodeSubscription,
  findSubscriptionAddress,
  planSeeds,
  SUBSCRIPTION_BYTES,
  SUBSCRIPTIONS_PROGRAM,
  sameTerms,
} from '#solana/programs/subscriptions/subscription.ts';
import type { ProgramCall } from '../program-call.ts';
import { fail } from '../program-failure.ts';
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
export function subscribe(call: ProgramCall, { accounts, consent, payer: sponsor }: Subscribe): void {
  const { subscriber, owner, plan: planAddress } = accounts;
  requireSigner(call, subscriber);
  requireWritable(call, subscriber);
  requireOurs(call, planAddress);
  requireWritable(call, accounts.subscription);
  const authority = loadAuthority(call, accounts.authority);
  requireSystemProgram(accounts.systemProgram);
  const payer = resolvePayer(call, subscriber, sponsor);

  const expected = deriveAddress(SUBSCRIPTIONS_PROGRAM, planSeeds(owner, consent.planId), consent.planBump);
  if (planAddress !== expected) fail(SUBSCRIPTION_ERRORS.invalidPlanPda);
  const plan = loadPlan(call, planAddress);
  if (plan.status === 'sunset') fail(SUBSCRIPTION_ERRORS.planSunset);
  if (hasEnded(plan, call.now)) fail(SUBSCRIPTION_ERRORS.planExpired);
  if (plan.mint !== consent.mint || !sameTerms(plan, consent)) fail(SUBSCRIPTION_ERRORS.planTermsMismatch);
  requireAuthority(authority, { user: subscriber, mint: plan.mint, initId: consent.initId });
  const { address, bump } = findSubscriptionAddress(planAddress, subscriber);
  if (accounts.subscription !== address) fail(SUBSCRIPTION_ERRORS.invalidSubscriptionPda);
  if (call.read(address).data.length > 0) fail(SUBSCRIPTION_ERRORS.alreadySubscribed);

  call.create(address, payer, SUBSCRIPTION_BYTES);
  const terms = { amount: plan.amount, periodHours: plan.periodHours, createdAt: plan.createdAt };
  const progress = { amountPulledInPeriod: 0n, currentPeriodStartTs: call.now, expiresAtTs: 0n };
  const parties = { bump, subscriber, plan: planAddress, payer, initId: authority.initId };
  call.write(address, encodeSubscription({ ...parties, ...terms, ...progress }));
  emit(call, accounts, 'created', [planAddress, subscriber, plan.mint, call.now, payer]);
}
