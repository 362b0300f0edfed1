import type { Address } from '@solana/kit';
import { AccountState, getMintEncoder, getTokenDecoder, getTokenEncoder } from '@solana-program/token';
import { DECIMALS } from '#core/money.ts';
import { NETWORKS, TOKEN_PROGRAM } from '#solana/assets.ts';
import type { ChainAccount } from '#solana/chain.ts';
import { associatedTokenAddress } from '#solana/programs/derived-address.ts';

const MINT = NETWORKS.devnet.usdcMint as Address;
const MINT_ACCOUNT: ChainAccount = {
  owner: TOKEN_PROGRAM,
  data: Uint8Array.from(
    getMintEncoder().encode({ mintAuthority: null, supply: 0n, decimals: DECIMALS.USDC, isInitialized: true, freezeAuthority: null }),
  ),
};
/** Balance of every sandbox wallet. Payments do not reduce this balance unless the wallet was emptied. */
export const PLENTY = 2n ** 60n;

export class Accounts {
  readonly changed = new Map<string, ChainAccount | null>();
  readonly #stored: ReadonlyMap<string, ChainAccount>;

  constructor(stored: ReadonlyMap<string, ChainAccount>) {
    this.#stored = stored;
  }

  find(address: string): ChainAccount | null {
    if (address === MINT) return MINT_ACCOUNT;
    const changed = this.changed.get(address);
    return changed === undefined ? (this.#stored.get(address) ?? null) : changed;
  }

  put(address: string, account: ChainAccount | null): void {
    this.changed.set(address, account);
  }

  openHolding(owner: string, mint: string): void {
    const address = holdingAddress(owner, mint);
    if (this.find(address) === null) this.put(address, newHolding(owner as Address, mint as Address, PLENTY));
  }
}

export const holdingAddress = (owner: string, mint: string): Address =>
  associatedTokenAddress(owner as Address, mint as Address, TOKEN_PROGRAM as Address);

export const newHolding = (owner: Address, mint: Address, amount: bigint): ChainAccount =>
  holdingOf({
    mint,
    owner,
    amount,
    delegate: null,
    state: AccountState.Initialized,
    isNative: null,
    delegatedAmount: 0n,
    closeAuthority: null,
  });

export const withAmount = ({ data }: ChainAccount, amount: bigint): ChainAccount =>
  holdingOf({ ...getTokenDecoder().decode(data), amount });

export const holdingOf = (held: Parameters<ReturnType<typeof getTokenEncoder>['encode']>[0]): ChainAccount => ({
  owner: TOKEN_PROGRAM,
  data: Uint8Array.from(getTokenEncoder().encode(held)),
});
