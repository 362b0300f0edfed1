import { createHash, randomBytes } from 'node:crypto';
import type { EncodedAccount, ReadonlyUint8Array } from '@solana/kit';
import { CallCounts } from './calls.ts';
import { encodeReturnData } from './encode-transaction.ts';
import { Faults } from './faults.ts';
import { lamportsLost, readBalances } from './ledger/balances.ts';
import { BlockhashWindow } from './ledger/blockhashes.ts';
import { ChainClock } from './ledger/clock.ts';
import { type DecodedTransaction, decodeTransaction, replaceBlockhash } from './ledger/decode-transaction.ts';
import { describeTransactionError, RPC_CODE, RpcError } from './ledger/errors.ts';
import { History } from './ledger/history.ts';
import { type Execution, Machine, refuse, type Simulation } from './ledger/machine.ts';
import { formatMemos } from './ledger/memos.ts';
import { FAUCET_ADDRESS, FAUCET_LAMPORTS, SYSTEM_PROGRAM, USDC_DECIMALS, USDC_MINT } from './ledger/network.ts';
import { putMint } from './ledger/tokens.ts';
import { putTreasuries } from './models.ts';
import type { Commitment } from './params.ts';
import { executeTransaction, simulateTransaction } from './run-transaction.ts';

interface CommitmentDepth {
  confirmedAfterSlots: number;
  finalizedAfterSlots: number;
}

interface ChainOrigin {
  now?: () => number;
  seed?: Uint8Array;
}

export class ChainNode {
  readonly faults = new Faults();
  readonly calls = new CallCounts();
}

export class Chain {
  readonly id: string;
  readonly clock: ChainClock;
  readonly blockhashes: BlockhashWindow;
  readonly history = new History();
  readonly skippedSlots = new Set<number>();
  readonly #nodes = new Map<string, ChainNode>();
  commitmentDepth: CommitmentDepth;
  #machine: Machine | null = null;

  /** `now` and `seed` make a chain that repeats itself: its clock and its blockhashes depend on nothing else. */
  constructor(id: string, commitmentDepth: CommitmentDepth, { now = Date.now, seed = randomBytes(32) }: ChainOrigin = {}) {
    this.id = id;
    this.clock = new ChainClock(now);
    this.blockhashes = new BlockhashWindow(seed);
    this.commitmentDepth = commitmentDepth;
  }

  get machine(): Machine {
    if (this.#machine === null) {
      this.#machine = new Machine();
      putMint(this.#machine, USDC_MINT, USDC_DECIMALS);
      putTreasuries(this.#machine);
      this.#machine.putAccount(FAUCET_ADDRESS, new Uint8Array(), SYSTEM_PROGRAM, FAUCET_LAMPORTS);
    }
    return this.#machine;
  }

  /** Returns a node by name, created on first use. `''` is the default node. */
  node(name: string): ChainNode {
    const node = this.#nodes.get(name) ?? new ChainNode();
    this.#nodes.set(name, node);
    return node;
  }

  get machineNow(): Machine {
    const { slot, unixTimestamp } = this.clock;
    this.machine.setClock(slot, unixTimestamp);
    return this.machine;
  }

  slotAt(commitment: Commitment): number {
    return Math.max(0, this.clock.slot - this.#depthOf(commitment));
  }

  commitmentOf(slot: number): Commitment {
    if (slot <= this.slotAt('finalized')) return 'finalized';
    return slot <= this.slotAt('confirmed') ? 'confirmed' : 'processed';
  }

  decode(bytes: ReadonlyUint8Array): DecodedTransaction {
    return decodeTransaction(bytes, (address) => this.machine.findAccount(address));
  }

  /**
   * Accepts a transaction like `sendTransaction` and returns its signature. With preflight, any failure is an error. Without, a transaction
   * that cannot land is dropped silently and a failing one lands as failed.
   */
  send(bytes: ReadonlyUint8Array, { skipPreflight }: { skipPreflight: boolean }): string {
    const decoded = this.decode(bytes);
    const signature = decoded.signatures[0]!;
    if (!skipPreflight) this.#preflight(decoded);
    const messageHash = hashMessage(decoded);
    if (this.#findRefusal(decoded, messageHash) !== null) return signature;
    this.#land(decoded, messageHash, { isVerified: !skipPreflight });
    return signature;
  }

  simulate(decoded: DecodedTransaction, options: { sigVerify: boolean; replacementBlockhash?: string }): Simulation {
    const { replacementBlockhash } = options;
    const subject = replacementBlockhash === undefined ? decoded : replaceBlockhash(decoded, replacementBlockhash);
    const { machineNow } = this;
    const refusal = this.#findRefusal(subject, hashMessage(subject));
    const isVerifiedAnyway = refusal !== null && options.sigVerify;
    if (refusal !== null && !isVerifiedAnyway) return { ...refusal, postAccounts: new Map() };
    const simulation = simulateTransaction(machineNow, subject, options.sigVerify);
    if (simulation.err === 'SignatureFailure') {
      throw new RpcError(RPC_CODE.signatureVerification, 'Transaction signature verification failure');
    }
    return refusal === null ? simulation : { ...refusal, postAccounts: new Map() };
  }

  /** Drops a slot's block as part of a lost fork: its transactions become unknown and the slot counts as skipped. Effects remain. */
  dropBlock(slot: number): void {
    this.skippedSlots.add(slot);
    this.history.vanishSlot(slot);
  }

  /** Lands a vanished transaction again, now. Its original effects remain. A failed one runs again and may succeed. */
  landAgain(signature: string): boolean {
    const vanished = this.history.findVanished(signature);
    if (vanished === null) return false;
    const { slot, unixTimestamp: blockTime } = this.clock;
    const outcome = vanished.execution.err === null ? {} : this.#run(this.decode(vanished.bytes), { isVerified: false });
    this.history.landAgain(vanished, { slot, blockTime, ...outcome });
    return true;
  }

  /** Mints lamports to an account, creating it if missing, outside of any transaction. Returns the balance. */
  addLamports(address: EncodedAccount['address'], amount: bigint): bigint {
    const account = this.machine.findAccount(address);
    const balance = (account?.lamports ?? 0n) + amount;
    this.machine.putAccount(address, account?.data ?? new Uint8Array(), account?.programAddress ?? SYSTEM_PROGRAM, balance);
    return balance;
  }

  #preflight(decoded: DecodedTransaction): void {
    const { err, logs, unitsConsumed, returnData } = this.simulate(decoded, { sigVerify: true });
    if (err === null) return;
    throw new RpcError(RPC_CODE.preflightFailure, `Transaction simulation failed: ${describeTransactionError(err)}`, {
      accounts: null,
      err,
      innerInstructions: null,
      logs,
      replacementBlockhash: null,
      returnData: encodeReturnData(returnData),
      unitsConsumed,
    });
  }

  #findRefusal(decoded: DecodedTransaction, messageHash: string): Execution | null {
    if (!this.blockhashes.isValid(decoded.message.lifetimeToken, this.clock.slot)) return refuse('BlockhashNotFound');
    return this.history.hasProcessed(messageHash) ? refuse('AlreadyProcessed') : null;
  }

  #land(decoded: DecodedTransaction, messageHash: string, signatures: { isVerified: boolean }): void {
    const { slot, unixTimestamp } = this.clock;
    const { execution, before, after, fee } = this.#run(decoded, signatures);
    // A transaction that failed without paying its fee is never included in a block.
    if (execution.err !== null && fee === 0n) return;
    this.history.add({
      signature: decoded.signatures[0]!,
      messageHash,
      slot,
      blockTime: unixTimestamp,
      bytes: decoded.bytes,
      keys: decoded.keys,
      loaded: decoded.loaded,
      execution,
      fee,
      before,
      after,
      memo: formatMemos(decoded.keys, decoded.instructions),
    });
  }

  #run(decoded: DecodedTransaction, signatures: { isVerified: boolean }) {
    this.machine.setClock(this.clock.slot, this.clock.unixTimestamp);
    const before = readBalances(this.machine, decoded.keys);
    const execution = executeTransaction(this.machine, decoded, signatures.isVerified);
    const after = readBalances(this.machine, decoded.keys);
    return { execution, before, after, fee: lamportsLost(before, after) };
  }

  #depthOf(commitment: Commitment): number {
    if (commitment === 'processed') return 0;
    return commitment === 'confirmed' ? this.commitmentDepth.confirmedAfterSlots : this.commitmentDepth.finalizedAfterSlots;
  }
}

function hashMessage(decoded: DecodedTransaction): string {
  return createHash('sha256').update(Buffer.from(decoded.transaction.messageBytes)).digest('base64');
}
