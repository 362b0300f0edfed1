import { vi } from 'vitest';
import { NETWORKS } from '#solana/assets.ts';
import type { TestChain } from './chain.ts';

interface Status {
  slot: number;
  confirmations: number | null;
  err: unknown;
  confirmationStatus: string;
}

/** What a chain said at one moment of the transactions a test asks about: enough to answer the same questions for ever. */
export interface ChainRecord {
  slot: number;
  finalizedSlot: number;
  /** By signature; one that is not here the chain does not have. */
  statuses: Record<string, Status>;
  transactions: Record<string, unknown>;
  /** Newest first, of the one address whose history is kept: as far back as a reader who was there before goes on from. */
  listed: { address: string; items: ListedItem[] };
}
type ListedItem = Status & { signature: string };

const PAGE = 200;

/** Asks a chain for all of it. `judged` are the signatures whose whole transaction matters, not only what became of it. */
export async function recordChain(
  chain: TestChain,
  signatures: string[],
  judged: string[],
  { address, until }: { address: string; until: string },
): Promise<ChainRecord> {
  const { slot } = await chain.call<{ slot: number }>('local_time');
  const finalizedSlot = await chain.call<number>('getSlot', { commitment: 'finalized' });
  const statuses: ChainRecord['statuses'] = {};
  for (let i = 0; i < signatures.length; i += PAGE) {
    const page = signatures.slice(i, i + PAGE);
    const { value } = await chain.call<{ value: (Status | null)[] }>('getSignatureStatuses', page, { searchTransactionHistory: true });
    for (const [index, status] of value.entries()) if (status) statuses[page[index]!] = status;
  }
  const transactions: ChainRecord['transactions'] = {};
  for (const signature of judged) {
    const config = { encoding: 'json', commitment: 'confirmed', maxSupportedTransactionVersion: 0 };
    const transaction = await chain.call('getTransaction', signature, config);
    if (transaction) transactions[signature] = transaction;
  }
  const all = await chain.call<ListedItem[]>('getSignaturesForAddress', address, { limit: 1000 });
  const items = all.slice(0, all.findIndex(({ signature }) => signature === until) + 1);
  return { slot, finalizedSlot, statuses, transactions, listed: { address, items } };
}

const RPC_ERROR = { skipped: -32009, noSuchMethod: -32601 };
const failure = (code: number, message: string) => ({ error: { code, message } });

/** A node that answers from such a record. Time stands still there, nothing new lands, and what was dropped is in no block. */
export class RecordedNode {
  static readonly url = 'https://recorded-node.test/';
  readonly #record: ChainRecord;
  readonly asked: string[] = [];

  constructor(record: ChainRecord) {
    this.#record = record;
  }

  /** From now on, until the stubs are taken back, requests to `RecordedNode.url` are answered here. */
  listen(): this {
    const real = globalThis.fetch;
    vi.stubGlobal('fetch', async (input: RequestInfo | URL, init?: RequestInit) => {
      const request = new Request(input, init);
      return request.url === RecordedNode.url ? this.#respond(request) : real(input, init);
    });
    return this;
  }

  async #respond(request: Request): Promise<Response> {
    const calls = (await request.json()) as { id: number; method: string; params: unknown[] }[];
    this.asked.push(...calls.map(({ method }) => method));
    return Response.json(calls.map(({ id, method, params }) => ({ jsonrpc: '2.0', id, ...this.#answer(method, params) })));
  }

  #answer(method: string, [first, second]: unknown[]): { result: unknown } | ReturnType<typeof failure> {
    const { slot, finalizedSlot, statuses, transactions, listed } = this.#record;
    const at = (config: unknown) => ((config as { commitment?: string } | undefined)?.commitment === 'finalized' ? finalizedSlot : slot);
    const withContext = (value: unknown) => ({ result: { context: { slot }, value } });
    switch (method) {
      case 'getGenesisHash':
        return { result: NETWORKS.devnet.genesisHash };
      case 'getHealth':
        return { result: 'ok' };
      case 'getSlot':
      case 'getBlockHeight':
        return { result: at(first) };
      case 'getEpochInfo':
        return { result: { absoluteSlot: at(first), blockHeight: at(first) } };
      case 'getFirstAvailableBlock':
      case 'minimumLedgerSlot':
        return { result: 0 };
      case 'getBalance':
        return withContext(1_000_000_000);
      case 'getSignatureStatuses':
        return withContext((first as string[]).map((signature) => statuses[signature] ?? this.#listedStatus(signature)));
      case 'getTransaction':
        return { result: transactions[first as string] ?? null };
      case 'getBlock':
        return this.#block(first as number, second as object);
      case 'getSignaturesForAddress':
        return { result: first === listed.address ? this.#list(second as object) : [] };
      case 'sendTransaction':
        return failure(-32002, 'Transaction simulation failed: Blockhash not found');
      default:
        return failure(RPC_ERROR.noSuchMethod, `${method} was not recorded`);
    }
  }

  #listedStatus(signature: string): Status | null {
    const item = this.#record.listed.items.find((one) => one.signature === signature);
    return item ? { slot: item.slot, confirmations: null, err: item.err, confirmationStatus: item.confirmationStatus } : null;
  }

  #list({ before, until, limit = 1000 }: { before?: string; until?: string; limit?: number }): ListedItem[] {
    const { items } = this.#record.listed;
    const placeOf = (signature: string | undefined) => items.findIndex((item) => item.signature === signature);
    const from = before === undefined ? 0 : placeOf(before) + 1;
    const to = placeOf(until);
    return items.slice(before !== undefined && from === 0 ? items.length : from, to < 0 ? items.length : to).slice(0, limit);
  }

  #block(slot: number, { transactionDetails }: { transactionDetails?: string } = {}) {
    if (slot > this.#record.finalizedSlot) return failure(-32004, `Block not available for slot ${slot}`);
    const signatures = Object.entries(this.#record.statuses).flatMap(([signature, status]) => (status.slot === slot ? [signature] : []));
    const blockTime = Math.floor(Date.now() / 1000) - Math.floor((this.#record.slot - slot) * 0.4);
    const block = { blockhash: '11111111111111111111111111111111', parentSlot: slot - 1, blockHeight: slot, blockTime };
    return { result: { ...block, ...(transactionDetails === 'none' ? {} : { signatures }) } };
  }
}
