import {
  type Address,
  getAddressDecoder,
  getAddressEncoder,
  getI64Encoder,
  getU64Encoder,
  type Instruction,
  type ReadonlyUint8Array,
} from '@solana/kit';
import type { ChannelProgram } from './channel.ts';

/** Cumulative amount a channel owes if settled before `expiresAt` in seconds (0: no expiry). */
export interface Voucher {
  channelId: Address;
  cumulativeAmount: bigint;
  expiresAt: bigint;
}

export const ED25519_PROGRAM = 'Ed25519SigVerify111111111111111111111111111' as Address;

// 'V' and the format version. Separates vouchers from other messages signed by the same key.
const MAGIC = Uint8Array.of(0x56, 0x01);
const BODY_BYTES = 48;
// Layout of one self-contained signature: header and offsets, then public key, signature and message.
const PUBLIC_KEY_OFFSET = 16;
const SIGNATURE_OFFSET = 48;
const MESSAGE_OFFSET = 112;
const THIS_INSTRUCTION = 0xffff;

/** Bytes that a voucher's signer signs: 50 on the current program, 48 on the older. */
export function encodeVoucher(program: ChannelProgram, voucher: Voucher): Uint8Array {
  const magic = program.generation === 'current' ? MAGIC : new Uint8Array();
  const channelId = getAddressEncoder().encode(voucher.channelId);
  const cumulative = getU64Encoder().encode(voucher.cumulativeAmount);
  return Uint8Array.of(...magic, ...channelId, ...cumulative, ...getI64Encoder().encode(voucher.expiresAt));
}

export function decodeVoucher(program: ChannelProgram, message: ReadonlyUint8Array): Voucher | null {
  if (message.length !== program.voucherBytes) return null;
  const prefixBytes = program.voucherBytes - BODY_BYTES;
  if (MAGIC.slice(0, prefixBytes).some((byte, index) => message[index] !== byte)) return null;
  const body = Uint8Array.from(message.slice(prefixBytes));
  const view = new DataView(body.buffer);
  return {
    channelId: getAddressDecoder().decode(body),
    cumulativeAmount: view.getBigUint64(32, true),
    expiresAt: view.getBigInt64(40, true),
  };
}

export interface SignedMessage {
  publicKey: ReadonlyUint8Array;
  signature: ReadonlyUint8Array;
  message: ReadonlyUint8Array;
}

/** Builds the instruction that makes the runtime verify a signature. The channel program reads the preceding instruction. */
export function ed25519Instruction({ publicKey, signature, message }: SignedMessage): Instruction & { data: Uint8Array } {
  const data = new Uint8Array(MESSAGE_OFFSET + message.length);
  data[0] = 1;
  const view = new DataView(data.buffer);
  offsetsFor(message.length).forEach((value, index) => {
    view.setUint16(2 + 2 * index, value, true);
  });
  data.set(publicKey, PUBLIC_KEY_OFFSET);
  data.set(signature, SIGNATURE_OFFSET);
  data.set(message, MESSAGE_OFFSET);
  return { programAddress: ED25519_PROGRAM, accounts: [], data };
}

/**
 * Parses an Ed25519 instruction. Null unless laid out exactly as the channel program requires: one signature, all parts inside, and a
 * message of the program's length. Does not verify the signature: the runtime does.
 */
export function parseEd25519Instruction(program: ChannelProgram, data: ReadonlyUint8Array): SignedMessage | null {
  if (data.length !== MESSAGE_OFFSET + program.voucherBytes || data[0] !== 1 || data[1] !== 0) return null;
  const bytes = Uint8Array.from(data);
  const view = new DataView(bytes.buffer);
  const isCanonical = offsetsFor(program.voucherBytes).every((value, index) => view.getUint16(2 + 2 * index, true) === value);
  if (!isCanonical) return null;
  return {
    publicKey: bytes.slice(PUBLIC_KEY_OFFSET, SIGNATURE_OFFSET),
    signature: bytes.slice(SIGNATURE_OFFSET, MESSAGE_OFFSET),
    message: bytes.slice(MESSAGE_OFFSET),
  };
}

const offsetsFor = (messageBytes: number): number[] => [
  SIGNATURE_OFFSET,
  THIS_INSTRUCTION,
  PUBLIC_KEY_OFFSET,
  THIS_INSTRUCTION,
  MESSAGE_OFFSET,
  messageBytes,
  THIS_INSTRUCTION,
];
