import { base64 } from '../core/encoding.ts';
import { TOKEN_PROGRAM } from './assets.ts';
import type { Lifetime } from './checkout-transaction.ts';
import { CLOCK_SECONDS, CLOCK_SYSVAR, type Listed, readListed } from './listing.ts';
import {
  type Broadcast,
  type Finality,
  type RpcAnswer,
  readBroadcast,
  readFinality,
  readSightings,
  readStatuses,
  type Sighting,
  type Sightings,
  sightingOf,
  type Unavailable,
  unavailable,
} from './sightings.ts';

export type { Finality, Sighting, Unavailable } from './sightings.ts';

/** JSON-RPC to a Solana node: the only place that talks to the chain. Answers are unions; an unreachable node is one of them. */
interface RpcCall {
  method: string;
  params: unknown[];
}

/** Blocks for which a blockhash can be used. */
const BLOCKHASH_LIFE = 150;
const PATIENCE = { timeoutMs: 8000, attempts: 2 };
const HEALTH_TIMEOUT_MS = 2000;
const HEALTH_FOR_MS = 3000;
const MINT_OF_TOKEN_ACCOUNT = { offset: 0, length: 32 };

const FINAL_EPOCH: RpcCall = { method: 'getEpochInfo', params: [{ commitment: 'finalized' }] };
const statusesCall = (signatures: readonly string[]): RpcCall => ({
  method: 'getSignatureStatuses',
  params: [signatures, { searchTransactionHistory: true }],
});
const transactionCall = (signature: string): RpcCall => ({
  method: 'getTransaction',
  params: [signature, { encoding: 'json', commitment: 'confirmed', maxSupportedTransactionVersion: 0 }],
});

export class Chain {
  readonly #url: string;
  readonly #genesisHash: string;
  readonly #patience: typeof PATIENCE;
  /** The node's genesis was compared once; a node does not change networks under one URL. */
  static readonly #verified = new Set<string>();
  static readonly #health = new Map<string, { at: number; isHealthy: boolean }>();

  constructor(url: string, genesisHash: string, patience = PATIENCE) {
    this.#url = url;
    this.#genesisHash = genesisHash;
    this.#patience = patience;
  }

  /** The same node for somebody who cannot wait. */
  within(timeoutMs: number, attempts = 1): Chain {
    return new Chain(this.#url, this.#genesisHash, { timeoutMs, attempts });
  }

  /** One round trip: the status (with history) and the transaction itself at `confirmed`. Both must agree to count as found. */
  async findTransaction(signature: string): Promise<Sighting> {
    const answers = await this.#call([transactionCall(signature), statusesCall([signature])]);
    if ('kind' in answers) return answers;
    const [transaction, statuses] = answers;
    if (!statuses) return unavailable('short answer');
    if ('error' in statuses) return unavailable(statuses.error.message);
    const status = (statuses.result as { value: ({ confirmationStatus: string } | null)[] }).value[0] ?? null;
    return sightingOf(signature, status, transaction);
  }

  /** One round trip for some twenty of them, which also tells whether absence proves anything. */
  async findTransactions(signatures: readonly string[]): Promise<Sightings | Unavailable> {
    const answers = await this.#call([FINAL_EPOCH, statusesCall(signatures), ...signatures.map(transactionCall)]);
    return 'kind' in answers ? answers : readSightings(answers, signatures);
  }

  /** One round trip for up to 256: which of them the node has heard of, and the height the cluster made final. */
  async knows(signatures: readonly string[]): Promise<{ kind: 'known'; finalHeight: number; isKnown: boolean[] } | Unavailable> {
    const answers = await this.#call([FINAL_EPOCH, statusesCall(signatures)]);
    const read = 'kind' in answers ? answers : readStatuses(answers, signatures.length);
    if (read.kind === 'unavailable') return read;
    return { kind: 'known', finalHeight: read.finalHeight, isKnown: read.value.map((status) => status !== null) };
  }

  /** One round trip: a fresh blockhash, and which of these token accounts exist. */
  async prepare(tokenAccounts: readonly string[]): Promise<{ kind: 'ready'; lifetime: Lifetime; exists: boolean[] } | Unavailable> {
    const answers = await this.#call([
      { method: 'getLatestBlockhash', params: [{ commitment: 'confirmed' }] },
      {
        method: 'getMultipleAccounts',
        params: [tokenAccounts, { encoding: 'base64', commitment: 'confirmed', dataSlice: MINT_OF_TOKEN_ACCOUNT }],
      },
    ]);
    if ('kind' in answers) return answers;
    const [blockhash, accounts] = answers;
    if (!blockhash || !accounts || 'error' in blockhash || 'error' in accounts) return unavailable('no blockhash');
    const { value } = blockhash.result as { value: { blockhash: string; lastValidBlockHeight: number } };
    const owners = (accounts.result as { value: ({ owner: string } | null)[] }).value;
    return {
      kind: 'ready',
      lifetime: { blockhash: value.blockhash, lastValidBlockHeight: BigInt(value.lastValidBlockHeight) },
      exists: owners.map((account) => account?.owner === TOKEN_PROGRAM),
    };
  }

  /**
   * One page of the transactions that mention an address, newest first, `before` and `until` exclusive, and how far the node
   * itself has come. A node that does not know `before` answers an empty page; `lost` tells that apart from the end.
   */
  async listSignatures(address: string, page: { before: string | null; until: string | null; limit: number }): Promise<Listed> {
    const bounds = { ...(page.before ? { before: page.before } : {}), ...(page.until ? { until: page.until } : {}) };
    const answers = await this.#call([
      // Before the list, so that the list is at least as new.
      { method: 'getAccountInfo', params: [CLOCK_SYSVAR, { encoding: 'base64', commitment: 'confirmed', dataSlice: CLOCK_SECONDS }] },
      { method: 'getSignaturesForAddress', params: [address, { ...bounds, limit: page.limit, commitment: 'confirmed' }] },
      ...(page.before ? [statusesCall([page.before])] : []),
    ]);
    return 'kind' in answers ? answers : readListed(answers, page.before !== null);
  }

  /**
   * How settled these transactions are, in their order. `dropped` where the node, history included, has no trace of one from a
   * slot it has long made final, or shows it as failed: what we confirmed is not on the chain that won.
   */
  async finalityOf(
    transactions: readonly { signature: string; slot: number }[],
  ): Promise<{ kind: 'statuses'; finality: Finality[] } | Unavailable> {
    const answers = await this.#call([
      statusesCall(transactions.map(({ signature }) => signature)),
      { method: 'getSlot', params: [{ commitment: 'finalized' }] },
    ]);
    return 'kind' in answers ? answers : readFinality(answers, transactions);
  }

  /**
   * Broadcast. A second broadcast of the same bytes is harmless on chain and answered as sent. A refusal speaks for its own
   * attempt alone: after one whose answer was lost, the transaction may be on its way all the same.
   */
  async sendTransaction(wire: Uint8Array, { preflight } = { preflight: true }): Promise<Broadcast> {
    const options = { encoding: 'base64', preflightCommitment: 'confirmed', skipPreflight: !preflight };
    const call = { method: 'sendTransaction', params: [base64.encode(wire), options] };
    let broadcast: Broadcast = unavailable('not tried');
    for (let attempt = 1; attempt <= this.#patience.attempts; attempt++) {
      const answers = await this.#call([call], { ...this.#patience, attempts: 1 });
      broadcast = 'kind' in answers ? answers : readBroadcast(answers);
      if (!('kind' in answers)) return broadcast.kind === 'rejected' && attempt > 1 ? unavailable(broadcast.reason) : broadcast;
    }
    return broadcast;
  }

  /**
   * One round trip: would this transaction succeed as it is, and past which height can it never land? Its blockhash is at
   * most as young as this moment, and lives 150 blocks.
   */
  async simulate(
    wire: Uint8Array,
  ): Promise<{ kind: 'passed'; lastValidBlockHeight: number } | { kind: 'failed'; reason: string } | Unavailable> {
    const options = { encoding: 'base64', sigVerify: false, replaceRecentBlockhash: false, commitment: 'confirmed' };
    const answers = await this.#call([
      { method: 'getBlockHeight', params: [{ commitment: 'confirmed' }] },
      { method: 'simulateTransaction', params: [base64.encode(wire), options] },
    ]);
    if ('kind' in answers) return answers;
    const [height, simulated] = answers;
    if (!height || !simulated || 'error' in height) return unavailable('no block height');
    if ('error' in simulated)
      return simulated.error.code === -32602 ? { kind: 'failed', reason: simulated.error.message } : unavailable(simulated.error.message);
    const { err } = (simulated.result as { value: { err: unknown } }).value;
    if (err !== null) return { kind: 'failed', reason: JSON.stringify(err).slice(0, 200) };
    return { kind: 'passed', lastValidBlockHeight: (height.result as number) + BLOCKHASH_LIFE };
  }

  /** Lamports an address holds. */
  async balanceOf(address: string): Promise<{ kind: 'balance'; lamports: number } | Unavailable> {
    const answers = await this.#call([{ method: 'getBalance', params: [address, { commitment: 'confirmed' }] }]);
    if ('kind' in answers) return answers;
    const [balance] = answers;
    if (!balance || 'error' in balance) return unavailable('no balance');
    return { kind: 'balance', lamports: (balance.result as { value: number }).value };
  }

  /** True where the node answers and is on our network. Asked at most every few seconds: health is asked by everybody. */
  async isHealthy(now: number): Promise<boolean> {
    const known = Chain.#health.get(this.#url);
    if (known && now - known.at < HEALTH_FOR_MS) return known.isHealthy;
    const answers = await this.#call([{ method: 'getHealth', params: [] }], { ...this.#patience, timeoutMs: HEALTH_TIMEOUT_MS });
    const isHealthy = !('kind' in answers) && answers[0] !== undefined && 'result' in answers[0];
    Chain.#health.set(this.#url, { at: now, isHealthy });
    return isHealthy;
  }

  /** One HTTP round trip for all `calls`, answers in their order. The first one to a URL also asks for the genesis hash. */
  async #call(calls: RpcCall[], patience = this.#patience): Promise<RpcAnswer[] | Unavailable> {
    const trusted = Chain.#verified.has(this.#url);
    const asked = trusted ? calls : [...calls, { method: 'getGenesisHash', params: [] }];
    const answers = await this.#post(asked, patience);
    if ('kind' in answers || trusted) return answers;
    const genesis = answers.pop();
    if (!genesis || !('result' in genesis)) return unavailable('no genesis hash');
    if (genesis.result !== this.#genesisHash) return unavailable('the RPC serves another network');
    Chain.#verified.add(this.#url);
    return answers;
  }

  async #post(calls: RpcCall[], { timeoutMs, attempts }: typeof PATIENCE): Promise<RpcAnswer[] | Unavailable> {
    const body = JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call })));
    let reason = '';
    for (let attempt = 1; attempt <= attempts; attempt++) {
      try {
        const response = await fetch(this.#url, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
          signal: AbortSignal.timeout(timeoutMs),
        });
        if (response.ok) {
          const answers = (await response.json()) as ({ id: number } & RpcAnswer)[];
          if (Array.isArray(answers)) return answers.sort((a, b) => a.id - b.id);
          reason = 'the RPC does not answer batches';
        } else {
          reason = `HTTP ${response.status}`;
          await response.body?.cancel();
        }
      } catch (error) {
        reason = error instanceof Error ? error.name : 'unknown';
      }
    }
    return unavailable(reason);
  }
}
