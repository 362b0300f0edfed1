import type { Address } from '@solana/kit';
import type { Machine } from './machine.ts';
import { findDecimals, isTokenAccount, isTokenProgram, readHolding, toUiAmount, type UiTokenAmount } from './tokens.ts';

/** A token balance as `getTransaction` lists it. */
interface TokenBalance {
  accountIndex: number;
  mint: Address;
  owner: Address;
  programId: Address;
  uiTokenAmount: UiTokenAmount;
}

/** Lamports of every account of a transaction, and the tokens held by those that are token accounts. */
export interface Balances {
  lamports: bigint[];
  tokens: TokenBalance[];
}

/** Reads the balances of a transaction's accounts. Like a node, lists tokens only when a token program is among the accounts. */
export function readBalances(machine: Machine, keys: readonly Address[]): Balances {
  const balances: Balances = { lamports: [], tokens: [] };
  const mentionsTokens = keys.some(isTokenProgram);
  keys.forEach((address, accountIndex) => {
    const account = machine.findAccount(address);
    balances.lamports.push(account?.lamports ?? 0n);
    if (account === null || !mentionsTokens || !isTokenAccount(account)) return;
    const { mint, owner, amount } = readHolding(account.data);
    const decimals = findDecimals(machine, mint);
    if (decimals === null) return;
    const shown = toUiAmount(amount, decimals);
    const uiTokenAmount = amount === 0n ? { ...shown, uiAmount: null } : shown;
    balances.tokens.push({ accountIndex, mint, owner, programId: account.programAddress, uiTokenAmount });
  });
  return balances;
}

/** What left the accounts altogether: the fee, since programs can neither make nor destroy lamports. */
export function lamportsLost(before: Balances, after: Balances): bigint {
  const total = (balances: Balances) => balances.lamports.reduce((sum, lamports) => sum + lamports, 0n);
  return total(before) - total(after);
}
