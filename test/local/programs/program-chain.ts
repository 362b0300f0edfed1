import {
  type AccountMeta,
  AccountRole,
  type Address,
  addSignersToInstruction,
  appendTransactionMessageInstructions,
  compressTransactionMessageUsingAddressLookupTables,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  pipe,
  type Signature,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { getSetComputeUnitLimitInstruction } from '@solana-program/compute-budget';
import { fetchToken, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { base58 } from '#core/encoding.ts';
import type { InstructionLayout } from '#solana/programs/instruction-layout.ts';
import type { Machine } from '../../../local/chain/ledger/machine.ts';
import { type ChainServer, deriveTokenAddress, newAddress, openChain, startChainServer, type TestChain, USDC } from '../chain/wallets.ts';

/** Outcome of a transaction: accepted, the program's error number, or the name of a shared error. */
export type Verdict = 'accepted' | number | string;

type Made = Instruction | Instruction[];
/** Refusals by description: how to build the instruction, and the expected verdict. */
export type Refusals<World> = Record<string, [make: (world: World) => Made | Promise<Made>, verdict: Verdict]>;

/** Adds one test per refusal, because only the error number explains it. */
export function itRefuses<World extends { on: ProgramChain }>(world: () => World, refusals: Refusals<World>): void {
  it.each(Object.entries(refusals))('the program refuses %s', async (_what, [make, verdict]) => {
    expect(await world().on.judge(...[await make(world())].flat())).toBe(verdict);
  });
}

/** Chain with a wallet that pays every fee and plays no other part, and the signing wallets. */
export class ProgramChain {
  readonly chain: TestChain;
  readonly feePayer: KeyPairSigner;
  readonly #signers: KeyPairSigner[] = [];
  readonly #machine: Machine;
  #count = 0;

  constructor(chain: TestChain, feePayer: KeyPairSigner, machine: Machine) {
    this.chain = chain;
    this.feePayer = feePayer;
    this.#machine = machine;
  }

  /** Writes an account directly, which no transaction could. */
  put(address: Address, owner: Address, data: Iterable<number>): void {
    this.#machine.putAccount(address, Uint8Array.from(data), owner);
  }

  async openWallet(holdings: { lamports?: bigint; usdc?: bigint } = {}): Promise<KeyPairSigner> {
    const wallet = await this.chain.openWallet(holdings);
    this.#signers.push(wallet);
    return wallet;
  }

  send(...instructions: Instruction[]): Promise<Signature> {
    return this.chain.send(this.feePayer, this.signed(...instructions));
  }

  /** Sends without preflight, so that a failure lands as failed. */
  land(...instructions: Instruction[]): Promise<Signature> {
    return this.chain.send(this.feePayer, this.signed(...instructions), { skipPreflight: true });
  }

  async sendWithLookupTable(addresses: Address[], ...instructions: Instruction[]): Promise<Signature> {
    const table = await newAddress();
    await this.chain.result('local_setLookupTable', table, addresses);
    const { value: latest } = await this.chain.rpc.getLatestBlockhash().send();
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (draft) => setTransactionMessageFeePayerSigner(this.feePayer, draft),
      (draft) => setTransactionMessageLifetimeUsingBlockhash(latest, draft),
      (draft) => appendTransactionMessageInstructions(this.signed(...instructions), draft),
      (draft) => compressTransactionMessageUsingAddressLookupTables(draft, { [table]: addresses }),
    );
    const wire = getBase64EncodedWireTransaction(await signTransactionMessageWithSigners(message));
    return this.chain.rpc.sendTransaction(wire, { encoding: 'base64' }).send();
  }

  /** Simulates the instructions. Only the last one may be refused. */
  async judge(...instructions: Instruction[]): Promise<Verdict> {
    const { wire } = await this.chain.sign(this.feePayer, this.signed(...instructions));
    const options = { encoding: 'base64', sigVerify: true };
    const { value } = await this.chain.result<{ value: { err: unknown } }>('simulateTransaction', wire, options);
    return readVerdict(value.err, instructions.length);
  }

  /** Returns the instructions of every transaction that names an address, oldest first. */
  async instructionsOf(address: Address): Promise<{ programAddress: Address; accounts: Address[]; data: Uint8Array }[]> {
    const listed = await this.chain.rpc.getSignaturesForAddress(address, { commitment: 'confirmed' }).send();
    const options = { encoding: 'json', commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const;
    const found = await Promise.all(listed.toReversed().map(({ signature }) => this.chain.rpc.getTransaction(signature, options).send()));
    return found.flatMap((recorded) => {
      const { accountKeys, instructions } = recorded!.transaction.message;
      return instructions.map(({ programIdIndex, accounts, data }) => ({
        programAddress: accountKeys[programIdIndex]!,
        accounts: accounts.map((index) => accountKeys[index]!),
        data: base58.decode(data),
      }));
    });
  }

  /** Returns the event bytes that a program wrote in a transaction by calling itself, in order. */
  async eventsOf(signature: Signature, program: Address): Promise<Uint8Array[]> {
    const options = { encoding: 'json', commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const;
    const recorded = await this.chain.rpc.getTransaction(signature, options).send();
    const { accountKeys } = recorded!.transaction.message;
    const inner = recorded!.meta!.innerInstructions!.flatMap(({ instructions }) => instructions);
    return inner.filter(({ programIdIndex }) => accountKeys[programIdIndex] === program).map(({ data }) => base58.decode(data));
  }

  /** Sends without preflight and returns the verdict. Only the last instruction may be refused. */
  async attempt(...instructions: Instruction[]): Promise<Verdict> {
    const signature = await this.land(...instructions);
    const { value } = await this.chain.result<{ value: [{ err: unknown }] }>('getSignatureStatuses', [signature]);
    return readVerdict(value[0].err, instructions.length);
  }

  /** Base units in all token accounts of the chain, and the expected supply. */
  async countUsdc(): Promise<{ held: bigint; supply: bigint }> {
    const memcmp = { offset: 0n, bytes: USDC, encoding: 'base58' } as const;
    const filters = [{ dataSize: 165n }, { memcmp }] as never;
    const accounts = await this.chain.rpc.getProgramAccounts(TOKEN_PROGRAM_ADDRESS, { encoding: 'base64', filters }).send();
    const amounts = accounts.map(({ account }) => Buffer.from(account.data[0], 'base64').readBigUInt64LE(64));
    const { value } = await this.chain.rpc.getTokenSupply(USDC).send();
    return { held: amounts.reduce((sum, amount) => sum + amount, 0n), supply: BigInt(value.amount) };
  }

  async warp(seconds: bigint | number): Promise<void> {
    await this.chain.result('local_warp', Number(seconds));
  }

  /** Chain time in seconds, as a program reads it. */
  async now(): Promise<bigint> {
    return BigInt((await this.chain.result<{ unixTimestamp: number }>('local_time')).unixTimestamp);
  }

  /** Stops the clock, so that slots advance only by hand. */
  async holdClock(): Promise<void> {
    await this.chain.result('local_mode', 'manual');
  }

  async moveSlots(count: bigint | number): Promise<void> {
    await this.chain.result('local_slots', Number(count));
  }

  slot(): Promise<bigint> {
    return this.chain.rpc.getSlot({ commitment: 'processed' }).send();
  }

  /** USDC of a wallet, in base units. */
  async usdcOf(owner: Address): Promise<bigint> {
    return (await fetchToken(this.chain.rpc, await deriveTokenAddress(owner))).data.amount;
  }

  async lamportsOf(address: Address): Promise<bigint> {
    return (await this.chain.rpc.getBalance(address, { commitment: 'processed' }).send()).value;
  }

  async dataOf(address: Address): Promise<Uint8Array | null> {
    const { value } = await this.chain.rpc.getAccountInfo(address, { encoding: 'base64', commitment: 'processed' }).send();
    return value === null ? null : Uint8Array.from(Buffer.from(value.data[0], 'base64'));
  }

  /** Adds signers and one leading instruction that makes the transaction unique. */
  signed(...instructions: readonly Instruction[]): Instruction[] {
    // An identical transaction would be refused as a duplicate.
    this.#count += 1;
    const unique = getSetComputeUnitLimitInstruction({ units: 1_000_000 + this.#count });
    return [unique, ...instructions.map((instruction) => addSignersToInstruction(this.#signers, instruction))];
  }
}

export async function openProgramChain(server: ChainServer): Promise<ProgramChain> {
  const chain = openChain(server);
  return new ProgramChain(chain, await chain.openWallet(), server.chain(chain.url.split('/').at(-1)!).machine);
}

export function useServer(): () => ChainServer {
  let server: ChainServer;
  beforeAll(async () => {
    server = await startChainServer();
  });
  afterAll(() => server.close());
  return () => server;
}

export function swap<Name extends string>(
  built: Instruction,
  layout: InstructionLayout<Name>,
  name: NoInfer<Name>,
  to: Address,
): Instruction {
  return edit(built, layout, name, (meta) => ({ ...meta, address: to }));
}

export const unsigned = <Name extends string>(built: Instruction, layout: InstructionLayout<Name>, name: NoInfer<Name>): Instruction =>
  edit(built, layout, name, withoutSignature);

/** Removes the signer role of the last account, which no layout names. */
export const lastUnsigned = (built: Instruction): Instruction => ({
  ...built,
  accounts: built.accounts!.with(-1, withoutSignature(built.accounts!.at(-1) as AccountMeta)),
});

function withoutSignature(meta: AccountMeta): AccountMeta {
  if (meta.role === AccountRole.WRITABLE_SIGNER) return { ...meta, role: AccountRole.WRITABLE };
  return meta.role === AccountRole.READONLY_SIGNER ? { ...meta, role: AccountRole.READONLY } : meta;
}

export function readOnly<Name extends string>(built: Instruction, layout: InstructionLayout<Name>, name: NoInfer<Name>): Instruction {
  const withoutWriting = { [AccountRole.WRITABLE_SIGNER]: AccountRole.READONLY_SIGNER, [AccountRole.WRITABLE]: AccountRole.READONLY };
  return edit(built, layout, name, (meta) => ({ ...meta, role: withoutWriting[meta.role as AccountRole.WRITABLE] ?? meta.role }));
}

export const withData = (built: Instruction, data: Iterable<number>): Instruction => ({ ...built, data: Uint8Array.from(data) });

export const shorter = (built: Instruction): Instruction => ({ ...built, accounts: built.accounts!.slice(0, -1) });

export const longer = (built: Instruction, address: Address, role = AccountRole.READONLY): Instruction => ({
  ...built,
  accounts: [...built.accounts!, { address, role }],
});

function edit<Name extends string>(
  built: Instruction,
  layout: InstructionLayout<Name>,
  name: Name,
  change: (meta: AccountMeta) => AccountMeta,
): Instruction {
  const position = layout.accounts.findIndex(([known]) => known === name);
  return { ...built, accounts: built.accounts!.map((meta, index) => (index === position ? change(meta as AccountMeta) : meta)) };
}

function readVerdict(err: unknown, last: number): Verdict {
  if (err === null) return 'accepted';
  if (typeof err === 'string') return err;
  const failed = (err as { InstructionError?: [number, string | { Custom: number }] }).InstructionError;
  if (failed === undefined || failed[0] !== last) throw new Error(`not about the last instruction: ${JSON.stringify(err)}`);
  return typeof failed[1] === 'string' ? failed[1] : failed[1].Custom;
}
