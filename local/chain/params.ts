import { type Address, isAddress, isSignature, type Signature } from '@solana/kit';
import { invalidParams } from './ledger/errors.ts';
import { U64_MAX } from './ledger/network.ts';

export type Params = readonly unknown[];
export type Config = Readonly<Record<string, unknown>>;
export type Commitment = 'processed' | 'confirmed' | 'finalized';

export function readAddress(value: unknown): Address {
  if (typeof value !== 'string') throw invalidParams('Invalid params: expected an address as a base-58 string');
  if (!isAddress(value)) throw invalidParams('Invalid param: Invalid');
  return value;
}

export function readAddresses(value: unknown, max: number): Address[] {
  return readList(value, max).map(readAddress);
}

export function readSignature(value: unknown): Signature {
  if (typeof value !== 'string') throw invalidParams('Invalid params: expected a signature as a base-58 string');
  if (!isSignature(value)) throw invalidParams('Invalid param: Invalid');
  return value;
}

export function readList(value: unknown, max: number): readonly unknown[] {
  if (!Array.isArray(value)) throw invalidParams('Invalid params: expected a list');
  if (value.length > max) throw invalidParams(`Too many inputs provided; max ${max}`);
  return value;
}

export function readConfig(value: unknown): Config {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw invalidParams('Invalid params: expected an object');
  return value as Config;
}

/** Reads the commitment. A node's default is `finalized`. */
export function readCommitment(config: Config): Commitment {
  const value = config.commitment ?? 'finalized';
  if (value === 'processed' || value === 'confirmed' || value === 'finalized') return value;
  throw invalidParams(`Invalid params: unknown commitment \`${String(value)}\``);
}

/** Reads the commitment of history methods, which refuse `processed`. */
export function readHistoryCommitment(config: Config): 'confirmed' | 'finalized' {
  const commitment = readCommitment(config);
  if (commitment === 'processed') throw invalidParams('Method does not support commitment below `confirmed`');
  return commitment;
}

export function readChoice<T extends string>(value: unknown, allowed: readonly T[], fallback: T): T {
  if (value === undefined || value === null) return fallback;
  const choice = allowed.find((option) => option === value);
  if (choice === undefined)
    throw invalidParams(`Invalid params: unknown variant \`${String(value)}\`, expected one of ${allowed.join(', ')}`);
  return choice;
}

export function readCount(value: unknown, max = Number.MAX_SAFE_INTEGER): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > max) {
    throw invalidParams(`Invalid params: expected a whole number from 0 to ${max}`);
  }
  return value;
}

/** Reads an unsigned 64-bit amount from a JSON number or a decimal string. */
export function readU64(value: unknown): bigint {
  const isInteger = typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value));
  const isDigits = typeof value === 'string' && /^\d{1,20}$/.test(value);
  const amount = isInteger || isDigits ? BigInt(value as string | number | bigint) : -1n;
  if (amount < 0n || amount > U64_MAX) throw invalidParams('Invalid params: expected an unsigned 64-bit integer');
  return amount;
}

export function readFlag(value: unknown, fallback = false): boolean {
  if (value === undefined || value === null) return fallback;
  if (typeof value !== 'boolean') throw invalidParams('Invalid params: expected a boolean');
  return value;
}
