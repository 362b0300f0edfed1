import {
  type Address,
  type EncodedAccount,
  getAddressDecoder,
  isSolanaError,
  lamports,
  type ReadonlyUint8Array,
  SOLANA_ERROR__TRANSACTION__SIGNATURES_MISSING,
  type Transaction,
} from '@solana/kit';
import { Clock, FailedTransactionMetadata, LiteSVM, type TransactionMetadata } from 'litesvm';
import type { CompiledInstruction } from './decode-transaction.ts';
import { encodeTransactionError, type MachineError, type TransactionErrorJson } from './errors.ts';
import { SLOTS_PER_EPOCH, SYSTEM_PROGRAM } from './network.ts';

export interface InnerInstruction extends CompiledInstruction {
  stackHeight: number;
}

export interface Execution {
  err: TransactionErrorJson | null;
  logs: string[];
  unitsConsumed: bigint;
  returnData: { programId: Address; data: ReadonlyUint8Array } | null;
  innerInstructions: InnerInstruction[][];
}

export interface Simulation extends Execution {
  postAccounts: ReadonlyMap<Address, EncodedAccount>;
}

export class Machine {
  // The chain checks duplicates and blockhashes, because the VM does not know its slots.
  readonly #vm = new LiteSVM().withBlockhashCheck(false).withTransactionHistory(0n).withNativeMints();
  #clockSlot = -1;
  #clockTimestamp = -1;

  setClock(slot: number, unixTimestamp: number): void {
    if (slot === this.#clockSlot && unixTimestamp === this.#clockTimestamp) return;
    const epoch = BigInt(Math.floor(slot / SLOTS_PER_EPOCH));
    this.#vm.setClock(new Clock(BigInt(slot), BigInt(unixTimestamp), epoch, epoch + 1n, BigInt(unixTimestamp)));
    this.#clockSlot = slot;
    this.#clockTimestamp = unixTimestamp;
  }

  get clock(): { slot: bigint; unixTimestamp: bigint } {
    return { slot: BigInt(this.#clockSlot), unixTimestamp: BigInt(this.#clockTimestamp) };
  }

  /** Finds an account. An account without lamports does not exist. */
  findAccount(address: Address): EncodedAccount | null {
    const account = this.#vm.getAccount(address);
    return account.exists && account.lamports > 0n ? account : null;
  }

  listProgramAccounts(program: Address): EncodedAccount[] {
    return this.#vm.getProgramAccounts(program).filter((account) => account.lamports > 0n);
  }

  rentExemption(bytes: number): bigint {
    return this.#vm.minimumBalanceForRentExemption(BigInt(bytes));
  }

  /** Writes an account bypassing the runtime's rules, rent exempt by default. */
  putAccount(address: Address, data: ReadonlyUint8Array, owner: Address = SYSTEM_PROGRAM, balance?: bigint): void {
    this.#vm.setAccount({
      address,
      data: Uint8Array.from(data),
      executable: false,
      lamports: lamports(balance ?? this.rentExemption(data.length)),
      programAddress: owner,
      space: BigInt(data.length),
    });
  }

  /** Runs a transaction and applies its effects. With `isVerified` false a `SignatureFailure` is an error like any other. */
  execute(transaction: Transaction, { isVerified }: { isVerified: boolean }): Execution {
    const outcome = this.#run({ verifySignatures: !isVerified }, () => this.#vm.sendTransaction(transaction));
    if (typeof outcome === 'string') return refuse(outcome);
    const failed = outcome instanceof FailedTransactionMetadata;
    return readExecution(failed ? outcome.meta() : outcome, failed ? outcome : null);
  }

  simulate(transaction: Transaction, options: { verifySignatures: boolean }): Simulation {
    const outcome = this.#run(options, () => this.#vm.simulateTransaction(transaction));
    if (typeof outcome === 'string') return { ...refuse(outcome), postAccounts: new Map() };
    if (outcome instanceof FailedTransactionMetadata) return { ...readExecution(outcome.meta(), outcome), postAccounts: new Map() };
    const postAccounts = new Map(outcome.postAccounts().map((account) => [account.address, account]));
    return { ...readExecution(outcome.meta(), null), postAccounts };
  }

  // The VM throws for malformed transactions. A missing signature is distinguished, because nodes answer it differently.
  #run<T extends object>({ verifySignatures }: { verifySignatures: boolean }, run: () => T): T | 'SignatureFailure' | 'SanitizeFailure' {
    this.#vm.withSigverify(verifySignatures);
    try {
      return run();
    } catch (error) {
      return isSolanaError(error, SOLANA_ERROR__TRANSACTION__SIGNATURES_MISSING) ? 'SignatureFailure' : 'SanitizeFailure';
    }
  }
}

export function refuse(err: TransactionErrorJson): Execution {
  return { err, logs: [], unitsConsumed: 0n, returnData: null, innerInstructions: [] };
}

function readExecution(meta: TransactionMetadata, failure: FailedTransactionMetadata | null): Execution {
  const returned = meta.returnData();
  const data = returned.data();
  return {
    err: failure === null ? null : encodeTransactionError(failure.err() as MachineError),
    logs: meta.logs(),
    unitsConsumed: meta.computeUnitsConsumed(),
    returnData: data.length === 0 ? null : { programId: getAddressDecoder().decode(returned.programId()), data },
    innerInstructions: meta.innerInstructions().map((group) =>
      group.map((inner) => {
        const instruction = inner.instruction();
        return {
          programIdIndex: instruction.programIdIndex(),
          accounts: [...instruction.accounts()],
          data: instruction.data(),
          stackHeight: inner.stackHeight(),
        };
      }),
    ),
  };
}
