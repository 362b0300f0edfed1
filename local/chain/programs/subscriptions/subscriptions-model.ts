import { SUBSCRIPTION_ERRORS } from '#solana/programs/subscriptions/errors.ts';
import {
  parseSubscriptionInstruction,
  type SubscriptionInstruction,
  type SubscriptionInstructionProblem,
} from '#solana/programs/subscriptions/parse-instruction.ts';
import { SUBSCRIPTIONS_PROGRAM } from '#solana/programs/subscriptions/subscription.ts';
import type { ProgramCall, ProgramModel } from '../program-call.ts';
import { fail } from '../program-failure.ts';
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

type Handler<Instruction = SubscriptionInstruction> = (call: ProgramCall, instruction: Instruction) => void;

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
export const SUBSCRIPTIONS_MODEL: ProgramModel = {
  address: SUBSCRIPTIONS_PROGRAM,
  process: (call) => {
    if (call.data[0] === EMIT_EVENT) refuseEmission(call);
    const parsed = parseSubscriptionInstruction(call);
    const instruction = parsed.ok ? parsed.value : fail(PROBLEMS[parsed.reason]);
    (HANDLERS[instruction.name] as Handler)(call, instruction);
  },
};

/** The call that carries an event works from inside the program alone: no transaction can have its authority's signature. */
function refuseEmission(call: ProgramCall): never {
  const [authority] = call.accounts;
  if (authority === undefined || call.accounts.length > 1) return fail('NotEnoughAccountKeys');
  return fail(call.isSigner(authority) ? SUBSCRIPTION_ERRORS.invalidEventAuthority : 'MissingRequiredSignature');
}
