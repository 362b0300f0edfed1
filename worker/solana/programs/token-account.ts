import { type Address, type EncodedAccount, getAddressDecoder, type ReadonlyUint8Array } from '@solana/kit';
import { AccountState, getMintSize, getTokenDecoder, getTokenSize } from '@solana-program/token';
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

type Stored = Pick<EncodedAccount, 'programAddress' | 'data'>;

const MINT_DECIMALS = 44;
const MINT_IS_INITIALIZED = 45;
const HOLDING_STATE = 108;

/** The decimals of a mint of the classic token program; null for anything else. */
export const findMintDecimals = ({ programAddress, data }: Stored): number | null =>
  programAddress === TOKEN_PROGRAM && data.length === getMintSize() && data[MINT_IS_INITIALIZED] === 1 ? data[MINT_DECIMALS]! : null;

/** True for a token account of the classic token program. */
export const isClassicHolding = ({ programAddress, data }: Stored): boolean =>
  programAddress === TOKEN_PROGRAM && data.length === getTokenSize() && data[HOLDING_STATE] !== 0;

/** Of which mint a token account is, and whose. */
export function readHolder(data: ReadonlyUint8Array): { mint: Address; owner: Address } {
  const addresses = getAddressDecoder();
  return { mint: addresses.decode(data, 0), owner: addresses.decode(data, 32) };
}
