import { type Address, getAddressDecoder, type Instruction } from '@solana/kit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventAuthorityOf } from '#solana/programs/derived-address.ts';
import {
  CHANNEL_PROGRAMS,
  type Channel,
  type ChannelProgram,
  decodeChannel,
  encodeChannel,
  findChannelAddress,
  findChannelProgram,
  TOMBSTONE,
} from '#solana/programs/payment-channels/channel.ts';
import {
  BPS_MAX,
  decodeDistribution,
  encodeDistribution,
  hashShares,
  remainderBps,
  type Share,
  shareBetween,
} from '#solana/programs/payment-channels/distribution.ts';
import { CHANNEL_ERRORS, findChannelError } from '#solana/programs/payment-channels/errors.ts';
import * as build from '#solana/programs/payment-channels/instructions.ts';
import { parseChannelInstruction } from '#solana/programs/payment-channels/parse-instruction.ts';
import {
  decodeVoucher,
  ed25519Instruction,
  encodeVoucher,
  parseEd25519Instruction,
  type Voucher,
} from '#solana/programs/payment-channels/vouchers.ts';

const programs = fc.constantFrom<ChannelProgram>(...Object.values(CHANNEL_PROGRAMS));
const addresses = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => getAddressDecoder().decode(bytes));
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const i64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const seconds = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const hashes = fc.uint8Array({ minLength: 32, maxLength: 32 });

const shareLists: fc.Arbitrary<Share[]> = fc.uniqueArray(
  fc.record({ recipient: addresses, bps: fc.integer({ min: 1, max: Math.floor(BPS_MAX / 32) }) }),
  {
    maxLength: 32,
    selector: ({ recipient }) => recipient,
  },
);

const channelOf = (program: ChannelProgram): fc.Arbitrary<Channel> => {
  const isCurrent = program.generation === 'current';
  const statuses = ['open', 'sealed', 'closing', ...(isCurrent ? ['distributed'] : [])] as Channel['status'][];
  return fc
    .record({
      bump: fc.nat(255),
      status: fc.constantFrom(...statuses),
      salt: u64,
      deposit: u64,
      settled: u64,
      payoutWatermark: u64,
      closureStartedAt: i64,
      payerWithdrawnAt: i64,
      gracePeriodSeconds: seconds,
      distributionHash: hashes,
      payer: addresses,
      payee: addresses,
      authorizedSigner: addresses,
      mint: addresses,
      rentPayer: addresses,
      openSlot: u64,
    })
    .map((channel) => (isCurrent ? channel : { ...channel, rentPayer: channel.payer, openSlot: null }));
};
const laidOut = programs.chain((program) => fc.record({ program: fc.constant(program), channel: channelOf(program) }));

const rawOf = ({ accounts, data }: Instruction) => ({ accounts: accounts!.map(({ address }) => address), data: data! });

describe('channel account codec', () => {
  it('an encoded channel decodes to itself, in exactly the byte length of its program', () => {
    fc.assert(
      fc.property(laidOut, ({ program, channel }) => {
        const bytes = encodeChannel(program, channel);
        expect(bytes.length).toBe(program.channelBytes);
        expect(decodeChannel(program, bytes)).toEqual({ ok: true, value: channel });
      }),
    );
  });

  it('another length, discriminator, version or status is refused, and a tombstone is recognised', () => {
    fc.assert(
      fc.property(laidOut, fc.uint8Array({ maxLength: 300 }), fc.integer({ min: 4, max: 255 }), ({ program, channel }, other, byte) => {
        const bytes = encodeChannel(program, channel);
        fc.pre(other.length !== program.channelBytes && other.length !== 1);
        expect(decodeChannel(program, other)).toEqual({ ok: false, reason: 'wrong_length' });
        expect(decodeChannel(program, bytes.with(0, byte))).toEqual({ ok: false, reason: 'wrong_discriminator' });
        expect(decodeChannel(program, bytes.with(1, byte))).toEqual({ ok: false, reason: 'wrong_version' });
        expect(decodeChannel(program, bytes.with(3, byte))).toEqual({ ok: false, reason: 'wrong_status' });
        expect(decodeChannel(program, TOMBSTONE)).toEqual({ ok: false, reason: 'tombstone' });
        expect(decodeChannel(program, Uint8Array.of(1))).toEqual({ ok: false, reason: 'wrong_length' });
      }),
    );
    const older = CHANNEL_PROGRAMS.older;
    expect(decodeChannel(older, new Uint8Array(older.channelBytes).with(0, 1).with(1, 1).with(3, 3))).toMatchObject({
      reason: 'wrong_status',
    });
  });

  it('the channel address derives from its seeds and from no other field', () => {
    fc.assert(
      fc.property(laidOut, ({ program, channel }) => {
        const { address } = findChannelAddress(program, channel);
        const others = { ...channel, bump: 0, status: 'open', deposit: 1n, settled: 2n, gracePeriodSeconds: 3 } as const;
        expect(findChannelAddress(program, others).address).toBe(address);
        expect(findChannelAddress(program, { ...channel, salt: channel.salt ^ 1n }).address).not.toBe(address);
        const later = findChannelAddress(program, { ...channel, openSlot: (channel.openSlot ?? 0n) ^ 1n });
        expect(later.address === address).toBe(program.generation === 'older');
      }),
      { numRuns: 20 },
    );
  });
});

describe('channel programs', () => {
  it('each program is found by its address, with its derived event authority', () => {
    for (const program of Object.values(CHANNEL_PROGRAMS)) {
      expect(findChannelProgram(program.address)).toBe(program);
      expect(eventAuthorityOf(program.address)).toBe(program.eventAuthority);
    }
    expect(findChannelProgram('11111111111111111111111111111111')).toBeNull();
    const placeholder = getAddressDecoder().decode(Uint8Array.from({ length: 32 }, (_, index) => (index % 2 === 0 ? 0xbe : 0xef)));
    expect(CHANNEL_PROGRAMS.older.treasuryOwners).toEqual({ mainnet: null, devnet: placeholder });
  });

  it('each program names its own error codes', () => {
    const { current, older } = CHANNEL_PROGRAMS;
    for (const [name, code] of Object.entries(CHANNEL_ERRORS)) expect(findChannelError(current, code)).toBe(name);
    expect(findChannelError(older, 2201)).toBeNull();
    expect(findChannelError(older, 236)).toBe('voucherMessageMismatch');
    expect(findChannelError(current, 9_999)).toBeNull();
  });
});

describe('distribution codec', () => {
  it('an encoded distribution decodes to itself and hashes per program', () => {
    fc.assert(
      fc.property(shareLists, (shares) => {
        expect(decodeDistribution(encodeDistribution(shares))).toEqual({ ok: true, value: shares });
        expect(remainderBps(shares) + shares.reduce((sum, { bps }) => sum + bps, 0)).toBe(BPS_MAX);
        expect(hashShares(CHANNEL_PROGRAMS.current, shares)).not.toEqual(hashShares(CHANNEL_PROGRAMS.older, shares));
      }),
    );
  });

  it('a distribution with missing or extra bytes is refused', () => {
    fc.assert(
      fc.property(shareLists, fc.integer({ min: 1, max: 34 }), (shares, bytes) => {
        const written = encodeDistribution(shares);
        expect(decodeDistribution(Uint8Array.of(...written, ...new Uint8Array(bytes)))).toMatchObject({ ok: false });
        expect(decodeDistribution(written.slice(0, -Math.min(bytes, 3)))).toEqual({ ok: false, reason: 'wrong_length' });
      }),
    );
  });

  it('shares never exceed the settled amount, and many steps pay exactly what one step pays', () => {
    fc.assert(
      fc.property(shareLists, fc.array(fc.bigInt({ min: 0n, max: 2n ** 60n }), { minLength: 1, maxLength: 6 }), (shares, steps) => {
        const rises = [...steps].sort((a, b) => (a < b ? -1 : 1));
        const total = rises.at(-1)!;
        let paid = 0n;
        for (const bps of [...shares.map((share) => share.bps), remainderBps(shares)]) {
          let before = 0n;
          let sum = 0n;
          for (const settled of rises) {
            sum += shareBetween(before, settled, bps);
            before = settled;
          }
          expect(sum).toBe(shareBetween(0n, total, bps));
          paid += sum;
        }
        expect(total - paid).toBeGreaterThanOrEqual(0n);
        // Rounding down leaves less than one base unit for each party.
        expect(total - paid).toBeLessThanOrEqual(BigInt(shares.length));
      }),
    );
  });
});

describe('voucher codec', () => {
  const vouchers: fc.Arbitrary<Voucher> = fc.record({ channelId: addresses, cumulativeAmount: u64, expiresAt: i64 });

  it('an encoded voucher decodes to itself, and other bytes are refused', () => {
    fc.assert(
      fc.property(programs, vouchers, fc.uint8Array({ maxLength: 60 }), (program, voucher, other) => {
        const bytes = encodeVoucher(program, voucher);
        expect(bytes.length).toBe(program.voucherBytes);
        expect(decodeVoucher(program, bytes)).toEqual(voucher);
        fc.pre(other.length !== program.voucherBytes);
        expect(decodeVoucher(program, other)).toBeNull();
        if (program.generation === 'current') expect(decodeVoucher(program, bytes.with(0, 0x57))).toBeNull();
      }),
    );
  });

  it('a voucher is read from its Ed25519 instruction, and refused if one offset differs', () => {
    const signatures = fc.uint8Array({ minLength: 64, maxLength: 64 });
    fc.assert(
      fc.property(
        programs,
        vouchers,
        hashes,
        signatures,
        fc.integer({ min: 0, max: 15 }),
        (program, voucher, publicKey, signature, offset) => {
          const message = encodeVoucher(program, voucher);
          const { data } = ed25519Instruction({ publicKey, signature, message });
          expect(data.length).toBe(program.generation === 'current' ? 162 : 160);
          expect(parseEd25519Instruction(program, data)).toEqual({ publicKey, signature, message });
          expect(parseEd25519Instruction(program, data.with(offset, data[offset]! ^ 1))).toBeNull();
          expect(parseEd25519Instruction(program, Uint8Array.of(...data, 0))).toBeNull();
        },
      ),
    );
  });
});

describe('channel instruction codec', () => {
  const tokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' as Address;
  const parse = (program: ChannelProgram, instruction: Instruction) => {
    expect(instruction.programAddress).toBe(program.address);
    return parseChannelInstruction(program, rawOf(instruction));
  };

  it('a built instruction parses into its inputs', () => {
    fc.assert(
      fc.property(laidOut, shareLists, addresses, fc.option(u64), ({ program, channel }, shares, treasuryOwner, last) => {
        const address = findChannelAddress(program, channel).address;
        const account = { address, channel, tokenProgram };
        const terms = {
          salt: channel.salt,
          deposit: channel.deposit,
          gracePeriodSeconds: channel.gracePeriodSeconds,
          openSlot: channel.openSlot,
        };
        const opening = parse(program, build.openChannelInstruction(program, { ...channel, shares, tokenProgram }));
        expect(opening).toMatchObject({ ok: true, value: { name: 'open', ...terms, shares } });
        const { payer, payee, mint, rentPayer, authorizedSigner } = channel;
        expect(opening).toMatchObject({ value: { accounts: { payer, payee, mint, rentPayer, authorizedSigner, channel: address } } });

        const voucher = last === null ? null : { channelId: address, cumulativeAmount: last, expiresAt: 7n };
        const copy = program.generation === 'older' ? voucher : null;
        const sealing = parse(program, build.settleAndSealInstruction(program, account, voucher));
        expect(sealing).toMatchObject({ ok: true, value: { hasVoucher: voucher !== null, voucher: copy, accounts: { payee } } });
        if (voucher !== null) expect(parse(program, build.settleInstruction(program, voucher))).toMatchObject({ value: { voucher: copy } });

        const payout = parse(program, build.distributeInstruction(program, account, { shares, treasuryOwner }));
        expect(payout).toMatchObject({ ok: true, value: { shares, accounts: { channel: address, payer, rentPayer } } });
        expect(payout.ok && payout.value.name === 'distribute' && payout.value.shareTokenAccounts.length).toBe(shares.length);
        const named = { channel: address, payer };
        expect(parse(program, build.topUpInstruction(program, account, channel.deposit))).toMatchObject({
          value: { amount: channel.deposit, accounts: named },
        });
        expect(parse(program, build.requestCloseInstruction(program, account))).toMatchObject({
          value: { name: 'requestClose', accounts: named },
        });
        expect(parse(program, build.withdrawPayerInstruction(program, account))).toMatchObject({
          value: { name: 'withdrawPayer', accounts: named },
        });
        expect(parse(program, build.sealInstruction(program, account))).toMatchObject({
          value: { name: 'seal', accounts: { channel: address } },
        });
        const reclaim = parse(program, build.reclaimInstruction(program, account));
        expect(reclaim).toMatchObject(
          program.generation === 'current' ? { value: { accounts: { rentPayer } } } : { ok: false, reason: 'unknown' },
        );
      }),
      { numRuns: 20 },
    );
  });

  it('arbitrary bytes parse or are refused, and never throw', () => {
    fc.assert(
      fc.property(
        programs,
        fc.array(addresses, { maxLength: 18 }),
        fc.uint8Array({ maxLength: 120 }),
        fc.nat(12),
        (program, accounts, rest, first) => {
          const parsed = parseChannelInstruction(program, { accounts, data: Uint8Array.of(first, ...rest) });
          expect(typeof parsed.ok).toBe('boolean');
          expect(parseChannelInstruction(program, { accounts, data: new Uint8Array() })).toEqual({ ok: false, reason: 'unknown' });
        },
      ),
    );
  });
});
