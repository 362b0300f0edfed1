import type { Address } from '@solana/kit';
import { associatedTokenAddress } from '#solana/programs/derived-address.ts';
import { CHANNEL_PROGRAMS } from '#solana/programs/payment-channels/channel.ts';
import { SUBSCRIPTIONS_MODEL } from '#solana/programs/subscriptions/model/subscriptions-model.ts';
import type { Machine } from './ledger/machine.ts';
import { TOKEN_PROGRAM, USDC_MINT } from './ledger/network.ts';
import { fundToken } from './ledger/tokens.ts';
import { modelChannelProgram } from './programs/payment-channels/channel-model.ts';
import type { ProgramModel } from './programs/program-call.ts';

export const MODELS: ReadonlyMap<Address, ProgramModel> = new Map(
  [...Object.values(CHANNEL_PROGRAMS).map(modelChannelProgram), SUBSCRIPTIONS_MODEL].map((model) => [model.address, model]),
);

const TREASURIES = Object.values(CHANNEL_PROGRAMS).map(({ treasuryOwners: { devnet: owner } }) => {
  return { owner, tokenAccount: associatedTokenAddress(owner, USDC_MINT, TOKEN_PROGRAM) };
});

/** Creates the USDC accounts of the channel programs' treasuries, which every distribution names and no instruction creates. */
export function putTreasuries(machine: Machine): void {
  for (const { owner, tokenAccount } of TREASURIES) fundToken(machine, USDC_MINT, owner, tokenAccount, 0n);
}
