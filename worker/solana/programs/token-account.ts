import { type Address, type EncodedAccount, getAddressDecoder, type ReadonlyUint8Array } from '@solana/kit';
import { AccountState, getMintSize, getTokenDecoder, getTokenSize } from '@solana-program/token';
import { TOKEN_PROGRAM } from '../assets.ts';
import type { ChainAccount } from '../chain.ts';

/**
 * True if the account credits `owner` with `mint`: owned by the token program, same mint and owner, not frozen. The address of an
 * associated account alone proves none of these.
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

export const findMintDecimals = ({ programAddress, data }: Stored): number | null =>
  programAddress === TOKEN_PROGRAM && data.length === getMintSize() && data[MINT_IS_INITIALIZED] === 1 ? data[MINT_DECIMALS]! : null;

export const isClassicHolding = ({ programAddress, data }: Stored): boolean =>
  programAddress === TOKEN_PROGRAM && data.length === getTokenSize() && data[HOLDING_STATE] !== 0;

export function readHolder(data: ReadonlyUint8Array): { mint: Address; owner: Address } {
  const addresses = getAddressDecoder();
  return { mint: addresses.decode(data, 0), owner: addresses.decode(data, 32) };
}
