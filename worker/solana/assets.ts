import { isOnCurve } from '#core/crypto.ts';
import { base58Bytes } from '#core/encoding.ts';
import { err, ok, type Result } from '#core/errors.ts';
import type { Asset } from '#core/money.ts';

/** Supported networks by CAIP-2 id, with the accepted mints. Other mints are refused. */
export const NETWORKS = {
  mainnet: {
    caip2: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    genesisHash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
    usdcMint: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  },
  devnet: {
    caip2: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
    genesisHash: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
    usdcMint: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  },
} as const;
export type NetworkName = keyof typeof NETWORKS;
export type Network = (typeof NETWORKS)[NetworkName];

export const networkNameOf = (caip2: string): NetworkName | null =>
  (Object.keys(NETWORKS) as NetworkName[]).find((name) => NETWORKS[name].caip2 === caip2) ?? null;

/** Mint value for lamports, which have no mint. Wrapped SOL is a token and not the same. */
export const NATIVE_MINT = '';
export const isNative = (asset: Asset): boolean => asset === 'SOL';
export const mintOf = ({ usdcMint }: Pick<Network, 'usdcMint'>, asset: Asset): string => (isNative(asset) ? NATIVE_MINT : usdcMint);
/** Rent-exempt minimum of an account without data. A transaction that leaves less fails. */
export const RENT_EXEMPT_LAMPORTS = 890_880n;

export const SYSTEM_PROGRAM = '11111111111111111111111111111111';
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const ATA_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
export const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111';
export const LIGHTHOUSE_PROGRAM = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95';
/** Memo program for written memos, known to all wallets. */
export const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
/** All deployed generations, for reading. */
export const MEMO_PROGRAMS: readonly string[] = [
  MEMO_PROGRAM,
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  'Memo4c2pN8afCj432Lb7RMVKi9PbQnnW7ewFFaV3oAH',
];

/** Parses the address of a signing wallet: 32 bytes of base58 on the curve. Token accounts and PDAs are off the curve. */
export function parseWallet(text: string): Result<string, 'not_an_address' | 'off_curve'> {
  const bytes = base58Bytes(text, 32);
  if (!bytes) return err('not_an_address');
  return isOnCurve(bytes) ? ok(text) : err('off_curve');
}

export const isSignature = (text: unknown): text is string => typeof text === 'string' && base58Bytes(text, 64) !== null;
