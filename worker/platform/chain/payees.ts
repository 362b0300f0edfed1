import { ApiError } from '#core/errors.ts';
import { Memory } from '#core/isolate/memory.ts';
import { DAY } from '#core/time.ts';
import { type Config, type Ctx, hasChannels, hasSubscriptions, hasX402 } from '#platform/context.ts';
import { parseWallet } from '#solana/assets.ts';
import { type AccountFacts, type Unspendable, type UnspendableReason, unspendable } from '#solana/payee.ts';
import { channelOperatorsOf, feePayersOf, pullersOf } from './fee-payer.ts';
import { SANDBOX_WALLET } from './simulated-config.ts';

const WHY: Record<UnspendableReason, string> = {
  off_curve: 'No key can sign for this address: it belongs to a program. Give the address of the wallet itself.',
  token_account: 'This is a token account, not a wallet. Give the wallet that owns it; its USDC account is found from there.',
  mint: 'This is the mint of a token, not a wallet.',
  program: 'This is a program, not a wallet.',
  sysvar: 'This is an account of the cluster itself, not a wallet.',
  own_key: 'This is an address of this service, not a wallet of yours.',
  not_system_account: 'This account belongs to a program, so nobody can spend from it as from a wallet.',
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
