import { ApiError } from '#core/errors.ts';
import { Memory } from '#core/isolate/memory.ts';
import { DAY } from '#core/time.ts';
import { type Config, type Ctx, hasChannels, hasSubscriptions, hasX402 } from '#platform/context.ts';
import { parseWallet } from '#solana/assets.ts';
import { type AccountFacts, type Unspendable, type UnspendableReason, unspendable } from '#solana/payee.ts';
import { channelOperatorsOf, feePayersOf, pullersOf } from './fee-payer.ts';
import { SANDBOX_WALLET } from './simulated-config.ts';

const WHY: Record<UnspendableReason, string> = {
  off_curve: 'The address belongs to a program, so no key can sign for it. Send the address of the wallet itself.',
  token_account: 'This is a token account, not a wallet. Send the wallet that owns it; the service derives the USDC account.',
  mint: 'The address is a token mint, not a wallet. Send the address of your wallet.',
  program: 'The address is a program, not a wallet. Send the address of your wallet.',
  sysvar: 'The address is a cluster account, not a wallet. Send the address of your wallet.',
  own_key: 'The address belongs to this service. Send the address of your wallet.',
  not_system_account: 'The account belongs to a program, so a wallet cannot spend from it.',
};

/** Addresses of the service itself: a merchant who names one as a payout wallet would receive nothing. */
export const ownKeysOf = (config: Config): string[] => [
  config.SERVICE_REFERENCE,
  ...[config.TREASURY_WALLET, config.FEE_WALLET].flatMap((wallet) => (!wallet || wallet === SANDBOX_WALLET ? [] : [wallet])),
  ...(hasX402(config) ? feePayersOf(config).addresses : []),
  ...(hasChannels(config) ? channelOperatorsOf(config).addresses : []),
  ...(hasSubscriptions(config) ? pullersOf(config).addresses : []),
];

/** How long a node may take. A node that hangs delays the caller no longer: the wallet is looked at again later. */
const ASK_MS = 1500;

/** The account at an address now; null where there is none, or the node does not answer. */
export async function accountAt(ctx: Ctx, address: string): Promise<AccountFacts | null> {
  const answer = await ctx.chain.within(ASK_MS).accountOf(address);
  if (answer.kind === 'found') return answer.account;
  ctx.note(`rpc: ${answer.reason}`);
  return null;
}

/** Why no key can spend from this address, as the chain has it now; null where no reason is known, or the node does not answer. */
export const lookAtPayee = async (ctx: Ctx, wallet: string): Promise<Unspendable | null> =>
  unspendable(wallet, ownKeysOf(ctx.config), await accountAt(ctx, wallet));

/** Whether a field of a body is the address of a wallet at all. 422 invalid_wallet_address. */
export function requireWallet(text: string, field = 'wallet_address'): void {
  if (!parseWallet(text).ok) throw new ApiError('invalid_wallet_address', { meta: { field } });
}

/**
 * An address to be paid on from now on. In live mode the node is asked what stands there; the sandbox never asks it.
 * 422 invalid_wallet_address with `meta.reason`, and `meta.owner` of a token account.
 */
export async function requireSpendable(ctx: Ctx, wallet: string, livemode: boolean): Promise<void> {
  const parsed = parseWallet(wallet);
  if (!parsed.ok && parsed.reason === 'not_an_address') throw new ApiError('invalid_wallet_address', { meta: { field: 'payout_wallet' } });
  const found = livemode ? await lookAtPayee(ctx, wallet) : unspendable(wallet, ownKeysOf(ctx.config), null);
  if (!found) return;
  throw new ApiError('invalid_wallet_address', { detail: WHY[found.reason], meta: { field: 'payout_wallet', ...found } });
}

const LOOKED_MAX = 10_000;
const fine = new Memory<string, number>(LOOKED_MAX);

/** Same as `requireSpendable`, but the node is asked at most once a day and isolate: a wallet may have become another kind of account. */
export async function payeeOfToday(ctx: Ctx, wallet: string): Promise<Unspendable | null> {
  const place = `${ctx.chain.place} ${wallet}`;
  if (ctx.wallNow < (fine.get(place) ?? 0)) return null;
  const found = await lookAtPayee(ctx, wallet);
  // What stands in the way is looked at afresh each time, so that mending it helps at once.
  if (found === null) fine.set(place, ctx.wallNow + DAY);
  return found;
}
