import { failProgram } from '../../program-failure.ts';
import type { ModelledProgram, ProgramRun } from '../../program-run.ts';
import { SUBSCRIPTION_ERRORS } from '../errors.ts';
import { parseSubscriptionInstruction, type SubscriptionInstruction, type SubscriptionInstructionProblem } from '../parse-instruction.ts';
import { SUBSCRIPTIONS_PROGRAM } from '../subscription.ts';
import { closeAuthority, initAuthority, revokeAuthority } from './authority.ts';
import { collect } from './collect.ts';
import { cancel, resume, revoke } from './end.ts';
import { createPlan, deletePlan, updatePlan } from './plan.ts';
import { subscribe } from './subscribe.ts';

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

/** A model of the subscriptions program, version 0.4.0: what belongs to plans, without delegations that have none. */
export const SUBSCRIPTIONS_MODEL: ModelledProgram = {
  address: SUBSCRIPTIONS_PROGRAM,
  process: (run) => {
    if (run.data[0] === EMIT_EVENT) refuseEmission(run);
    const parsed = parseSubscriptionInstruction(run);
    const instruction = parsed.ok ? parsed.value : failProgram(PROBLEMS[parsed.reason]);
    (HANDLERS[instruction.name] as Handler)(run, instruction);
  },
};

/** The call that carries an event works from inside the program alone: no transaction can have its authority's signature. */
function refuseEmission(run: ProgramRun): never {
  const [authority] = run.accounts;
  if (authority === undefined || run.accounts.length > 1) return failProgram('NotEnoughAccountKeys');
  return failProgram(run.isSigner(authority) ? SUBSCRIPTION_ERRORS.invalidEventAuthority : 'MissingRequiredSignature');
}
