import type { Address, Instruction } from '@solana/kit';
import { getAddMemoInstruction } from '@solana-program/memo';
import { base58 } from '#core/encoding.ts';
import { assert } from '#core/errors.ts';
import { MEMO_PROGRAM, type NetworkName, TOKEN_PROGRAM } from '../../assets.ts';
import type { Lifetime } from '../../checkout-transaction.ts';
import { type Operator, signed } from '../own-transaction.ts';
import type { Channel, ChannelProgram } from './channel.ts';
import {
  type ChannelAccount,
  distributeInstruction,
  reclaimInstruction,
  sealInstruction,
  settleAndSealInstruction,
  settleInstruction,
} from './instructions.ts';
import { sharesFor } from './opening.ts';
import { ed25519Instruction, encodeVoucher } from './vouchers.ts';

/** Channel with the service as payee, and the voucher to settle. Null if the settled amount is already the highest. */
export interface Settling {
  program: ChannelProgram;
  channelId: string;
  channel: Channel;
  merchantWallet: string;
  network: NetworkName;
  voucher: { cumulative: bigint; expiresAt: bigint; signature: Uint8Array } | null;
  memo: string | null;
}

/**
 * Builds the final transaction of a channel: last voucher, seal and distribution, so that one landing pays the merchant and refunds the
 * buyer. `hasPayout` = false defers the distribution. Signed, in wire form.
 */
export function buildSeal(
  settling: Settling & { isGraceOver: boolean },
  lifetime: Lifetime,
  operator: Operator,
  hasPayout = true,
): Uint8Array {
  return signed([...sealingOf(settling), ...(hasPayout ? payoutsOf(settling) : [])], lifetime, operator);
}

/** Empty for a sealed channel. After the grace period, the seal without a channel signer, which takes no voucher. */
function sealingOf(settling: Settling & { isGraceOver: boolean }): Instruction[] {
  const { program, voucher, channel, isGraceOver } = settling;
  if (channel.status === 'sealed') return [];
  if (isGraceOver) return [sealInstruction(program, accountOf(settling))];
  // The program reads the verified signature from the preceding instruction.
  const checked = voucher ? [checkOf(settling, voucher)] : [];
  return [...checked, settleAndSealInstruction(program, accountOf(settling), voucher && voucherOf(settling, voucher))];
}

/**
 * Builds a settlement of an open channel: raises the voucher and pays out. `hasPayout` = false defers the payout, and the voucher is safe
 * in the channel. At least one of both is required. Signed, in wire form.
 */
export function buildSettle(settling: Settling, lifetime: Lifetime, operator: Operator, hasPayout = true): Uint8Array {
  const { program, voucher } = settling;
  assert(voucher !== null || hasPayout, 'there is a voucher to settle, or money to pay out');
  const raising = voucher ? [checkOf(settling, voucher), settleInstruction(program, voucherOf(settling, voucher))] : [];
  return signed([...raising, ...(hasPayout ? payoutsOf(settling) : [])], lifetime, operator);
}

/** Frees the account of a distributed channel and returns the rent to its payer. Signed, in wire form. */
export const buildReclaim = (settling: Pick<Settling, 'program' | 'channelId' | 'channel'>, lifetime: Lifetime, operator: Operator) =>
  signed([reclaimInstruction(settling.program, accountOf(settling))], lifetime, operator);

const payoutsOf = (settling: Settling): Instruction[] => [
  distributeInstruction(settling.program, accountOf(settling), payoutOf(settling)),
  ...memoOf(settling),
];

const memoOf = ({ memo }: Settling): Instruction[] =>
  memo === null ? [] : [getAddMemoInstruction({ memo }, { programAddress: MEMO_PROGRAM as Address })];

const accountOf = ({ channelId, channel }: Pick<Settling, 'channelId' | 'channel'>): ChannelAccount => ({
  address: channelId as Address,
  channel,
  tokenProgram: TOKEN_PROGRAM as Address,
});

function payoutOf({ program, merchantWallet, network }: Settling) {
  const treasuryOwner = program.treasuryOwners[network];
  assert(treasuryOwner !== null, 'the program is deployed on this network');
  return { shares: sharesFor(merchantWallet), treasuryOwner };
}

const voucherOf = ({ channelId }: Settling, { cumulative, expiresAt }: NonNullable<Settling['voucher']>) => ({
  channelId: channelId as Address,
  cumulativeAmount: cumulative,
  expiresAt,
});

const checkOf = (settling: Settling, voucher: NonNullable<Settling['voucher']>): Instruction =>
  ed25519Instruction({
    publicKey: base58.decode(settling.channel.authorizedSigner),
    signature: voucher.signature,
    message: encodeVoucher(settling.program, voucherOf(settling, voucher)),
  });
