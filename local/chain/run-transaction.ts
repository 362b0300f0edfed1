import { verifyEd25519 } from '#core/crypto.ts';
import { base58 } from '#core/encoding.ts';
import { ProgramFailure } from '#solana/programs/program-failure.ts';
import type { DecodedTransaction } from './ledger/decode-transaction.ts';
import { describeTransactionError, type TransactionErrorJson } from './ledger/errors.ts';
import { SIGNATURE_PROGRAMS } from './ledger/fees.ts';
import { type Execution, type Machine, refuse, type Simulation } from './ledger/machine.ts';
import { COMPUTE_BUDGET_PROGRAM } from './ledger/network.ts';
import { MODELS } from './models.ts';
import { chargeFee, runNatively } from './programs/native-run.ts';
import { ProgramCall, type ProgramModel, type Trace } from './programs/program-call.ts';
import { TransactionFailure } from './programs/program-failure.ts';
import { Snapshot } from './programs/snapshot.ts';

// Programs that affect the fee in addition to the transaction's signatures: its price and verified signatures.
const PRICED_PROGRAMS: readonly string[] = [COMPUTE_BUDGET_PROGRAM, ...SIGNATURE_PROGRAMS];

/** Runs a transaction and applies its effects: in the VM if all its programs exist there, otherwise instruction by instruction. */
export function executeTransaction(machine: Machine, decoded: DecodedTransaction, isVerified: boolean): Execution {
  return namesModel(decoded) ? execute(machine, decoded, isVerified) : machine.execute(decoded.transaction, { isVerified });
}

/** Runs a transaction and forgets its effects. */
export function simulateTransaction(machine: Machine, decoded: DecodedTransaction, verifySignatures: boolean): Simulation {
  if (!namesModel(decoded)) return machine.simulate(decoded.transaction, { verifySignatures });
  const before = new Snapshot(machine, decoded);
  const execution = execute(machine, decoded, !verifySignatures);
  const postAccounts = execution.err === null ? before.readNow() : new Map();
  before.restore();
  return { ...execution, postAccounts };
}

const namesModel = (decoded: DecodedTransaction): boolean => decoded.instructions.some((_, index) => modelAt(decoded, index) !== null);

const modelAt = (decoded: DecodedTransaction, index: number): ProgramModel | null => MODELS.get(programAt(decoded, index)) ?? null;

const programAt = (decoded: DecodedTransaction, index: number) => decoded.keys[decoded.instructions[index]!.programIdIndex]!;

/** Atomic apart from the fee. */
function execute(machine: Machine, decoded: DecodedTransaction, isVerified: boolean): Execution {
  if (!isVerified && !isSigned(decoded)) return refuse('SignatureFailure');
  const priced = decoded.instructions.map((_, index) => index).filter((index) => PRICED_PROGRAMS.includes(programAt(decoded, index)));
  const unpaid = chargeFee(machine, decoded, priced);
  if (unpaid !== null) return refuse(unpaid);
  const charged = new Snapshot(machine, decoded);
  const trace: Trace = { logs: [], unitsConsumed: 0n, innerInstructions: decoded.instructions.map(() => []) };
  const err = runInstructions(machine, decoded, trace);
  if (err !== null) charged.restore();
  return { err, ...trace, returnData: null };
}

function isSigned({ transaction }: DecodedTransaction): boolean {
  const message = Uint8Array.from(transaction.messageBytes);
  return Object.entries(transaction.signatures).every(
    ([signer, signature]) => signature !== null && verifyEd25519(Uint8Array.from(signature), message, base58.decode(signer)),
  );
}

function runInstructions(machine: Machine, decoded: DecodedTransaction, trace: Trace): TransactionErrorJson | null {
  const count = decoded.instructions.length;
  for (let index = 0; index < count; ) {
    const model = modelAt(decoded, index);
    const next = model === null ? endOfRun(decoded, index) : index + 1;
    const err = model === null ? runInVm(machine, decoded, trace, { from: index, to: next }) : runModel(machine, decoded, trace, index);
    if (err !== null) return err;
    index = next;
  }
  return null;
}

function endOfRun(decoded: DecodedTransaction, from: number): number {
  let to = from + 1;
  while (to < decoded.instructions.length && modelAt(decoded, to) === null) to += 1;
  return to;
}

function runInVm(
  machine: Machine,
  decoded: DecodedTransaction,
  trace: Trace,
  run: { from: number; to: number },
): TransactionErrorJson | null {
  const execution = runNatively(machine, decoded, run);
  trace.logs.push(...execution.logs);
  trace.unitsConsumed += execution.unitsConsumed;
  execution.innerInstructions.forEach((group, offset) => {
    trace.innerInstructions[run.from + offset]!.push(...group);
  });
  return execution.err;
}

function runModel(machine: Machine, decoded: DecodedTransaction, trace: Trace, index: number): TransactionErrorJson | null {
  const program = programAt(decoded, index);
  trace.logs.push(`Program ${program} invoke [1]`);
  try {
    MODELS.get(program)!.process(new ProgramCall(machine, decoded, index, trace));
  } catch (error) {
    if (error instanceof TransactionFailure) return error.err;
    if (!(error instanceof ProgramFailure)) throw error;
    const err: TransactionErrorJson = { InstructionError: [index, error.failure] };
    trace.logs.push(`Program ${program} failed: ${describeTransactionError(err).replace(/^Error processing Instruction \d+: /, '')}`);
    return err;
  }
  trace.logs.push(`Program ${program} success`);
  return null;
}
