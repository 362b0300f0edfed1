import { AccountState, getTokenDecoder, getTokenSize } from '@solana-program/token';
import { TOKEN_PROGRAM } from '../assets.ts';
import type { ChainAccount } from '../chain.ts';

/**
 * True where money of `mint` that is sent to this account reaches `owner`: it is one of the token program's, of that mint, still that
 * owner's, and not frozen. The address of an associated account alone tells none of these.
 */
export function takesMoneyFor(account: ChainAccount | null, { owner, mint }: { owner: string; mint: string }): boolean {
  if (account === null || account.owner !== TOKEN_PROGRAM || account.data.length !== getTokenSize()) return false;
  const held = getTokenDecoder().decode(account.data);
  return held.mint === mint && held.owner === owner && held.state === AccountState.Initialized;
}
