import type { Address, EncodedAccount, Instruction, ReadonlyUint8Array } from '@solana/kit';

/**
 * One instruction of a modelled program, and a chain as the runtime lets that program see and change it. What stands behind it is a chain of
 * accounts: of a virtual machine, or of a sandbox.
 */
export interface ProgramRun {
  readonly accounts: readonly Address[];
  readonly data: ReadonlyUint8Array;
  /** Chain time in seconds. */
  readonly now: bigint;
  readonly slot: bigint;
  isSigner(address: Address): boolean;
  isWritable(address: Address): boolean;
  /** An account as it is now; one that does not exist is empty and the system program's. */
  read(address: Address): Pick<EncodedAccount, 'programAddress' | 'data'>;
  /** Writes the data of an account this program owns. */
  write(address: Address, data: Uint8Array): void;
  /** Makes an account of this program at an address it derived, at the payer's expense. */
  create(address: Address, payer: Address, bytes: number): void;
  /** Gives up an account this program owns. */
  close(address: Address, receiver: Address): void;
  /** Calls another program. `derivedSigners`: addresses this program derived, which sign. */
  invoke(instruction: Instruction, derivedSigners?: readonly Address[]): void;
  /** Writes an event down: a call of the program to itself that only its event authority can sign. */
  emit(eventAuthority: Address, event: Iterable<number>): void;
}

/** A program as it is told by its published interface. */
export interface ModelledProgram {
  address: Address;
  /** Runs one instruction; throws a `ProgramFailure` where the program would refuse it. */
  process(run: ProgramRun): void;
}
