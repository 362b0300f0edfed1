import { sha256 } from '@noble/hashes/sha2.js';
import {
  type Address,
  appendTransactionMessageInstruction,
  type Blockhash,
  compileTransaction,
  createTransactionMessage,
  getAddressDecoder,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  type Instruction,
  pipe,
  type SignatureBytes,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  type Transaction,
} from '@solana/kit';
import type { DecodedTransaction } from '../ledger/decode-transaction.ts';
import type { TransactionErrorJson } from '../ledger/errors.ts';
import type { Execution, InnerInstruction, Machine } from '../ledger/machine.ts';
import { SYSTEM_PROGRAM } from '../ledger/network.ts';

// Fee payer of VM runs on a transaction's behalf. The transaction itself is charged once, separately.
const RUN_PAYER: Address = getAddressDecoder().decode(sha256(new TextEncoder().encode('local chain program runs')));
const RUN_PAYER_LAMPORTS = 2n ** 60n;
const LIFETIME = { blockhash: '11111111111111111111111111111111' as Blockhash, lastValidBlockHeight: 0n };

/** Runs instructions `from` to `to` (exclusive) in the VM. Indexes in the result are the transaction's own. */
export function runNatively(machine: Machine, decoded: DecodedTransaction, { from, to }: { from: number; to: number }): Execution {
  const { message } = decoded;
  // The extra payer comes first and shifts every account index by one.
  const shifted = {
    ...message,
    header: { ...message.header, numSignerAccounts: message.header.numSignerAccounts + 1 },
    staticAccounts: [RUN_PAYER, ...message.staticAccounts],
    instructions: decoded.instructions.slice(from, to).map(({ programIdIndex, accounts, data }) => ({
      programAddressIndex: programIdIndex + 1,
      accountIndices: accounts.map((index) => index + 1),
      data,
    })),
  };
  return renumber(execute(machine, compile(shifted)), { instruction: (index) => index + from, key: (index) => index - 1 });
}

/** Runs an instruction called by a program. `findIndex` returns an address's index in the calling transaction's keys. */
export function runCall(machine: Machine, instruction: Instruction, findIndex: (address: Address) => number): Execution {
  const transaction = compileTransaction(
    pipe(
      createTransactionMessage({ version: 'legacy' }),
      (draft) => setTransactionMessageFeePayer(RUN_PAYER, draft),
      (draft) => setTransactionMessageLifetimeUsingBlockhash(LIFETIME, draft),
      (draft) => appendTransactionMessageInstruction(instruction, draft),
    ),
  );
  const { staticAccounts } = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
  const keyOf = (index: number) => findIndex(staticAccounts[index]!);
  return renumber(execute(machine, transaction), { instruction: (index) => index, key: keyOf });
}

/** Charges only a transaction's fee by the VM's rules: permitted payer, signatures, priority. */
export function chargeFee(machine: Machine, decoded: DecodedTransaction, priced: readonly number[]): TransactionErrorJson | null {
  const instructions = priced.map((index) => decoded.message.instructions[index]!);
  const { err } = machine.execute(compile({ ...decoded.message, instructions }), { isVerified: true });
  if (err === null || typeof err === 'string') return err;
  // A priced instruction's own error follows in its own run.
  if ('InstructionError' in err) return null;
  return 'DuplicateInstruction' in err ? { DuplicateInstruction: priced[err.DuplicateInstruction]! } : err;
}

type CompiledMessage = Parameters<ReturnType<typeof getCompiledTransactionMessageEncoder>['encode']>[0];

function compile(
  message: Pick<DecodedTransaction['message'], 'header' | 'staticAccounts'> & { instructions: readonly unknown[] },
): Transaction {
  const messageBytes = getCompiledTransactionMessageEncoder().encode(message as CompiledMessage) as Transaction['messageBytes'];
  const signers = message.staticAccounts.slice(0, message.header.numSignerAccounts);
  const signatures = Object.fromEntries(signers.map((signer) => [signer, new Uint8Array(64) as SignatureBytes]));
  return { messageBytes, signatures };
}

function execute(machine: Machine, transaction: Transaction): Execution {
  if (machine.findAccount(RUN_PAYER) === null) machine.putAccount(RUN_PAYER, new Uint8Array(), SYSTEM_PROGRAM, RUN_PAYER_LAMPORTS);
  return machine.execute(transaction, { isVerified: true });
}

/** Mapping from indexes of a VM run to those of the transaction. */
interface Numbering {
  instruction: (index: number) => number;
  key: (index: number) => number;
}

function renumber(execution: Execution, numbering: Numbering): Execution {
  const renumberInner = (inner: InnerInstruction): InnerInstruction => ({
    ...inner,
    programIdIndex: numbering.key(inner.programIdIndex),
    accounts: inner.accounts.map(numbering.key),
  });
  const innerInstructions = execution.innerInstructions.map((group) => group.map(renumberInner));
  return { ...execution, err: execution.err === null ? null : renumberError(execution.err, numbering), innerInstructions };
}

function renumberError(err: TransactionErrorJson, { instruction, key }: Numbering): TransactionErrorJson {
  if (typeof err === 'string') return err;
  if ('InstructionError' in err) return { InstructionError: [instruction(err.InstructionError[0]), err.InstructionError[1]] };
  if ('DuplicateInstruction' in err) return { DuplicateInstruction: instruction(err.DuplicateInstruction) };
  if ('InsufficientFundsForRent' in err)
    return { InsufficientFundsForRent: { account_index: key(err.InsufficientFundsForRent.account_index) } };
  return { ProgramExecutionTemporarilyRestricted: { account_index: key(err.ProgramExecutionTemporarilyRestricted.account_index) } };
}
