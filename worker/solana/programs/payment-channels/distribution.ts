import { type Address, getAddressDecoder, getAddressEncoder, getU16Encoder, getU32Encoder, type ReadonlyUint8Array } from '@solana/kit';
import { err, ok, type Result } from '#core/errors.ts';
import type { ChannelProgram } from './channel.ts';

export interface Share {
  recipient: Address;
  bps: number;
}

export type DistributionProblem = 'wrong_length' | 'too_many' | 'invalid_share' | 'duplicate_recipient';

const RECIPIENTS_MAX = 32;
export const BPS_MAX = 10_000;
const COUNT_BYTES = 4;
const ENTRY_BYTES = 34;

/** Bytes that a channel commits to at its opening and that every distribution repeats. */
export function encodeDistribution(shares: readonly Share[]): Uint8Array {
  const entries = shares.flatMap(({ recipient, bps }) => [...getAddressEncoder().encode(recipient), ...getU16Encoder().encode(bps)]);
  return Uint8Array.of(...getU32Encoder().encode(shares.length), ...entries);
}

/** Decodes the distribution under the program's rules: exact length, at most 32 distinct recipients, 1 to 10,000 bps in total. */
export function decodeDistribution(data: ReadonlyUint8Array): Result<Share[], DistributionProblem> {
  if (data.length < COUNT_BYTES) return err('wrong_length');
  const view = new DataView(Uint8Array.from(data).buffer);
  const count = view.getUint32(0, true);
  if (count > RECIPIENTS_MAX) return err('too_many');
  if (data.length !== COUNT_BYTES + count * ENTRY_BYTES) return err('wrong_length');
  const shares = Array.from({ length: count }, (_, index): Share => {
    const offset = COUNT_BYTES + index * ENTRY_BYTES;
    return { recipient: getAddressDecoder().decode(data, offset), bps: view.getUint16(offset + 32, true) };
  });
  for (const [index, { recipient, bps }] of shares.entries()) {
    if (bps === 0) return err('invalid_share');
    if (shares.slice(0, index).some((earlier) => earlier.recipient === recipient)) return err('duplicate_recipient');
  }
  return remainderBps(shares) < 0 ? err('invalid_share') : ok(shares);
}

export const hashShares = (program: ChannelProgram, shares: readonly Share[]): Uint8Array =>
  program.hashDistribution(encodeDistribution(shares));

export const remainderBps = (shares: readonly Share[]): number => BPS_MAX - shares.reduce((sum, { bps }) => sum + bps, 0);

/**
 * Amount of a share when the payout watermark moves from `paidOut` to `settled`. Computed from cumulative amounts, so that many small
 * distributions pay the same as one large one.
 */
export const shareBetween = (paidOut: bigint, settled: bigint, bps: number): bigint =>
  (settled * BigInt(bps)) / BigInt(BPS_MAX) - (paidOut * BigInt(bps)) / BigInt(BPS_MAX);
