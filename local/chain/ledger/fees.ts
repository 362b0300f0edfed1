import type { ReadonlyUint8Array } from '@solana/kit';
import type { BlockhashWindow } from './blockhashes.ts';
import type { ChainClock } from './clock.ts';
import { type CompiledInstruction, decodeMessage } from './decode-transaction.ts';
import { COMPUTE_BUDGET_PROGRAM, LAMPORTS_PER_SIGNATURE, SYSTEM_PROGRAM } from './network.ts';

const UNITS_MAX = 1_400_000n;
const UNITS_PER_INSTRUCTION = 200_000n;
const UNITS_PER_BUILTIN = 3_000n;
const MICRO_LAMPORTS = 1_000_000n;

/** Signature-verifying programs. The first data byte is the number of signatures, each charged like one of the message's own. */
export const SIGNATURE_PROGRAMS: readonly string[] = [
  'Ed25519SigVerify111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'Secp256r1SigVerify1111111111111111111111111',
];

interface PricedBy {
  blockhashes: BlockhashWindow;
  clock: ChainClock;
}

/** Returns the fee of a message in lamports. Null if its blockhash has expired. */
export function feeOfMessage(chain: PricedBy, bytes: ReadonlyUint8Array): bigint | null {
  const { message, instructions } = decodeMessage(bytes);
  if (!chain.blockhashes.isValid(message.lifetimeToken, chain.clock.slot)) return null;
  const programOf = (instruction: CompiledInstruction) => message.staticAccounts[instruction.programIdIndex];
  const checked = instructions.filter((instruction) => SIGNATURE_PROGRAMS.includes(programOf(instruction) ?? ''));
  const signatures = checked.reduce((sum, { data }) => sum + (data[0] ?? 0), message.header.numSignerAccounts);
  return BigInt(signatures) * LAMPORTS_PER_SIGNATURE + prioritizationFee(instructions, programOf);
}

function prioritizationFee(
  instructions: CompiledInstruction[],
  programOf: (instruction: CompiledInstruction) => string | undefined,
): bigint {
  let price = 0n;
  let limit: bigint | null = null;
  let assumedLimit = 0n;
  for (const instruction of instructions) {
    const program = programOf(instruction);
    const data = Buffer.from(instruction.data);
    const isBudget = program === COMPUTE_BUDGET_PROGRAM;
    if (isBudget && data[0] === 2 && data.length >= 5) limit = BigInt(data.readUInt32LE(1));
    if (isBudget && data[0] === 3 && data.length >= 9) price = data.readBigUInt64LE(1);
    assumedLimit += isBudget || program === SYSTEM_PROGRAM ? UNITS_PER_BUILTIN : UNITS_PER_INSTRUCTION;
  }
  const wanted = limit ?? assumedLimit;
  const units = wanted > UNITS_MAX ? UNITS_MAX : wanted;
  return (price * units + MICRO_LAMPORTS - 1n) / MICRO_LAMPORTS;
}
