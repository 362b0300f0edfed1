import { isOnCurve } from '#core/crypto.ts';
import { base58Bytes } from '#core/encoding.ts';
import { err, ok, type Result } from '#core/errors.ts';
import type { Asset } from '#core/money.ts';

/** The networks we know, by their CAIP-2 ids, and the mints we accept there: allow-listed, never guessed. */
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

/** Our name of a network by its CAIP-2 id; null for one we do not know. */
export const networkNameOf = (caip2: string): NetworkName | null =>
  (Object.keys(NETWORKS) as NetworkName[]).find((name) => NETWORKS[name].caip2 === caip2) ?? null;

/** Stands where a mint stands for a token: lamports have none. Wrapped SOL is a token, and something else. */
export const NATIVE_MINT = '';
/** Goes to the wallet itself: there is no token account to hold it. */
export const isNative = (asset: Asset): boolean => asset === 'SOL';
export const mintOf = ({ usdcMint }: Pick<Network, 'usdcMint'>, asset: Asset): string => (isNative(asset) ? NATIVE_MINT : usdcMint);
/** What the chain demands that an account without data holds; less makes the whole transaction fail. */
export const RENT_EXEMPT_LAMPORTS = 890_880n;

export const SYSTEM_PROGRAM = '11111111111111111111111111111111';
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const ATA_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
export const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111';
export const LIGHTHOUSE_PROGRAM = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95';
/** The memo program every wallet knows; what we write. */
export const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
/** All deployed generations; what we read. */
export const MEMO_PROGRAMS: readonly string[] = [
  MEMO_PROGRAM,
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  'Memo4c2pN8afCj432Lb7RMVKi9PbQnnW7ewFFaV3oAH',
];

/** The address of a wallet that can sign: 32 bytes of base58 on the curve. Token accounts and PDAs are not wallets. */
export function parseWallet(text: string): Result<string, 'not_an_address' | 'off_curve'> {
  const bytes = base58Bytes(text, 32);
  if (!bytes) return err('not_an_address');
  return isOnCurve(bytes) ? ok(text) : err('off_curve');
}

/** True for the text of a transaction signature: 64 bytes of base58. */
export const isSignature = (text: unknown): text is string => typeof text === 'string' && base58Bytes(text, 64) !== null;
