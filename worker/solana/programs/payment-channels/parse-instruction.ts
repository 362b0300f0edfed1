import type { Address } from '@solana/kit';
import { err, ok, type Result } from '#core/errors.ts';
import { type InstructionLayout, nameAccounts, type RawInstruction } from '../instruction-layout.ts';
import type { ChannelProgram } from './channel.ts';
import { type DistributionProblem, decodeDistribution, type Share } from './distribution.ts';
import {
  DISTRIBUTE,
  OLDER_DISTRIBUTE,
  OLDER_OPEN,
  OPEN,
  RECLAIM,
  REQUEST_CLOSE,
  SEAL,
  SETTLE,
  SETTLE_AND_SEAL,
  TOP_UP,
  WITHDRAW_PAYER,
} from './layouts.ts';
import { decodeVoucher, type Voucher } from './vouchers.ts';

type Accounts<Layout> = Layout extends InstructionLayout<infer Name> ? Record<Name, Address> : never;

export type ChannelInstruction =
  | {
      name: 'open';
      accounts: Accounts<typeof OPEN>;
      salt: bigint;
      deposit: bigint;
      gracePeriodSeconds: number;
      openSlot: bigint | null;
      shares: Share[];
    }
  /** `voucher` is the older program's copy of the signed message. Null on the current one, which reads the signed bytes. */
  | { name: 'settle'; accounts: Accounts<typeof SETTLE>; voucher: Voucher | null }
  | { name: 'topUp'; accounts: Accounts<typeof TOP_UP>; amount: bigint }
  | { name: 'settleAndSeal'; accounts: Accounts<typeof SETTLE_AND_SEAL>; hasVoucher: boolean; voucher: Voucher | null }
  | { name: 'requestClose'; accounts: Accounts<typeof REQUEST_CLOSE> }
  | { name: 'seal'; accounts: Accounts<typeof SEAL> }
  | { name: 'distribute'; accounts: Accounts<typeof DISTRIBUTE>; shares: Share[]; shareTokenAccounts: readonly Address[] }
  | { name: 'withdrawPayer'; accounts: Accounts<typeof WITHDRAW_PAYER> }
  | { name: 'reclaim'; accounts: Accounts<typeof RECLAIM> };

export type ChannelInstructionProblem = 'unknown' | 'wrong_data' | 'wrong_accounts' | DistributionProblem;

type Parsed = Result<ChannelInstruction, ChannelInstructionProblem>;
type Parse = (program: ChannelProgram, args: Uint8Array, accounts: readonly Address[]) => Parsed;

const PARSERS: Readonly<Record<number, Parse>> = {
  [OPEN.discriminator]: parseOpen,
  [SETTLE.discriminator]: (program, args, accounts) => {
    const voucher = program.generation === 'older' ? decodeVoucher(program, args) : null;
    if (program.generation === 'older' && voucher === null) return err('wrong_data');
    return withAccounts(SETTLE, accounts, (named) => ({ name: 'settle', accounts: named, voucher }));
  },
  [TOP_UP.discriminator]: (_program, args, accounts) => {
    if (args.length !== 8) return err('wrong_data');
    const amount = viewOf(args).getBigUint64(0, true);
    return withAccounts(TOP_UP, accounts, (named) => ({ name: 'topUp', accounts: named, amount }));
  },
  [SETTLE_AND_SEAL.discriminator]: (program, args, accounts) => {
    const copyBytes = program.generation === 'older' ? program.voucherBytes : 0;
    if (args.length !== copyBytes + 1) return err('wrong_data');
    const hasVoucher = args[copyBytes] !== 0;
    const voucher = hasVoucher && copyBytes > 0 ? decodeVoucher(program, args.slice(0, copyBytes)) : null;
    return withAccounts(SETTLE_AND_SEAL, accounts, (named) => {
      return { name: 'settleAndSeal', accounts: named, hasVoucher, voucher };
    });
  },
  [REQUEST_CLOSE.discriminator]: (_program, _args, accounts) =>
    withAccounts(REQUEST_CLOSE, accounts, (named) => ({ name: 'requestClose', accounts: named })),
  [SEAL.discriminator]: (_program, _args, accounts) => withAccounts(SEAL, accounts, (named) => ({ name: 'seal', accounts: named })),
  [DISTRIBUTE.discriminator]: parseDistribute,
  [WITHDRAW_PAYER.discriminator]: (_program, _args, accounts) =>
    withAccounts(WITHDRAW_PAYER, accounts, (named) => ({ name: 'withdrawPayer', accounts: named })),
  [RECLAIM.discriminator]: (program, _args, accounts) => {
    if (program.generation === 'older') return err('unknown');
    return withAccounts(RECLAIM, accounts, (named) => ({ name: 'reclaim', accounts: named }));
  },
};

/** Parses an instruction of the program, data first and accounts second, like the program. */
export function parseChannelInstruction(program: ChannelProgram, { accounts, data }: RawInstruction): Parsed {
  const parse = PARSERS[data[0] ?? -1];
  return parse === undefined ? err('unknown') : parse(program, Uint8Array.from(data.slice(1)), accounts);
}

function parseOpen(program: ChannelProgram, args: Uint8Array, accounts: readonly Address[]): Parsed {
  const isCurrent = program.generation === 'current';
  const headerBytes = isCurrent ? 28 : 20;
  if (args.length < headerBytes) return err('wrong_data');
  const shares = decodeDistribution(args.slice(headerBytes));
  if (!shares.ok) return shares;
  const view = viewOf(args);
  const terms = {
    salt: view.getBigUint64(0, true),
    deposit: view.getBigUint64(8, true),
    gracePeriodSeconds: view.getUint32(16, true),
    openSlot: isCurrent ? view.getBigUint64(20, true) : null,
    shares: shares.value,
  };
  return withAccounts(isCurrent ? OPEN : OLDER_OPEN, accounts, (named) => {
    return { name: 'open', accounts: withRentPayer(named), ...terms };
  });
}

function parseDistribute(program: ChannelProgram, args: Uint8Array, accounts: readonly Address[]): Parsed {
  const shares = decodeDistribution(args);
  if (!shares.ok) return shares;
  const found = nameAccounts(program.generation === 'current' ? DISTRIBUTE : OLDER_DISTRIBUTE, accounts);
  if (found === null) return err('wrong_accounts');
  return ok({ name: 'distribute', accounts: withRentPayer(found.named), shares: shares.value, shareTokenAccounts: found.rest });
}

function withAccounts<Name extends string>(
  layout: InstructionLayout<Name>,
  accounts: readonly Address[],
  finish: (named: Record<Name, Address>) => ChannelInstruction,
): Parsed {
  const found = nameAccounts(layout, accounts);
  return found === null || found.rest.length > 0 ? err('wrong_accounts') : ok(finish(found.named));
}

const withRentPayer = <Named extends { payer: Address; rentPayer: Address }>(named: Named): Named => ({
  ...named,
  rentPayer: named.rentPayer ?? named.payer,
});

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
