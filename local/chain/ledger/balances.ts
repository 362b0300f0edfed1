import type { Address } from '@solana/kit';
import type { Machine } from './machine.ts';
import { findDecimals, isTokenAccount, isTokenProgram, readHolding, toUiAmount, type UiTokenAmount } from './tokens.ts';

interface TokenBalance {
  accountIndex: number;
  mint: Address;
  owner: Address;
  programId: Address;
  uiTokenAmount: UiTokenAmount;
}

export interface Balances {
  lamports: bigint[];
  tokens: TokenBalance[];
}

/** Reads the balances of a transaction's accounts. Like a node, lists tokens only if a token program is among the accounts. */
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

/** Returns the lamports missing in total, which are the fee: programs can neither create nor destroy lamports. */
export function lamportsLost(before: Balances, after: Balances): bigint {
  const total = (balances: Balances) => balances.lamports.reduce((sum, lamports) => sum + lamports, 0n);
  return total(before) - total(after);
}
