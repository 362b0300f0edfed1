import { base64 } from '#core/encoding.ts';
import { Memory } from '#core/isolate/memory.ts';
import { TOKEN_PROGRAM } from './assets.ts';
import type { Chain, ChainAccount } from './chain.ts';
import type { Lifetime } from './checkout-transaction.ts';
import { type Confirmed, fetchFinality, lastHeightFrom, statusesCall } from './finality.ts';
import { Node, type RpcAnswer, type RpcCall, type Unavailable, unavailable } from './node.ts';
import { type Broadcast, readBroadcast, readSightings, readStatuses, type Sighting, type Sightings, sightingOf } from './node-answers.ts';
import { type AccountFacts, PAYEE_DATA } from './payee.ts';
import { type Bounds, boundsOf, CLOCK_SECONDS, CLOCK_SYSVAR, readListed, type SignatureListing } from './signature-list.ts';

const PATIENCE = { timeoutMs: 8000, attempts: 2 };
const HEALTH_TIMEOUT_MS = 2000;
const HEALTH_FOR_MS = 3000;
const MINT_OF_TOKEN_ACCOUNT = { offset: 0, length: 32 };

const FINAL_EPOCH: RpcCall = { method: 'getEpochInfo', params: [{ commitment: 'finalized' }] };
const transactionCall = (signature: string): RpcCall => ({
  method: 'getTransaction',
  params: [signature, { encoding: 'json', commitment: 'confirmed', maxSupportedTransactionVersion: 0 }],
});

/** Chain read through the configured nodes. The first answer is used. The next node is asked only if one does not answer. */
export class NodeChain implements Chain {
  readonly #nodes: readonly Node[];
  readonly #patience: typeof PATIENCE;
  static readonly #health = new Memory<string, { at: number; isHealthy: boolean }>(1_000);

  constructor(nodes: readonly Node[], patience = PATIENCE) {
    this.#nodes = nodes;
    this.#patience = patience;
  }

  get cachePrefix(): string {
    return this.#nodes[0]!.url;
  }

  within(timeoutMs: number, attempts = 1): NodeChain {
    return new NodeChain(this.#nodes, { timeoutMs, attempts });
  }

  async findTransaction(signature: string): Promise<Sighting> {
    const answers = await this.#call([transactionCall(signature), statusesCall([signature])]);
    if ('kind' in answers) return answers;
    const [transaction, statuses] = answers;
    if (!statuses) return unavailable('short answer');
    if ('error' in statuses) return unavailable(statuses.error.message);
    const status = (statuses.result as { value: ({ confirmationStatus: string } | null)[] }).value[0] ?? null;
    return sightingOf(signature, status, transaction);
  }

  async findTransactions(signatures: readonly string[]): Promise<Sightings | Unavailable> {
    const answers = await this.#call([FINAL_EPOCH, statusesCall(signatures), ...signatures.map(transactionCall)]);
    return 'kind' in answers ? answers : readSightings(answers, signatures);
  }

  async knows(signatures: readonly string[]): Promise<{ kind: 'known'; finalHeight: number; isKnown: boolean[] } | Unavailable> {
    const answers = await this.#call([FINAL_EPOCH, statusesCall(signatures)]);
    const read = 'kind' in answers ? answers : readStatuses(answers, signatures.length);
    if (read.kind === 'unavailable') return read;
    return { kind: 'known', finalHeight: read.finalHeight, isKnown: read.value.map((status) => status !== null) };
  }

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

  async accountOf(address: string): Promise<{ kind: 'found'; account: AccountFacts | null } | Unavailable> {
    const options = { encoding: 'base64', commitment: 'confirmed', dataSlice: PAYEE_DATA };
    const answers = await this.#call([{ method: 'getAccountInfo', params: [address, options] }]);
    if ('kind' in answers) return answers;
    const [answer] = answers;
    if (!answer || 'error' in answer) return unavailable('no account');
    const { value } = answer.result as { value: { owner: string; executable: boolean; data: [string, string] } | null };
    return { kind: 'found', account: value && { ...value, data: base64.decode(value.data[0]) } };
  }

  async readAccounts(
    addresses: readonly string[],
  ): Promise<{ kind: 'accounts'; slot: number; accounts: (ChainAccount | null)[] } | Unavailable> {
    const options = { encoding: 'base64', commitment: 'confirmed' };
    const answers = await this.#call([{ method: 'getMultipleAccounts', params: [addresses, options] }]);
    if ('kind' in answers) return answers;
    const [answer] = answers;
    if (!answer || 'error' in answer) return unavailable('no accounts');
    const { context, value } = answer.result as { context: { slot: number }; value: ({ owner: string; data: [string, string] } | null)[] };
    const accounts = value.map((account) => account && { owner: account.owner, data: base64.decode(account.data[0]) });
    return { kind: 'accounts', slot: context.slot, accounts };
  }

  /**
   * Page of an address's transactions, newest first, `before` and `until` exclusive. A node that does not know `before` answers an empty
   * page, and without `until` an unbounded one: `lost` and `knowsUntil` distinguish that from the end of the list.
   */
  async listSignatures(address: string, page: Bounds & { limit: number }): Promise<SignatureListing> {
    const bounds = { ...(page.before ? { before: page.before } : {}), ...(page.until ? { until: page.until } : {}) };
    const answers = await this.#call([
      // First in the batch, so that the list is at least as new as the clock.
      { method: 'getAccountInfo', params: [CLOCK_SYSVAR, { encoding: 'base64', commitment: 'confirmed', dataSlice: CLOCK_SECONDS }] },
      { method: 'getSignaturesForAddress', params: [address, { ...bounds, limit: page.limit, commitment: 'confirmed' }] },
      ...(boundsOf(page).length > 0 ? [statusesCall(boundsOf(page))] : []),
    ]);
    return 'kind' in answers ? answers : readListed(answers, page);
  }

  finalityOf(transactions: readonly Confirmed[]): ReturnType<typeof fetchFinality> {
    return fetchFinality(Node.inOrder(this.#nodes), transactions, this.#patience.timeoutMs);
  }

  async areUnknownEverywhere(signatures: readonly string[]): Promise<boolean[]> {
    const answers = await Promise.all(this.#nodes.map((node) => node.call([statusesCall(signatures)], this.#patience.timeoutMs)));
    const values = answers.map((answer) => {
      const statuses = 'kind' in answer ? undefined : answer[0];
      return statuses && 'result' in statuses ? (statuses.result as { value: unknown[] }).value : [];
    });
    return signatures.map((_, i) => values.every((value) => value[i] === null));
  }

  async isAbsentEverywhere(address: string): Promise<boolean> {
    const options = { encoding: 'base64', commitment: 'confirmed', dataSlice: { offset: 0, length: 0 } };
    const ask = { method: 'getAccountInfo', params: [address, options] };
    const answers = await Promise.all(this.#nodes.map((node) => node.call([ask], this.#patience.timeoutMs)));
    return answers.every((answer) => {
      const found = 'kind' in answer ? undefined : answer[0];
      return found !== undefined && 'result' in found && (found.result as { value: unknown }).value === null;
    });
  }

  async sendTransaction(wire: Uint8Array, { preflight } = { preflight: true }): Promise<Broadcast> {
    const options = { encoding: 'base64', preflightCommitment: 'confirmed', skipPreflight: !preflight };
    const { answers, attempt } = await this.#attempt([{ method: 'sendTransaction', params: [base64.encode(wire), options] }]);
    if ('kind' in answers) return answers;
    const broadcast = readBroadcast(answers);
    return broadcast.kind === 'rejected' && attempt > 1 ? unavailable(broadcast.reason) : broadcast;
  }

  /** Simulates the transaction in one round trip and returns the height past which it can never land. */
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
    return { kind: 'passed', lastValidBlockHeight: lastHeightFrom(height.result as number) };
  }

  async balanceOf(address: string): Promise<{ kind: 'balance'; lamports: number } | Unavailable> {
    const answers = await this.#call([{ method: 'getBalance', params: [address, { commitment: 'confirmed' }] }]);
    if ('kind' in answers) return answers;
    const [balance] = answers;
    if (!balance || 'error' in balance) return unavailable('no balance');
    return { kind: 'balance', lamports: (balance.result as { value: number }).value };
  }

  /** True if a node answers and serves the configured network. Cached for some seconds, because the health check is public. */
  async isHealthy(now: number): Promise<boolean> {
    const cachePrefix = this.#nodes.map(({ url }) => url).join();
    const known = NodeChain.#health.get(cachePrefix);
    if (known && now - known.at < HEALTH_FOR_MS) return known.isHealthy;
    const answers = await this.#call([{ method: 'getHealth', params: [] }], HEALTH_TIMEOUT_MS);
    const isHealthy = !('kind' in answers) && answers[0] !== undefined && 'result' in answers[0];
    NodeChain.#health.set(cachePrefix, { at: now, isHealthy });
    return isHealthy;
  }

  async #call(calls: RpcCall[], timeoutMs?: number): Promise<RpcAnswer[] | Unavailable> {
    return (await this.#attempt(calls, timeoutMs)).answers;
  }

  async #attempt(calls: RpcCall[], timeoutMs = this.#patience.timeoutMs): Promise<{ answers: RpcAnswer[] | Unavailable; attempt: number }> {
    const nodes = Node.inOrder(this.#nodes);
    const attempts = Math.max(this.#patience.attempts, nodes.length);
    for (let attempt = 1; ; attempt++) {
      const answers = await nodes[(attempt - 1) % nodes.length]!.call(calls, timeoutMs);
      if (!('kind' in answers) || attempt === attempts) return { answers, attempt };
    }
  }
}
