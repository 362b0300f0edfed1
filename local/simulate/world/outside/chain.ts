import { AccountRole, type Address, address, type Blockhash, createNoopSigner, getBase64Encoder, type Instruction } from '@solana/kit';
import { getSetComputeUnitLimitInstruction, getSetComputeUnitPriceInstruction } from '@solana-program/compute-budget';
import { getAddMemoInstruction } from '@solana-program/memo';
import { getCreateAssociatedTokenIdempotentInstruction, getTransferCheckedInstruction } from '@solana-program/token';
import { associatedTokenAddress } from '#solana/programs/derived-address.ts';
import { Chain } from '../../../chain/chain.ts';
import { type Fault, readFault } from '../../../chain/faults.ts';
import type { TransactionRecord } from '../../../chain/ledger/history.ts';
import { BLOCKHASH_VALID_SLOTS, MEMO_PROGRAM, TOKEN_PROGRAM, USDC_DECIMALS, USDC_MINT } from '../../../chain/ledger/network.ts';
import { fundToken } from '../../../chain/ledger/tokens.ts';
import { encodeJson } from '../../../chain/rpc/json.ts';
import { answerBody } from '../../../chain/rpc/server.ts';
import type { Landed } from '../../book/history.ts';
import type { Lifetime, Wallet } from './wallet.ts';

const COMPUTE_UNITS = 20_000;
const COMPUTE_PRICE = 1n;
const FINALIZED_AFTER_SLOTS = 32;

export interface Transfer {
  recipient: string;
  units: bigint;
  memo: string;
  references?: readonly string[];
}

/** Solana chain in process, on the clock of the history. Its nodes answer JSON-RPC and have faults of their own. */
export class SimulatedChain {
  readonly #chain: Chain;
  readonly usdc = USDC_MINT;
  readonly #never = new AbortController().signal;

  constructor(now: () => number, seed: Uint8Array) {
    this.#chain = new Chain('simulated', { confirmedAfterSlots: 0, finalizedAfterSlots: FINALIZED_AFTER_SLOTS }, { now, seed });
  }

  /** Answers a request to the node that the host names. Rejects like a broken connection if a fault breaks it. */
  async answer(request: Request): Promise<Response> {
    const outcome = await answerBody(this.#chain, new URL(request.url).hostname, await request.text(), this.#never);
    if (outcome === 'broken') throw new TypeError('fetch failed');
    if (outcome === 'silent') return new Response('');
    if ('status' in outcome) return new Response('', { status: outcome.status });
    return new Response(encodeJson(outcome.answer), { headers: { 'content-type': 'application/json' } });
  }

  fault(node: string, fault: Partial<Fault> & { times?: number }): void {
    this.#chain.node(node).faults.add(readFault(fault));
  }

  clearFaults(nodes: readonly string[]): void {
    for (const node of nodes) this.#chain.node(node).faults.clear();
  }

  fundLamports(owner: string, lamports: bigint): void {
    this.#chain.addLamports(address(owner), lamports);
  }

  fundUsdc(owner: string, units: bigint): void {
    fundToken(this.#chain.machine, USDC_MINT, address(owner), tokenAccountOf(owner), units);
  }

  /** Sends a signed transaction in base64. Returns its signature, or null if the chain refuses it. */
  send(wire: string): string | null {
    try {
      return this.#chain.send(getBase64Encoder().encode(wire), { skipPreflight: false });
    } catch {
      return null;
    }
  }

  /** Pays as a wallet with a Solana Pay link does. */
  pay(payer: Wallet, { recipient, units, memo, references = [] }: Transfer): string | null {
    const signer = createNoopSigner(payer.address);
    const created = { payer: signer, ata: tokenAccountOf(recipient), owner: address(recipient), mint: USDC_MINT };
    const instructions = [
      getCreateAssociatedTokenIdempotentInstruction(created),
      memoInstruction(memo),
      withReferences(transferOf(payer.address, recipient, units), references),
    ];
    return this.send(payer.signInstructions(instructions, this.#lifetime()));
  }

  /** Pays a PAYMENT-REQUIRED header as the reference client does. Returns the PAYMENT-SIGNATURE header. */
  signRequired(payer: Wallet, header: string, nonce: string): string {
    const { accepts, resource, extensions } = JSON.parse(Buffer.from(header, 'base64').toString());
    const [accepted] = accepts;
    const transfer = { recipient: accepted.payTo, units: BigInt(accepted.amount), memo: accepted.extra.memo ?? nonce };
    const transaction = this.#signExact(payer, transfer, accepted.extra.feePayer);
    const payload = { x402Version: 2, resource, accepted, payload: { transaction }, ...(extensions ? { extensions } : {}) };
    return Buffer.from(JSON.stringify(payload)).toString('base64');
  }

  #signExact(payer: Wallet, { recipient, units, memo }: Transfer, feePayer: string): string {
    const instructions = [
      getSetComputeUnitLimitInstruction({ units: COMPUTE_UNITS }),
      getSetComputeUnitPriceInstruction({ microLamports: COMPUTE_PRICE }),
      transferOf(payer.address, recipient, units),
      memoInstruction(memo),
    ];
    return payer.signInstructions(instructions, this.#lifetime(), address(feePayer));
  }

  /** Takes a transaction that is not final off the chain, as a fork does. False if it is final. */
  vanish(signature: string): boolean {
    const slot = this.#chain.history.find(signature)?.slot;
    if (slot === undefined || slot <= this.#chain.slotAt('finalized')) return false;
    this.#chain.history.vanish(signature);
    return true;
  }

  /** Lands a transaction again that a fork took away. */
  landAgain(signature: string): boolean {
    return this.#chain.landAgain(signature);
  }

  /** Transactions that moved USDC to a wallet and are on the chain. */
  landed(wallet: string): Landed[] {
    const account = tokenAccountOf(wallet);
    const records = this.#chain.history.listByAddress(account, { limit: Number.POSITIVE_INFINITY }, isSuccessful);
    return records
      .map((record) => ({
        signature: record.signature,
        memos: readMemos(record.memo),
        units: heldAfter(record, account) - heldBefore(record, account),
        blockTimeMs: record.blockTime * 1000,
      }))
      .filter(({ units }) => units > 0n);
  }

  /** Signs instructions with a wallet that pays the fee, and sends them. Null if the chain refuses them. */
  act(payer: Wallet, instructions: Instruction[]): string | null {
    return this.send(payer.signInstructions(instructions, this.#lifetime()));
  }

  /** Changes of the USDC of `owner` in the successful transactions that name an account. */
  moved(account: string, owner: string): bigint[] {
    const holding = tokenAccountOf(owner);
    const records = this.#chain.history.listByAddress(address(account), { limit: Number.POSITIVE_INFINITY }, isSuccessful);
    return records.map((record) => heldAfter(record, holding) - heldBefore(record, holding));
  }

  names(account: string, signature: string): boolean {
    return this.#chain.history.find(signature)?.keys.includes(address(account)) ?? false;
  }

  #lifetime(): Lifetime {
    const { slot } = this.#chain.clock;
    return { blockhash: this.#chain.blockhashes.at(slot) as Blockhash, lastValidBlockHeight: BigInt(slot + BLOCKHASH_VALID_SLOTS) };
  }
}

const tokenAccountOf = (owner: string): Address => associatedTokenAddress(address(owner), USDC_MINT, TOKEN_PROGRAM);

const memoInstruction = (memo: string): Instruction => getAddMemoInstruction({ memo }, { programAddress: MEMO_PROGRAM });

function transferOf(payer: Address, recipient: string, amount: bigint): Instruction {
  return getTransferCheckedInstruction({
    source: tokenAccountOf(payer),
    mint: USDC_MINT,
    destination: tokenAccountOf(recipient),
    authority: createNoopSigner(payer),
    amount,
    decimals: USDC_DECIMALS,
  });
}

function withReferences(instruction: Instruction, references: readonly string[]): Instruction {
  const keys = references.map((reference) => ({ address: address(reference), role: AccountRole.READONLY }));
  return { ...instruction, accounts: [...(instruction.accounts ?? []), ...keys] };
}

const isSuccessful = ({ execution }: TransactionRecord): boolean => execution.err === null;

const heldIn = (record: TransactionRecord, tokens: TransactionRecord['after']['tokens'], account: Address): bigint =>
  BigInt(tokens.find(({ accountIndex }) => record.keys[accountIndex] === account)?.uiTokenAmount.amount ?? 0);
const heldAfter = (record: TransactionRecord, account: Address): bigint => heldIn(record, record.after.tokens, account);
const heldBefore = (record: TransactionRecord, account: Address): bigint => heldIn(record, record.before.tokens, account);

/** Splits what a node prints of a transaction's memos: `[length] text`, joined by semicolons. */
function readMemos(printed: string | null): string[] {
  const memos: string[] = [];
  for (let rest = printed ?? ''; rest !== ''; ) {
    const [head, length] = /^\[(\d+)\] /.exec(rest) ?? [];
    if (head === undefined) break;
    memos.push(rest.slice(head.length, head.length + Number(length)));
    rest = rest.slice(head.length + Number(length)).replace(/^; /, '');
  }
  return memos;
}
