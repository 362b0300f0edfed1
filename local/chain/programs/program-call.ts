import {
  type AccountMeta,
  AccountRole,
  type Address,
  createNoopSigner,
  type EncodedAccount,
  type Instruction,
  type ReadonlyUint8Array,
} from '@solana/kit';
import { getAllocateInstruction, getAssignInstruction, getTransferSolInstruction } from '@solana-program/system';
import { hex } from '#core/encoding.ts';
import { failProgram, ProgramFailure } from '#solana/programs/program-failure.ts';
import type { ProgramRun } from '#solana/programs/program-run.ts';
import { accountRole, type DecodedTransaction } from '../ledger/decode-transaction.ts';
import type { InnerInstruction, Machine } from '../ledger/machine.ts';
import { SYSTEM_PROGRAM } from '../ledger/network.ts';
import { runCall } from './native-run.ts';
import { TransactionFailure } from './program-failure.ts';
import { emptyAccount } from './snapshot.ts';

// Prefix of an event in a program's self-call.
const EVENT_TAG = hex.decode('e445a52e51cb9a1d');

export interface Trace {
  logs: string[];
  unitsConsumed: bigint;
  innerInstructions: InnerInstruction[][];
}

/** Program written in TypeScript instead of for the VM. */
export interface ProgramModel {
  address: Address;
  /** Runs one instruction. Throws a `ProgramFailure` if the program would refuse it. */
  process(call: ProgramCall): void;
}

export class ProgramCall implements ProgramRun {
  readonly program: Address;
  readonly accounts: readonly Address[];
  readonly data: ReadonlyUint8Array;
  readonly #machine: Machine;
  readonly #decoded: DecodedTransaction;
  readonly #index: number;
  readonly #trace: Trace;

  constructor(machine: Machine, decoded: DecodedTransaction, index: number, trace: Trace) {
    const instruction = decoded.instructions[index]!;
    this.program = decoded.keys[instruction.programIdIndex]!;
    this.accounts = instruction.accounts.map((key) => decoded.keys[key]!);
    this.data = instruction.data;
    this.#machine = machine;
    this.#decoded = decoded;
    this.#index = index;
    this.#trace = trace;
  }

  get now(): bigint {
    return this.#machine.clock.unixTimestamp;
  }

  get slot(): bigint {
    return this.#machine.clock.slot;
  }

  /** Returns the preceding top-level instruction like the instructions sysvar. */
  get previousInstruction(): { program: Address; data: ReadonlyUint8Array } | null {
    const previous = this.#decoded.instructions[this.#index - 1];
    return previous === undefined ? null : { program: this.#decoded.keys[previous.programIdIndex]!, data: previous.data };
  }

  isSigner(address: Address): boolean {
    return accountRole(this.#decoded, this.#findIndex(address)).isSigner;
  }

  isWritable(address: Address): boolean {
    return accountRole(this.#decoded, this.#findIndex(address)).isWritable;
  }

  /** Returns an account's current state. A missing account is empty and owned by the system program. */
  read(address: Address): EncodedAccount {
    return this.#machine.findAccount(address) ?? emptyAccount(address);
  }

  rentExemption(bytes: number): bigint {
    return this.#machine.rentExemption(bytes);
  }

  /** Writes the data of an account that this program owns, at any length. */
  write(address: Address, data: Uint8Array): void {
    const account = this.read(address);
    if (!this.isWritable(address)) failProgram('ReadonlyDataModified');
    if (account.programAddress !== this.program) failProgram('ExternalAccountDataModified');
    this.#machine.putAccount(address, data, this.program, account.lamports);
  }

  /** Moves lamports from an account that this program owns. An account without lamports ceases to exist. */
  moveLamports(from: Address, to: Address, amount: bigint): void {
    if (!this.isWritable(from) || !this.isWritable(to)) failProgram('ReadonlyLamportChange');
    if (this.read(from).programAddress !== this.program) failProgram('ExternalAccountLamportSpend');
    this.#addLamports(from, -amount);
    this.#addLamports(to, amount);
  }

  /**
   * Creates an account of this program at a derived address at the payer's expense. Lamports sent there earlier do not block the creation
   * and reduce the payer's cost.
   */
  create(address: Address, payer: Address, bytes: number): void {
    const missing = this.rentExemption(bytes) - this.read(address).lamports;
    if (missing > 0n) this.invoke(getTransferSolInstruction({ source: createNoopSigner(payer), destination: address, amount: missing }));
    const account = createNoopSigner(address);
    this.invoke(getAllocateInstruction({ newAccount: account, space: bytes }), [address]);
    this.invoke(getAssignInstruction({ account, programAddress: this.program }), [address]);
  }

  close(address: Address, receiver: Address): void {
    this.moveLamports(address, receiver, this.read(address).lamports);
  }

  /**
   * Calls another program. Its accounts must be among this instruction's. Signers must sign here or be addresses that this program derived
   * (`derivedSigners`). A callee's failure fails this instruction with the same cause.
   */
  invoke(instruction: Instruction, derivedSigners: readonly Address[] = []): void {
    const metas = (instruction.accounts ?? []) as readonly AccountMeta[];
    this.#checkPrivileges(instruction.programAddress, metas, derivedSigners);
    const execution = runCall(this.#machine, instruction, (address) => this.#findIndex(address));
    this.#note({ program: instruction.programAddress, accounts: metas.map(({ address }) => address), data: instruction.data! });
    const nested = execution.innerInstructions[0] ?? [];
    this.#innerInstructions.push(...nested.map((inner) => ({ ...inner, stackHeight: inner.stackHeight + 1 })));
    this.#trace.logs.push(...execution.logs.map(deepen));
    this.#trace.unitsConsumed += execution.unitsConsumed;
    if (execution.err === null) return;
    if (typeof execution.err === 'object' && 'InstructionError' in execution.err)
      throw new ProgramFailure(execution.err.InstructionError[1]);
    throw new TransactionFailure(execution.err);
  }

  /** Emits an event by a self-call that only the program's event authority can sign. */
  emit(eventAuthority: Address, event: Iterable<number>): void {
    this.#note({ program: this.program, accounts: [eventAuthority], data: Uint8Array.of(...EVENT_TAG, ...event) });
    this.#trace.logs.push(`Program ${this.program} invoke [2]`, `Program ${this.program} success`);
  }

  get #innerInstructions(): InnerInstruction[] {
    return this.#trace.innerInstructions[this.#index]!;
  }

  #note(called: { program: Address; accounts: readonly Address[]; data: ReadonlyUint8Array }): void {
    this.#innerInstructions.push({
      programIdIndex: this.#findIndex(called.program),
      accounts: called.accounts.map((address) => this.#findIndex(address)),
      data: called.data,
      stackHeight: 2,
    });
  }

  #checkPrivileges(program: Address, metas: readonly AccountMeta[], derivedSigners: readonly Address[]): void {
    if (!this.accounts.includes(program)) failProgram('MissingAccount');
    for (const { address, role } of metas) {
      if (!this.accounts.includes(address)) failProgram('MissingAccount');
      const wantsSigner = role === AccountRole.READONLY_SIGNER || role === AccountRole.WRITABLE_SIGNER;
      const wantsWritable = role === AccountRole.WRITABLE || role === AccountRole.WRITABLE_SIGNER;
      if (wantsWritable && !this.isWritable(address)) failProgram('PrivilegeEscalation');
      if (wantsSigner && !this.isSigner(address) && !derivedSigners.includes(address)) failProgram('PrivilegeEscalation');
    }
  }

  #addLamports(address: Address, amount: bigint): void {
    const { data, programAddress, lamports } = this.read(address);
    const balance = lamports + amount;
    if (balance === 0n) this.#machine.putAccount(address, new Uint8Array(), SYSTEM_PROGRAM, 0n);
    else this.#machine.putAccount(address, data, programAddress, balance);
  }

  #findIndex(address: Address): number {
    const index = this.#decoded.keys.indexOf(address);
    return index === -1 ? failProgram('MissingAccount') : index;
  }
}

/** Increments the call depth in a callee's log line. */
const deepen = (line: string): string => line.replace(/ invoke \[(\d+)\]$/, (_all, depth: string) => ` invoke [${Number(depth) + 1}]`);
