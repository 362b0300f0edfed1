import { base58 } from '#core/encoding.ts';
import {
  ATA_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  LIGHTHOUSE_PROGRAM,
  MEMO_PROGRAMS,
  NETWORKS,
  parseWallet,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from './assets.ts';

export type Unspendable = { reason: UnspendableReason; owner?: string };
export type UnspendableReason = 'off_curve' | 'token_account' | 'mint' | 'program' | 'sysvar' | 'own_key' | 'not_system_account';

export interface AccountFacts {
  owner: string;
  executable: boolean;
  data: Uint8Array;
}

const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
const SYSVAR_OWNER = 'Sysvar1111111111111111111111111111111111111';
const PROGRAMS: ReadonlySet<string> = new Set([
  ...[SYSTEM_PROGRAM, TOKEN_PROGRAM, TOKEN_2022_PROGRAM, ATA_PROGRAM, COMPUTE_BUDGET_PROGRAM, LIGHTHOUSE_PROGRAM, ...MEMO_PROGRAMS],
  'Stake11111111111111111111111111111111111111',
  'Vote111111111111111111111111111111111111111',
  'Config1111111111111111111111111111111111111',
  'AddressLookupTab1e1111111111111111111111111',
  'Ed25519SigVerify111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'Secp256r1SigVerify1111111111111111111111111',
  'NativeLoader1111111111111111111111111111111',
  'BPFLoader1111111111111111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'LoaderV411111111111111111111111111111111111',
]);
const MINTS: ReadonlySet<string> = new Set([
  ...Object.values(NETWORKS).map(({ usdcMint }): string => usdcMint),
  'So11111111111111111111111111111111111111112',
]);

/** Account sizes of the token program. With extensions, the byte after a token account's size distinguishes mint from token account. */
const MINT_BYTES = 82;
const TOKEN_ACCOUNT_BYTES = 165;
const TOKEN_OWNER = { from: 32, to: 64 };
const EXTENDED_MINT = 1;

export const PAYEE_DATA = { offset: 0, length: TOKEN_ACCOUNT_BYTES + 1 };

/**
 * Reason why an address cannot be paid, from the address and, if given, its account on chain. Null if none applies. A mint or token account
 * is reported as such, although both are usually off the curve too. Pure.
 */
export function unspendable(address: string, ownKeys: readonly string[], account: AccountFacts | null): Unspendable | null {
  if (ownKeys.includes(address)) return { reason: 'own_key' };
  if (MINTS.has(address)) return { reason: 'mint' };
  if (PROGRAMS.has(address)) return { reason: 'program' };
  if (/^Sysvar[0-9A-Za-z]*1{5,}$/.test(address)) return { reason: 'sysvar' };
  const seen = account && judgeAccount(account);
  if (seen && seen.reason !== 'not_system_account') return seen;
  return parseWallet(address).ok ? seen : { reason: 'off_curve' };
}

function judgeAccount({ owner, executable, data }: AccountFacts): Unspendable | null {
  if (owner === TOKEN_PROGRAM || owner === TOKEN_2022_PROGRAM) {
    const isMint = data.length === MINT_BYTES || data[TOKEN_ACCOUNT_BYTES] === EXTENDED_MINT;
    if (isMint) return { reason: 'mint' };
    if (data.length >= TOKEN_ACCOUNT_BYTES)
      return { reason: 'token_account', owner: base58.encode(data.slice(TOKEN_OWNER.from, TOKEN_OWNER.to)) };
  }
  if (executable) return { reason: 'program' };
  if (owner === SYSVAR_OWNER) return { reason: 'sysvar' };
  return owner === SYSTEM_PROGRAM ? null : { reason: 'not_system_account' };
}
