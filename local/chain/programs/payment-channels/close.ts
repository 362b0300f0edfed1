import type { ChannelProgram } from '#solana/programs/payment-channels/channel.ts';
import { CHANNEL_ERRORS } from '#solana/programs/payment-channels/errors.ts';
import type { ChannelInstruction } from '#solana/programs/payment-channels/parse-instruction.ts';
import { failProgram } from '#solana/programs/program-failure.ts';
import type { ProgramCall } from '../program-call.ts';
import { loadChannel, requireSigner, saveChannel } from './channel-accounts.ts';

type RequestClose = Extract<ChannelInstruction, { name: 'requestClose' }>;
type Seal = Extract<ChannelInstruction, { name: 'seal' }>;

export function requestClose(program: ChannelProgram, call: ProgramCall, { accounts }: RequestClose): void {
  requireSigner(call, accounts.payer);
  const channel = loadChannel(program, call, accounts.channel);
  if (channel.status !== 'open') failProgram(CHANNEL_ERRORS.invalidChannelStatus);
  if (accounts.payer !== channel.payer) failProgram(CHANNEL_ERRORS.invalidChannelPayer);
  saveChannel(program, call, accounts.channel, { ...channel, status: 'closing', closureStartedAt: call.now });
}

/** Seals a channel after its grace period. Permissionless. */
export function seal(program: ChannelProgram, call: ProgramCall, { accounts }: Seal): void {
  const channel = loadChannel(program, call, accounts.channel);
  if (channel.status !== 'closing') failProgram(CHANNEL_ERRORS.invalidChannelStatus);
  if (call.now < channel.closureStartedAt + BigInt(channel.gracePeriodSeconds)) {
    // The older program has no error of its own for this case.
    failProgram(program.generation === 'current' ? CHANNEL_ERRORS.sealGracePeriodNotElapsed : CHANNEL_ERRORS.invalidChannelStatus);
  }
  saveChannel(program, call, accounts.channel, { ...channel, status: 'sealed', closureStartedAt: 0n });
}
