import type { Address, Instruction as BuiltInstruction } from '@solana/kit';
import { AccountState, getTokenDecoder, type Token } from '@solana-program/token';
import { base58 } from '#core/encoding.ts';
import type { InnerInstructions } from '#platform/db/tables/sandbox.ts';
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from '#solana/assets.ts';
import type { ChainAccount } from '#solana/chain.ts';
import { type FailureCause, failProgram, ProgramFailure } from '#solana/programs/program-failure.ts';
import type { ProgramRun } from '#solana/programs/program-run.ts';
import { SUBSCRIPTIONS_MODEL } from '#solana/programs/subscriptions/model/subscriptions-model.ts';
import { parseSubscriptionInstruction } from '#solana/programs/subscriptions/parse-instruction.ts';
import { SUBSCRIPTIONS_PROGRAM } from '#solana/programs/subscriptions/subscription.ts';
import { readPlanAccount } from '#solana/programs/subscriptions/subscription-state.ts';
import { isClassicHolding } from '#solana/programs/token-account.ts';
import { EVENT_TAG, type Instruction, parseAtaCreation } from '#solana/transaction.ts';
import { instructionsOf, type SignedTransaction } from '../simulated-blocks.ts';
import { Accounts, holdingAddress, holdingOf, newHolding, PLENTY } from './accounts.ts';

/**
 * Result of a transaction. `changed`: null for a closed account. `opened`: accounts to create if absent. `about`: the subscription named.
 */
export type SimulatedRun =
  | {
      kind: 'ran';
      inner: InnerInstructions;
      changed: Map<string, ChainAccount | null>;
      opened: Map<string, ChainAccount>;
      about: string | null;
    }
  | { kind: 'failed'; reason: string; about: string | null };

interface Moment {
  slot: number;
  /** Unix seconds. */
  now: number;
}

/** True if a transaction names modelled programs. The effect of any other transaction follows from its instructions alone. */
export const changesAccounts = ({ message }: SignedTransaction): boolean =>
  instructionsOf(message).some((instruction) => instruction.programId === SUBSCRIPTIONS_PROGRAM || isApproval(instruction));

/** Runs a transaction atomically over the named accounts. The caller verifies the signatures. */
export function runTransaction(signed: SignedTransaction, stored: ReadonlyMap<string, ChainAccount>, moment: Moment): SimulatedRun {
  const accounts = new Accounts(stored);
  const instructions = instructionsOf(signed.message);
  const about = instructions.map(subscriptionIn).find((address) => address !== null) ?? null;
  const inner: InnerInstructions = [];
  for (const [index, instruction] of instructions.entries()) {
    const run = new InstructionRun(signed, instruction, accounts, moment);
    const cause = causeOfFailure(() => runInstruction(run, instruction, accounts));
    if (cause !== null) return { kind: 'failed', reason: `Error processing Instruction ${index}: ${nameOf(cause)}`, about };
    if (run.inner.length > 0) inner.push({ index, instructions: run.inner });
  }
  return { kind: 'ran', inner, changed: accounts.changed, opened: holdingsOfPaid(accounts), about };
}

function holdingsOfPaid({ changed }: Accounts): Map<string, ChainAccount> {
  const plans = [...changed.values()].map((account) => readPlanAccount(account)).filter((plan) => plan !== null);
  const opened = plans.flatMap(({ destinations, mint }) =>
    destinations.map((owner) => [holdingAddress(owner, mint), newHolding(owner, mint, PLENTY)] as const),
  );
  return new Map(opened);
}

const nameOf = (cause: FailureCause): string =>
  typeof cause === 'string' ? cause : `custom program error: 0x${cause.Custom.toString(16)}`;

function causeOfFailure(run: () => void): FailureCause | null {
  try {
    run();
    return null;
  } catch (error) {
    if (error instanceof ProgramFailure) return error.failure;
    throw error;
  }
}

function runInstruction(run: InstructionRun, instruction: Instruction, accounts: Accounts): void {
  const { programId } = instruction;
  const created = parseAtaCreation(instruction);
  if (created) accounts.openHolding(created.owner, created.mint);
  if (programId === TOKEN_PROGRAM) runToken(accounts, instruction, (address) => run.isSigner(address as Address));
  if (programId !== SUBSCRIPTIONS_PROGRAM) return;
  SUBSCRIPTIONS_MODEL.process(run);
}

function subscriptionIn({ programId, accounts, data }: Instruction): string | null {
  if (programId !== SUBSCRIPTIONS_PROGRAM) return null;
  const parsed = parseSubscriptionInstruction({ accounts: accounts as Address[], data });
  return parsed.ok && 'subscription' in parsed.value.accounts ? parsed.value.accounts.subscription : null;
}

class InstructionRun implements ProgramRun {
  readonly accounts: readonly Address[];
  readonly data: Uint8Array;
  readonly inner: InnerInstructions[number]['instructions'] = [];
  readonly #signed: SignedTransaction;
  readonly #program: string;
  readonly #state: Accounts;
  readonly #moment: Moment;

  constructor(signed: SignedTransaction, { programId, accounts, data }: Instruction, state: Accounts, moment: Moment) {
    this.accounts = accounts as Address[];
    this.data = data;
    this.#signed = signed;
    this.#program = programId;
    this.#state = state;
    this.#moment = moment;
  }

  get now(): bigint {
    return BigInt(this.#moment.now);
  }

  get slot(): bigint {
    return BigInt(this.#moment.slot);
  }

  isSigner = (address: Address): boolean => this.#signed.signers.includes(address);
  isWritable = (address: Address): boolean => this.#signed.writable.includes(address);

  read(address: Address) {
    const account = this.#state.find(address);
    return { programAddress: (account?.owner ?? SYSTEM_PROGRAM) as Address, data: account?.data ?? new Uint8Array() };
  }

  write(address: Address, data: Uint8Array): void {
    if (!this.isWritable(address)) failProgram('ReadonlyDataModified');
    if (this.read(address).programAddress !== this.#program) failProgram('ExternalAccountDataModified');
    this.#state.put(address, { owner: this.#program, data });
  }

  create(address: Address, _payer: Address, bytes: number): void {
    this.#state.put(address, { owner: this.#program, data: new Uint8Array(bytes) });
  }

  close(address: Address): void {
    if (this.read(address).programAddress !== this.#program) failProgram('ExternalAccountLamportSpend');
    this.#state.put(address, null);
  }

  invoke({ programAddress, accounts = [], data }: BuiltInstruction, derivedSigners: readonly Address[] = []): void {
    const called = {
      programId: programAddress as string,
      accounts: accounts.map(({ address }) => address as string),
      data: Uint8Array.from(data!),
    };
    this.#note(called);
    runToken(this.#state, called, (address) => this.isSigner(address as Address) || derivedSigners.includes(address as Address));
  }

  emit(eventAuthority: Address, event: Iterable<number>): void {
    this.#note({ programId: this.#program, accounts: [eventAuthority], data: Uint8Array.of(...EVENT_TAG, ...event) });
  }

  #note({ programId, accounts, data }: Instruction): void {
    const { accountKeys: keys } = this.#signed.message;
    const indexOf = (address: string): number => (keys.includes(address) ? keys.indexOf(address) : failProgram('MissingAccount'));
    this.inner.push({ programIdIndex: indexOf(programId), accounts: accounts.map(indexOf), data: base58.encode(data) });
  }
}

const TOKEN_ERRORS = { insufficientFunds: 1, ownerMismatch: 4, accountFrozen: 17 } as const;
const TOKEN_INSTRUCTIONS = { approve: 4, revoke: 5, transferChecked: 12, approveChecked: 13 } as const;

const isApproval = ({ programId, data }: Instruction): boolean =>
  programId === TOKEN_PROGRAM &&
  data[0] !== TOKEN_INSTRUCTIONS.transferChecked &&
  Object.values<number>(TOKEN_INSTRUCTIONS).includes(data[0] ?? -1);

/** Applies approvals and transfers of the SPL Token program to stored token accounts. All other accounts hold unlimited funds. */
function runToken(state: Accounts, { accounts, data }: Instruction, isSigner: (address: string) => boolean): void {
  const [source, second, third, fourth] = accounts;
  const account = source === undefined ? null : state.find(source);
  if (account === null || !isClassicHolding({ programAddress: account.owner as Address, data: account.data })) return;
  const held = getTokenDecoder().decode(account.data);
  const units = data.length >= 9 ? new DataView(data.buffer, data.byteOffset).getBigUint64(1, true) : 0n;
  const patchAccount = (by: string | undefined, patch: Partial<Parameters<typeof holdingOf>[0]>) => {
    requireOwner(held, by, isSigner);
    state.put(source!, holdingOf({ ...held, ...patch }));
  };
  const { approve, approveChecked, revoke, transferChecked } = TOKEN_INSTRUCTIONS;
  if (data[0] === approve) patchAccount(third, { delegate: second as Address, delegatedAmount: units });
  if (data[0] === approveChecked) patchAccount(fourth, { delegate: third as Address, delegatedAmount: units });
  if (data[0] === revoke) patchAccount(second, { delegate: null, delegatedAmount: 0n });
  if (data[0] === transferChecked) requireTransfer(held, units, fourth, isSigner);
}

function requireOwner({ owner }: Token, signer: string | undefined, isSigner: (address: string) => boolean): void {
  if (signer !== owner) failProgram(TOKEN_ERRORS.ownerMismatch);
  if (!isSigner(owner)) failProgram('MissingRequiredSignature');
}

function requireTransfer(held: Token, units: bigint, by: string | undefined, isSigner: (address: string) => boolean): void {
  const isDelegate = held.delegate.__option === 'Some' && held.delegate.value === by;
  if (held.state === AccountState.Frozen) failProgram(TOKEN_ERRORS.accountFrozen);
  if (by !== held.owner && !isDelegate) failProgram(TOKEN_ERRORS.ownerMismatch);
  if (held.amount < units || (isDelegate && held.delegatedAmount < units)) failProgram(TOKEN_ERRORS.insufficientFunds);
  if (!isSigner(by!)) failProgram('MissingRequiredSignature');
}
