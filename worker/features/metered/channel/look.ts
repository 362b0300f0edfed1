import { ApiError } from '#core/errors.ts';
import { MINUTE } from '#core/time.ts';
import { calledBy } from '#features/entitlements/entitlement.ts';
import type { Ctx } from '#platform/context.ts';
import type { MeteredTerms } from '#rules/metered/rpc.ts';
import type { ChainAccount } from '#solana/chain.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { type Channel, decodeChannel } from '#solana/programs/payment-channels/channel.ts';
import { takesMoneyFor } from '#solana/programs/token-account.ts';
import { callSession, type OpenedSession, programOf } from '../session.ts';

/**
 * What a look at a channel's account says: it is over once nothing of it is left to pay out; then `channel` is null where its program keeps
 * nothing either. `slot`: when it was read.
 */
export type Look = { slot: number } & (
  | { kind: 'absent' | 'unknown' }
  | { kind: 'over'; channel: Channel | null }
  | { kind: 'standing'; channel: Channel }
);

/**
 * The current program gives a distributed channel's account back; the older one leaves a byte of it for ever. An account that is absent
 * proves nothing by itself, because a node that is behind knows none either.
 */
export function lookOf(session: MeteredTerms, account: ChainAccount | null, slot: number): Look {
  const program = programOf(session);
  if (account === null) return { kind: 'absent', slot };
  if (account.owner !== program.address) return { kind: 'unknown', slot };
  const decoded = decodeChannel(program, account.data);
  if (!decoded.ok) return decoded.reason === 'tombstone' ? { kind: 'over', channel: null, slot } : { kind: 'unknown', slot };
  return { kind: decoded.value.status === 'distributed' ? 'over' : 'standing', channel: decoded.value, slot };
}

export async function lookAtChannel(ctx: Ctx, session: OpenedSession): Promise<Look> {
  const read = await ctx.chain.readAccounts([session.bound.channelId]);
  if (read.kind === 'accounts') return lookOf(session, read.accounts[0] ?? null, read.slot);
  ctx.note(`rpc: ${read.reason}`);
  return { kind: 'unknown', slot: 0 };
}

/** Between the first look that shows no channel and the one that is believed. */
const ABSENT_MS = MINUTE;

/** True where the channel was absent at each look for a while, and no node knows it now: then nothing stands behind its vouchers any more. */
export async function isProvenAbsent(ctx: Ctx, { sessionId, bound }: OpenedSession): Promise<boolean> {
  const { since } = await callSession(ctx, sessionId, (object) => object.noteAbsent(calledBy(ctx)));
  return ctx.now >= since + ABSENT_MS && (await ctx.chain.isAbsentEverywhere(bound.channelId));
}

/** Whole accounts. 503 rpc_unavailable. */
export async function readAccounts(ctx: Ctx, addresses: string[]): Promise<(ChainAccount | null)[]> {
  const read = await ctx.chain.readAccounts(addresses);
  if (read.kind === 'accounts') return read.accounts;
  ctx.note(`rpc: ${read.reason}`);
  throw new ApiError('rpc_unavailable', { retryAfterSeconds: 2 });
}

/**
 * Whether every payee of a channel has a token account that takes its share, and whether its payer has one: the program sends a share
 * that finds none to its treasury, for good. 503 rpc_unavailable.
 */
export async function readPayability(
  ctx: Ctx,
  { operator, merchantWallet, mint, generation }: MeteredTerms,
  payer: string | null = null,
): Promise<{ isPayable: boolean; hasPayer: boolean }> {
  const treasury = programOf({ generation }).treasuryOwners[ctx.config.NETWORK] as string | null;
  if (treasury === null) return { isPayable: false, hasPayer: false };
  const owners = [merchantWallet, operator, treasury, ...(payer === null ? [] : [payer])];
  const accounts = await readAccounts(ctx, await Promise.all(owners.map((owner) => associatedTokenAccount(owner, mint))));
  const [hasMerchant, hasOperator, hasTreasury, hasPayer = true] = owners.map((owner, i) => takesMoneyFor(accounts[i]!, { owner, mint }));
  return { isPayable: hasMerchant! && hasOperator! && hasTreasury!, hasPayer };
}
