import type { Address, EncodedAccount, Instruction, ReadonlyUint8Array } from '@solana/kit';

/** Instruction of a modelled program with the accounts it may read and change, backed by a virtual machine or a sandbox. */
export interface ProgramRun {
  readonly accounts: readonly Address[];
  readonly data: ReadonlyUint8Array;
  /** Chain time in seconds. */
  readonly now: bigint;
  readonly slot: bigint;
  isSigner(address: Address): boolean;
  isWritable(address: Address): boolean;
  read(address: Address): Pick<EncodedAccount, 'programAddress' | 'data'>;
  write(address: Address, data: Uint8Array): void;
  create(address: Address, payer: Address, bytes: number): void;
  close(address: Address, receiver: Address): void;
  /** Calls another program. `derivedSigners`: signing addresses derived by this program. */
  invoke(instruction: Instruction, derivedSigners?: readonly Address[]): void;
  emit(eventAuthority: Address, event: Iterable<number>): void;
}

export interface ModelledProgram {
  address: Address;
  /** Runs one instruction. Throws `ProgramFailure` if the program would refuse it. */
  process(run: ProgramRun): void;
}
