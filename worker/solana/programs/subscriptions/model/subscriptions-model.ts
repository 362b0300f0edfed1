import { deriveAddress } from '../../derived-address.ts';
import { failProgram } from '../../program-failure.ts';
import type { ModelledProgram, ProgramRun } from '../../program-run.ts';
import { SUBSCRIPTION_ERRORS } from '../errors.ts';
import { parseSubscriptionInstruction, type SubscriptionInstruction, type SubscriptionInstructionProblem } from '../parse-instruction.ts';
import {
  encodeSubscription,
  findSubscriptionAddress,
  planSeeds,
  SUBSCRIPTION_BYTES,
  SUBSCRIPTIONS_PROGRAM,
  sameTerms,
} from '../subscription.ts';
import { closeAuthority, initAuthority, revokeAuthority } from './authority.ts';
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
import { collect } from './collect.ts';
import { cancel, resume, revoke } from './end.ts';
import { createPlan, deletePlan, updatePlan } from './plan.ts';

type Subscribe = Extract<SubscriptionInstruction, { name: 'subscribe' }>;

/** Subscribes to a plan that still equals the signed terms. Collects nothing. */
function subscribe(run: ProgramRun, { accounts, consent, payer: sponsor }: Subscribe): void {
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

const EMIT_EVENT = 228;

const PROBLEMS: Readonly<Record<SubscriptionInstructionProblem, number>> = {
  unknown: SUBSCRIPTION_ERRORS.invalidInstruction,
  wrong_data: SUBSCRIPTION_ERRORS.invalidInstructionData,
  wrong_accounts: SUBSCRIPTION_ERRORS.notEnoughAccountKeys,
};

type Handler<Instruction = SubscriptionInstruction> = (run: ProgramRun, instruction: Instruction) => void;

const HANDLERS: { [Name in SubscriptionInstruction['name']]: Handler<Extract<SubscriptionInstruction, { name: Name }>> } = {
  initAuthority,
  revoke,
  closeAuthority,
  createPlan,
  updatePlan,
  deletePlan,
  collect,
  subscribe,
  cancel,
  resume,
  revokeAuthority,
};

/** Model of the subscriptions program, version 0.4.0: plans and subscriptions, without delegations outside plans. */
export const SUBSCRIPTIONS_MODEL: ModelledProgram = {
  address: SUBSCRIPTIONS_PROGRAM,
  process: (run) => {
    if (run.data[0] === EMIT_EVENT) refuseEmission(run);
    const parsed = parseSubscriptionInstruction(run);
    const instruction = parsed.ok ? parsed.value : failProgram(PROBLEMS[parsed.reason]);
    (HANDLERS[instruction.name] as Handler)(run, instruction);
  },
};

/** The event call works only from inside the program: no transaction can carry its authority's signature. */
function refuseEmission(run: ProgramRun): never {
  const [authority] = run.accounts;
  if (authority === undefined || run.accounts.length > 1) return failProgram('NotEnoughAccountKeys');
  return failProgram(run.isSigner(authority) ? SUBSCRIPTION_ERRORS.invalidEventAuthority : 'MissingRequiredSignature');
}
