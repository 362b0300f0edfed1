import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { type Address, address, getAddressDecoder } from '@solana/kit';
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';
import { ASSOCIATED_TOKEN_PROGRAM_ADDRESS, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';

export const DEVNET_GENESIS_HASH = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';
export const MAINNET_GENESIS_HASH = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';

export const USDC_MINT = address('4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU');
export const USDC_DECIMALS = 6;

export const SYSTEM_PROGRAM = SYSTEM_PROGRAM_ADDRESS;
export const TOKEN_PROGRAM = TOKEN_PROGRAM_ADDRESS;
export const TOKEN_2022_PROGRAM = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');
export const ASSOCIATED_TOKEN_PROGRAM = ASSOCIATED_TOKEN_PROGRAM_ADDRESS;
export const MEMO_PROGRAM = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
export const MEMO_V1_PROGRAM = address('Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo');
export const COMPUTE_BUDGET_PROGRAM = address('ComputeBudget111111111111111111111111111111');
export const LOOKUP_TABLE_PROGRAM = address('AddressLookupTab1e1111111111111111111111111');

export const SLOT_MS = 400;
export const SLOTS_PER_EPOCH = 432_000;
export const BLOCKHASH_VALID_SLOTS = 150;
export const LAMPORTS_PER_SIGNATURE = 5_000n;
export const TRANSACTION_BYTES_MAX = 1_232;
export const U64_MAX = 2n ** 64n - 1n;

/** Seed of the key that pays airdrops and is authority of every mint on this chain. Public, because it protects nothing of value. */
export const FAUCET_SEED = sha256(new TextEncoder().encode('local chain faucet'));
export const FAUCET_ADDRESS: Address = getAddressDecoder().decode(ed25519.getPublicKey(FAUCET_SEED));
export const FAUCET_LAMPORTS = 500_000_000n * 1_000_000_000n;
