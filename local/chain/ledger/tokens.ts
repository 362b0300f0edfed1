import { type Address, type EncodedAccount, getAddressDecoder, type ReadonlyUint8Array } from '@solana/kit';
import {
  AccountState,
  findAssociatedTokenPda,
  getMintDecoder,
  getMintEncoder,
  getTokenDecoder,
  getTokenEncoder,
} from '@solana-program/token';
import { invalidParams } from './errors.ts';
import type { Machine } from './machine.ts';
import { FAUCET_ADDRESS, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, U64_MAX } from './network.ts';

const MINT_BYTES = 82;
export const TOKEN_ACCOUNT_BYTES = 165;

/** Amount as a node formats it. `uiAmount` is null only in stored transactions, and only for zero. */
export interface UiTokenAmount {
  amount: string;
  decimals: number;
  uiAmount: number | null;
  uiAmountString: string;
}

/** Formats base units with decimals and without trailing zeros. */
export function toUiAmount(amount: bigint, decimals: number): UiTokenAmount {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const integer = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  const uiAmountString = decimals === 0 || fraction === '' ? integer : `${integer}.${fraction}`;
  return { amount: amount.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString };
}

export function isTokenProgram(program: Address): boolean {
  return program === TOKEN_PROGRAM || program === TOKEN_2022_PROGRAM;
}

export function isTokenAccount(account: EncodedAccount): boolean {
  return isTokenProgram(account.programAddress) && account.data.length >= TOKEN_ACCOUNT_BYTES && account.data[108] !== 0;
}

export function isMint(account: EncodedAccount): boolean {
  return isTokenProgram(account.programAddress) && account.data.length === MINT_BYTES && account.data[45] === 1;
}

export function readHolding(data: ReadonlyUint8Array): { mint: Address; owner: Address; amount: bigint } {
  const addresses = getAddressDecoder();
  const view = new DataView(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
  return { mint: addresses.decode(data, 0), owner: addresses.decode(data, 32), amount: view.getBigUint64(64, true) };
}

export function findDecimals(machine: Machine, mint: Address): number | null {
  const account = machine.findAccount(mint);
  return account !== null && isTokenProgram(account.programAddress) && account.data.length >= MINT_BYTES ? (account.data[44] ?? 0) : null;
}

/** Writes a mint without supply and with the faucet as authority. */
export function putMint(machine: Machine, mint: Address, decimals: number): void {
  const data = getMintEncoder().encode({ mintAuthority: FAUCET_ADDRESS, supply: 0n, decimals, isInitialized: true, freezeAuthority: null });
  machine.putAccount(mint, data, TOKEN_PROGRAM);
}

export async function findTokenAddress(mint: Address, owner: Address): Promise<Address> {
  const [tokenAddress] = await findAssociatedTokenPda({ mint, owner, tokenProgram: TOKEN_PROGRAM });
  return tokenAddress;
}

/**
 * Adds base units to an owner's associated token account and to the supply, creating the account if there is none.
 * Not a transaction: nothing is recorded. Synchronous, so two fundings cannot overwrite each other.
 */
export function fundToken(machine: Machine, mint: Address, owner: Address, tokenAddress: Address, amount: bigint): void {
  const mintAccount = machine.findAccount(mint);
  if (mintAccount === null || !isMint(mintAccount) || mintAccount.programAddress !== TOKEN_PROGRAM) {
    throw invalidParams('Invalid param: could not find mint');
  }
  const minted = getMintDecoder().decode(mintAccount.data);
  if (minted.supply + amount > U64_MAX) throw invalidParams('Invalid param: the supply would exceed 64 bits');
  const existing = machine.findAccount(tokenAddress);
  const held = existing !== null && isTokenAccount(existing) ? getTokenDecoder().decode(existing.data) : newHolding(mint, owner);
  const tokenData = getTokenEncoder().encode({ ...held, amount: held.amount + amount });
  machine.putAccount(tokenAddress, tokenData, TOKEN_PROGRAM, existing?.lamports);
  machine.putAccount(mint, getMintEncoder().encode({ ...minted, supply: minted.supply + amount }), TOKEN_PROGRAM, mintAccount.lamports);
}

function newHolding(mint: Address, owner: Address) {
  return {
    mint,
    owner,
    amount: 0n,
    delegate: null,
    state: AccountState.Initialized,
    isNative: null,
    delegatedAmount: 0n,
    closeAuthority: null,
  };
}
