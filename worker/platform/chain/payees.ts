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

export const ownKeysOf = (config: Config): string[] => [
  ...config.SERVICE_REFERENCE,
  ...[config.TREASURY_WALLET, config.FEE_WALLET].flatMap((wallet) => (!wallet || wallet === SANDBOX_WALLET ? [] : [wallet])),
  ...(hasX402(config) ? feePayersOf(config).addresses : []),
  ...(hasChannels(config) ? channelOperatorsOf(config).addresses : []),
  ...(hasSubscriptions(config) ? pullersOf(config).addresses : []),
];

/** Timeout of the node call. After the timeout the wallet counts as unchecked. */
const ASK_MS = 1500;

/** Returns the account at an address, null if none exists or the node does not answer. */
export async function accountAt(ctx: Ctx, address: string): Promise<AccountFacts | null> {
  const answer = await ctx.chain.within(ASK_MS).accountOf(address);
  if (answer.kind === 'found') return answer.account;
  ctx.note(`rpc: ${answer.reason}`);
  return null;
}

/** Returns why no key can spend from this address, null if no reason is known or the node does not answer. */
export const readPayee = async (ctx: Ctx, wallet: string): Promise<Unspendable | null> =>
  unspendable(wallet, ownKeysOf(ctx.config), await accountAt(ctx, wallet));

/** Throws 422 invalid_wallet_address if the text is no Solana address. */
export function requireWallet(text: string, field = 'wallet_address'): void {
  if (!parseWallet(text).ok) throw new ApiError('invalid_wallet_address', { meta: { field } });
}

/**
 * Checks a new payout address. Only live mode asks the node. Throws 422 invalid_wallet_address with `meta.reason`, and `meta.owner` for a
 * token account.
 */
export async function requireSpendable(ctx: Ctx, wallet: string, livemode: boolean): Promise<void> {
  const parsed = parseWallet(wallet);
  if (!parsed.ok && parsed.reason === 'not_an_address') throw new ApiError('invalid_wallet_address', { meta: { field: 'payout_wallet' } });
  const found = livemode ? await readPayee(ctx, wallet) : unspendable(wallet, ownKeysOf(ctx.config), null);
  if (!found) return;
  throw new ApiError('invalid_wallet_address', { detail: WHY[found.reason], meta: { field: 'payout_wallet', ...found } });
}

const PAYEES_MAX = 10_000;
const fine = new Memory<string, number>(PAYEES_MAX);

/** Cached `readPayee`: asks the node at most once a day per isolate, because the account at an address may change its type. */
export async function payeeOfToday(ctx: Ctx, wallet: string): Promise<Unspendable | null> {
  const cacheKey = `${ctx.chain.cachePrefix} ${wallet}`;
  if (ctx.wallNow < (fine.get(cacheKey) ?? 0)) return null;
  const found = await readPayee(ctx, wallet);
  // A problem is not cached, so that a fix takes effect at once.
  if (found === null) fine.set(cacheKey, ctx.wallNow + DAY);
  return found;
}
