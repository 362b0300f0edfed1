import { ApiError } from '#core/errors.ts';
import { MINUTE } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import type { MeteredTerms } from '#rules/metered/rpc.ts';
import type { ChainAccount } from '#solana/chain.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { type Channel, decodeChannel } from '#solana/programs/payment-channels/channel.ts';
import { takesMoneyFor } from '#solana/programs/token-account.ts';
import { callSession, type OpenedSession, programOf } from '../session.ts';

/** State of a channel's account in a slot. `over`: nothing is left to pay out. Its account may remain. */
export type ChannelReading = { slot: number } & (
  | { kind: 'absent' | 'unknown' }
  | { kind: 'over'; channel: Channel | null }
  | { kind: 'present'; channel: Channel }
);

/** Interprets an account. `absent` alone proves nothing: a node that lags behind knows no account either. */
export function interpretAccount(session: MeteredTerms, account: ChainAccount | null, slot: number): ChannelReading {
  const program = programOf(session);
  if (account === null) return { kind: 'absent', slot };
  if (account.owner !== program.address) return { kind: 'unknown', slot };
  const decoded = decodeChannel(program, account.data);
  // The older program never frees one byte of a distributed channel.
  if (!decoded.ok) return decoded.reason === 'tombstone' ? { kind: 'over', channel: null, slot } : { kind: 'unknown', slot };
  return { kind: decoded.value.status === 'distributed' ? 'over' : 'present', channel: decoded.value, slot };
}

export async function readChannel(ctx: Ctx, session: OpenedSession): Promise<ChannelReading> {
  const read = await ctx.chain.readAccounts([session.bound.channelId]);
  if (read.kind === 'accounts') return interpretAccount(session, read.accounts[0] ?? null, read.slot);
  ctx.note(`rpc: ${read.reason}`);
  return { kind: 'unknown', slot: 0 };
}

/** Time from the first read without a channel until its absence is believed. */
const ABSENT_MS = MINUTE;

/** True if every read missed the channel for a while and no node knows it now. Its vouchers are then worth nothing. */
export async function isProvenAbsent(ctx: Ctx, { sessionId, bound }: OpenedSession): Promise<boolean> {
  const { since } = await callSession(ctx, sessionId, (object, caller) => object.noteAbsent(caller));
  return ctx.now >= since + ABSENT_MS && (await ctx.chain.isAbsentEverywhere(bound.channelId));
}

/** 503 rpc_unavailable. */
export async function readAccounts(ctx: Ctx, addresses: string[]): Promise<(ChainAccount | null)[]> {
  const read = await ctx.chain.readAccounts(addresses);
  if (read.kind === 'accounts') return read.accounts;
  ctx.note(`rpc: ${read.reason}`);
  throw new ApiError('rpc_unavailable', { retryAfterSeconds: 2 });
}

/**
 * Reads whether every payee of a channel, and its payer, has a usable token account. The program sends a share that finds none to its
 * treasury for good. 503 rpc_unavailable.
 */
export async function readPayability(
  ctx: Ctx,
  { operator, merchantWallet, mint, generation }: MeteredTerms,
  payer: string | null,
): Promise<{ isPayable: boolean; hasPayer: boolean }> {
  const treasury = programOf({ generation }).treasuryOwners[ctx.config.NETWORK] as string | null;
  if (treasury === null) return { isPayable: false, hasPayer: false };
  const owners = [merchantWallet, operator, treasury, ...(payer === null ? [] : [payer])];
  const accounts = await readAccounts(ctx, await Promise.all(owners.map((owner) => associatedTokenAccount(owner, mint))));
  const [hasMerchant, hasOperator, hasTreasury, hasPayer = true] = owners.map((owner, i) => takesMoneyFor(accounts[i]!, { owner, mint }));
  return { isPayable: hasMerchant! && hasOperator! && hasTreasury!, hasPayer };
}
