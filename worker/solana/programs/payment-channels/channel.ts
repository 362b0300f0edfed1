import { blake3 } from '@noble/hashes/blake3.js';
import {
  type Address,
  fixCodecSize,
  getAddressCodec,
  getBytesCodec,
  getI64Codec,
  getStructCodec,
  getU8Codec,
  getU32Codec,
  getU64Codec,
  type ReadonlyUint8Array,
} from '@solana/kit';
import { sha256 } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { err, ok, type Result } from '#core/errors.ts';
import { addressSeed, type DerivedAddress, findDerivedAddress, u64Seed } from '../derived-address.ts';

/**
 * Generation of the payment-channels program. The current one records the rent payer and the opening slot, frees a closed channel's
 * account, and prefixes signed vouchers. The older one, which `@solana/mpp` 0.6 opens, does none of these.
 */
export interface ChannelProgram {
  generation: 'current' | 'older';
  address: Address;
  eventAuthority: Address;
  channelBytes: number;
  voucherBytes: number;
  treasuryOwners: Readonly<{ mainnet: Address | null; devnet: Address }>;
  hashDistribution(preimage: Uint8Array): Uint8Array;
}

const CURRENT: ChannelProgram = {
  generation: 'current',
  address: 'CHNLxYvVA28MJP9PrFuDXccuoGXAx7jBacfLEkahyGsX' as Address,
  eventAuthority: '75c2huVzDW1Eq4kD86by5392sjdJzuAT195XNgP2f2tX' as Address,
  channelBytes: 256,
  voucherBytes: 50,
  treasuryOwners: {
    mainnet: 'Cs2zdfUNonRdRGsiZUQQLdTxzxVvJZmgiX2mpLYKuEqP' as Address,
    devnet: '4zTeC5mVqWLruDexgU2mV66p9t5vCA9JyiZqdGDUspap' as Address,
  },
  hashDistribution: sha256,
};

const OLDER: ChannelProgram = {
  generation: 'older',
  address: 'GuoKrzaBiZnW5DvJ3yZVE7xHqbcBvaX9SH6P6Cn9gNvc' as Address,
  eventAuthority: '3L7tTKLfPKCFKhdnqYAuq1QsdtqfFm6GAHTsjrJtYDBP' as Address,
  channelBytes: 216,
  voucherBytes: 48,
  // Built for test clusters only: its source has a placeholder, the bytes 0xBE 0xEF sixteen times.
  treasuryOwners: { mainnet: null, devnet: 'DrLViEZBgqj6TgP8vKqu22uvLgV6p3tfkvCYfG8yqSUn' as Address },
  hashDistribution: blake3,
};

export const CHANNEL_PROGRAMS = { current: CURRENT, older: OLDER } as const;

export const findChannelProgram = (address: string): ChannelProgram | null =>
  Object.values(CHANNEL_PROGRAMS).find((program) => program.address === address) ?? null;

/** Maximum age of an opening in slots, and the time before a distributed channel's rent can be reclaimed. */
export const OPEN_SLOT_WINDOW = 1_500n;

// In byte order. The older program says "finalized" for sealed and never leaves a channel distributed.
const STATUSES = ['open', 'sealed', 'closing', 'distributed'] as const;
type ChannelStatus = (typeof STATUSES)[number];

/** Channel account. Amounts are base units of the mint. Invariant: 0 <= payoutWatermark <= settled <= deposit. */
export interface Channel {
  bump: number;
  status: ChannelStatus;
  salt: bigint;
  deposit: bigint;
  /** Highest cumulative amount accepted by the program. */
  settled: bigint;
  payoutWatermark: bigint;
  /** Time of the payer's close request in seconds. 0 unless closing. */
  closureStartedAt: bigint;
  /** Time of the payer's early refund in seconds. 0 if none. */
  payerWithdrawnAt: bigint;
  gracePeriodSeconds: number;
  distributionHash: ReadonlyUint8Array;
  payer: Address;
  payee: Address;
  authorizedSigner: Address;
  mint: Address;
  /** Receiver of the rent. On the older program always the payer. */
  rentPayer: Address;
  /** Null on the older program, which distinguishes channels by salt only. */
  openSlot: bigint | null;
}

export type ChannelProblem = 'wrong_length' | 'wrong_discriminator' | 'wrong_version' | 'wrong_status' | 'tombstone';

const DISCRIMINATOR = 1;
const VERSION = 1;
/** Remainder of a closed channel on the older program: one byte, forever, so that its address is never opened again. */
export const TOMBSTONE = Uint8Array.of(2);

const sharedFields = [
  ['discriminator', getU8Codec()],
  ['version', getU8Codec()],
  ['bump', getU8Codec()],
  ['status', getU8Codec()],
  ['salt', getU64Codec()],
  ['deposit', getU64Codec()],
  ['settled', getU64Codec()],
  ['payoutWatermark', getU64Codec()],
  ['closureStartedAt', getI64Codec()],
  ['payerWithdrawnAt', getI64Codec()],
  ['gracePeriodSeconds', getU32Codec()],
  ['distributionHash', fixCodecSize(getBytesCodec(), 32)],
  ['payer', getAddressCodec()],
  ['payee', getAddressCodec()],
  ['authorizedSigner', getAddressCodec()],
  ['mint', getAddressCodec()],
] as const;
const olderCodec = getStructCodec([...sharedFields]);
const currentCodec = getStructCodec([...sharedFields, ['rentPayer', getAddressCodec()], ['openSlot', getU64Codec()]]);

/** Decodes an account owned by the program. The caller has checked the owner. */
export function decodeChannel(program: ChannelProgram, data: ReadonlyUint8Array): Result<Channel, ChannelProblem> {
  if (data.length === TOMBSTONE.length && data[0] === TOMBSTONE[0]) return err('tombstone');
  if (data.length !== program.channelBytes) return err('wrong_length');
  if (data[0] !== DISCRIMINATOR) return err('wrong_discriminator');
  if (data[1] !== VERSION) return err('wrong_version');
  const status = STATUSES[data[3]!];
  if (status === undefined || (program.generation === 'older' && status === 'distributed')) return err('wrong_status');
  if (program.generation === 'current') {
    const { discriminator: _discriminator, version: _version, ...fields } = currentCodec.decode(data);
    return ok({ ...fields, status });
  }
  const { discriminator: _discriminator, version: _version, ...fields } = olderCodec.decode(data);
  return ok({ ...fields, status, rentPayer: fields.payer, openSlot: null });
}

export function encodeChannel(program: ChannelProgram, channel: Channel): Uint8Array {
  const fields = { ...channel, discriminator: DISCRIMINATOR, version: VERSION, status: STATUSES.indexOf(channel.status) };
  const bytes =
    program.generation === 'current' ? currentCodec.encode({ ...fields, openSlot: channel.openSlot ?? 0n }) : olderCodec.encode(fields);
  return Uint8Array.from(bytes);
}

type ChannelSeeds = Pick<Channel, 'payer' | 'payee' | 'mint' | 'authorizedSigner' | 'salt' | 'openSlot'>;

/** Address of a channel. An account is that channel only if its fields derive its own address. */
export function findChannelAddress(program: ChannelProgram, seeds: ChannelSeeds): DerivedAddress {
  const parties = [seeds.payer, seeds.payee, seeds.mint, seeds.authorizedSigner].map(addressSeed);
  const epoch = program.generation === 'current' ? [u64Seed(seeds.openSlot ?? 0n)] : [];
  return findDerivedAddress(program.address, [utf8('channel'), ...parties, u64Seed(seeds.salt), ...epoch]);
}
