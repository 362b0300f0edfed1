import type { Address } from '@solana/kit';
import { addressSeed, u64Seed } from '../../derived-address.ts';
import { failProgram } from '../../program-failure.ts';
import type { ProgramRun } from '../../program-run.ts';
import { SUBSCRIPTION_ERRORS } from '../errors.ts';
import type { SubscriptionInstruction } from '../parse-instruction.ts';
import { ACCOUNT_KINDS, findPlanAddress, PERIOD_HOURS_MAX, PLAN_BYTES, periodSeconds, type SubscriptionPlan } from '../subscription.ts';
import {
  emit,
  hasEnded,
  loadPlan,
  requireMint,
  requireOurs,
  requireSigner,
  requireSystemProgram,
  requireTokenProgram,
  requireWritable,
} from './checks.ts';

type CreatePlan = Extract<SubscriptionInstruction, { name: 'createPlan' }>;
type UpdatePlan = Extract<SubscriptionInstruction, { name: 'updatePlan' }>;
type DeletePlan = Extract<SubscriptionInstruction, { name: 'deletePlan' }>;

const SUNSET = 0;
const ACTIVE = 1;
const STATUS_OFFSET = 34;
const CREATED_AT_OFFSET = 91;
const END_OFFSET = 99;
const PULLERS_OFFSET = 235;
const METADATA_OFFSET = 363;

/** Publishes a plan. The bytes are stored as received, except the creation time. */
export function createPlan(run: ProgramRun, { accounts, plan }: CreatePlan): void {
  if (plan.amount === 0n) failProgram(SUBSCRIPTION_ERRORS.invalidAmount);
  if (plan.periodHours === 0n || plan.periodHours > PERIOD_HOURS_MAX) failProgram(SUBSCRIPTION_ERRORS.invalidPeriodLength);
  requireEnd(plan, run.now);
  requireSigner(run, accounts.owner);
  requireWritable(run, accounts.owner, accounts.plan);
  requireMint(run, accounts.mint, accounts.tokenProgram);
  requireTokenProgram(accounts.tokenProgram);
  requireSystemProgram(accounts.systemProgram);
  if (plan.mint !== accounts.mint) failProgram(SUBSCRIPTION_ERRORS.mintMismatch);
  if (run.read(accounts.plan).data.length > 0) failProgram(SUBSCRIPTION_ERRORS.planAlreadyExists);
  const { address, bump } = findPlanAddress(accounts.owner, plan.planId);
  if (accounts.plan !== address) failProgram(SUBSCRIPTION_ERRORS.invalidPlanPda);
  run.create(address, accounts.owner, PLAN_BYTES);
  const data = Uint8Array.of(ACCOUNT_KINDS.plan, ...addressSeed(accounts.owner), bump, ACTIVE, ...run.data.slice(1));
  data.set(u64Seed(run.now), CREATED_AT_OFFSET);
  run.write(address, data);
}

/** Changes a plan: the end may move earlier but not be removed. After a sunset only pullers can be removed. */
export function updatePlan(run: ProgramRun, { accounts, ...change }: UpdatePlan): void {
  requireSigner(run, accounts.owner);
  requireWritable(run, accounts.plan);
  const plan = loadOwnPlan(run, accounts);
  const data = Uint8Array.from(run.read(accounts.plan).data);
  const [status, endTs, pullers, metadata] = splitChange(run);
  const isSameMetadata = metadata.every((byte, index) => data[METADATA_OFFSET + index] === byte);
  if (plan.status === 'sunset') {
    const isNarrower = change.pullers.every((puller) => plan.pullers.includes(puller));
    const isSame = change.status === SUNSET && change.endTs === plan.endTs && isSameMetadata;
    if (!isNarrower || !isSame) failProgram(SUBSCRIPTION_ERRORS.planImmutableAfterSunset);
  }
  if (change.status === SUNSET && change.endTs === 0n) failProgram(SUBSCRIPTION_ERRORS.sunsetRequiresEndTs);
  if (change.status !== SUNSET && change.status !== ACTIVE) failProgram(SUBSCRIPTION_ERRORS.invalidPlanStatus);
  if (hasEnded(plan, run.now)) failProgram(SUBSCRIPTION_ERRORS.planExpired);
  const isExtended = plan.endTs !== 0n && (change.endTs === 0n || change.endTs > plan.endTs);
  if (isExtended) failProgram(SUBSCRIPTION_ERRORS.planEndTsCannotExtend);
  if (change.endTs !== plan.endTs) requireEnd({ ...plan, endTs: change.endTs }, run.now);
  data.set(status, STATUS_OFFSET);
  data.set(endTs, END_OFFSET);
  data.set(pullers, PULLERS_OFFSET);
  data.set(metadata, METADATA_OFFSET);
  run.write(accounts.plan, data);
  emit(run, accounts, 'planUpdated', [accounts.plan, accounts.owner, status, endTs, pullers]);
}

export function deletePlan(run: ProgramRun, { accounts }: DeletePlan): void {
  requireSigner(run, accounts.owner);
  requireWritable(run, accounts.owner, accounts.plan);
  const plan = loadOwnPlan(run, accounts);
  if (!hasEnded(plan, run.now)) failProgram(SUBSCRIPTION_ERRORS.planNotExpired);
  run.close(accounts.plan, accounts.owner);
}

function loadOwnPlan(run: ProgramRun, accounts: { owner: Address; plan: Address }): SubscriptionPlan {
  requireOurs(run, accounts.plan);
  const plan = loadPlan(run, accounts.plan);
  return plan.owner === accounts.owner ? plan : failProgram(SUBSCRIPTION_ERRORS.notPlanOwner);
}

/** Requires an end that leaves room for at least one period. */
function requireEnd({ endTs, periodHours }: Pick<SubscriptionPlan, 'endTs' | 'periodHours'>, now: bigint): void {
  if (endTs !== 0n && now + periodSeconds(periodHours) > endTs) failProgram(SUBSCRIPTION_ERRORS.invalidEndTs);
}

function splitChange({ data }: ProgramRun): [Uint8Array, Uint8Array, Uint8Array, Uint8Array] {
  const part = (from: number, to: number) => Uint8Array.from(data.slice(from, to));
  return [part(1, 2), part(2, 10), part(10, 138), part(138, 266)];
}
