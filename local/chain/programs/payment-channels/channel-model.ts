import type { ChannelProgram } from '#solana/programs/payment-channels/channel.ts';
import { CHANNEL_ERRORS } from '#solana/programs/payment-channels/errors.ts';
import {
  type ChannelInstruction,
  type ChannelInstructionProblem,
  parseChannelInstruction,
} from '#solana/programs/payment-channels/parse-instruction.ts';
import { failProgram } from '#solana/programs/program-failure.ts';
import type { ProgramCall, ProgramModel } from '../program-call.ts';
import { requestClose, seal } from './close.ts';
import { distribute, reclaim, withdrawPayer } from './distribute.ts';
import { open, topUp } from './fund.ts';
import { settle, settleAndSeal } from './settle.ts';

const EMIT_EVENT = 228;
// Discriminators of instructions that report wrong accounts with the program's own error. The others use the shared cause.
const COUNTS_ITSELF: readonly number[] = [3, 4, 5, 8, EMIT_EVENT];

const PROBLEMS: Readonly<Record<Exclude<ChannelInstructionProblem, 'wrong_accounts'>, number | string>> = {
  unknown: 'InvalidInstructionData',
  wrong_data: 'InvalidInstructionData',
  wrong_length: 'InvalidInstructionData',
  too_many: CHANNEL_ERRORS.invalidRecipientCount,
  invalid_share: CHANNEL_ERRORS.invalidSplitConfig,
  duplicate_recipient: CHANNEL_ERRORS.duplicateRecipient,
};

type Handler<Instruction = ChannelInstruction> = (program: ChannelProgram, call: ProgramCall, instruction: Instruction) => void;

const HANDLERS: { [Name in ChannelInstruction['name']]: Handler<Extract<ChannelInstruction, { name: Name }>> } = {
  open,
  settle,
  topUp,
  settleAndSeal,
  requestClose,
  seal,
  distribute,
  withdrawPayer,
  reclaim,
};

export const modelChannelProgram = (program: ChannelProgram): ProgramModel => ({
  address: program.address,
  process: (call) => processInstruction(program, call),
});

function processInstruction(program: ChannelProgram, call: ProgramCall): void {
  if (call.data[0] === EMIT_EVENT) refuseEmission(call);
  const parsed = parseChannelInstruction(program, call);
  const instruction = parsed.ok ? parsed.value : refuseInstruction(parsed.reason, call.data[0]!);
  (HANDLERS[instruction.name] as Handler)(program, call, instruction);
}

function refuseInstruction(problem: ChannelInstructionProblem, discriminator: number): never {
  if (problem !== 'wrong_accounts') return failProgram(PROBLEMS[problem]);
  return failProgram(COUNTS_ITSELF.includes(discriminator) ? CHANNEL_ERRORS.notEnoughAccountKeys : 'NotEnoughAccountKeys');
}

/** Only the program itself can emit an event: no transaction can have its authority's signature. */
function refuseEmission(call: ProgramCall): never {
  const [authority] = call.accounts;
  if (authority === undefined || call.accounts.length > 1) return failProgram(CHANNEL_ERRORS.notEnoughAccountKeys);
  return failProgram(call.isSigner(authority) ? CHANNEL_ERRORS.invalidEventAuthority : CHANNEL_ERRORS.missingRequiredSignature);
}
