import { Memory } from '#core/isolate/memory.ts';

export type Unavailable = { kind: 'unavailable'; reason: string };
export const unavailable = (reason: string): Unavailable => ({ kind: 'unavailable', reason });

export type RpcAnswer = { result: unknown } | { error: { code: number; message: string } };

export interface RpcCall {
  method: string;
  params: unknown[];
}

/** Calls for which a node that did not answer is asked last, so that they do not wait for it first. */
const RESTS_FOR_CALLS = 20;

/** Short timeout, because a request waits for the check. A node without an answer is not checked again for a while. */
const GENESIS = { timeoutMs: 500, everyMs: 30_000 };

const NODES_MAX = 1_000;

/** JSON-RPC client of one Solana node: the only module that calls the chain. */
export class Node {
  readonly url: string;
  readonly #genesisHash: string;
  readonly #leftMs: () => number;
  /** The genesis hash is compared once per URL, because a node does not change networks. */
  static readonly #verified = new Memory<string, true>(NODES_MAX);
  static readonly #foreign = new Memory<string, true>(NODES_MAX);
  static readonly #resting = new Memory<string, number>(NODES_MAX);
  static readonly #askedAt = new Memory<string, number>(NODES_MAX);

  /** `leftMs` returns the caller's remaining time: it bounds every call, and at zero no node is asked. */
  constructor(url: string, genesisHash: string, leftMs: () => number) {
    this.url = url;
    this.#genesisHash = genesisHash;
    this.#leftMs = leftMs;
  }

  get isVerified(): boolean {
    return Node.#verified.has(this.url);
  }

  get isForeign(): boolean {
    return Node.#foreign.has(this.url);
  }

  static inOrder(nodes: readonly Node[]): Node[] {
    const isResting = ({ url }: Node) => {
      const calls = Node.#resting.get(url) ?? 0;
      if (calls > 0) Node.#resting.set(url, calls - 1);
      return calls > 0;
    };
    const resting = new Set(nodes.filter(isResting));
    return [...nodes.filter((node) => !resting.has(node)), ...resting];
  }

  static areKnownGood(urls: readonly string[], now: number): boolean {
    return urls.every((url) => Node.#verified.has(url) || (!Node.#foreign.has(url) && !Node.#isDue(url, now)));
  }

  static #isDue(url: string, now: number): boolean {
    return now >= (Node.#askedAt.get(url) ?? 0) + GENESIS.everyMs;
  }

  /**
   * Lists nodes, as numbers from 1, that serve another network. Unverified nodes are asked. A node without an answer is not listed, because
   * the failure may be temporary, whereas a wrong network is a configuration error.
   */
  static async listForeign(nodes: readonly Node[], now: number): Promise<number[]> {
    const unknown = nodes.filter(({ url, isVerified }) => !isVerified && Node.#isDue(url, now));
    for (const { url } of unknown) Node.#askedAt.set(url, now);
    await Promise.all(unknown.map((node) => node.call([], GENESIS.timeoutMs)));
    return nodes.flatMap(({ isForeign }, index) => (isForeign ? [index + 1] : []));
  }

  /**
   * Sends all `calls` in one HTTP round trip and returns the answers in order, within `patienceMs` and the caller's remaining time. The
   * first call to a URL also requests the genesis hash.
   */
  async call(calls: readonly RpcCall[], patienceMs: number): Promise<RpcAnswer[] | Unavailable> {
    const timeoutMs = Math.min(patienceMs, this.#leftMs());
    if (timeoutMs === 0) return unavailable('the deadline is over');
    const trusted = this.isVerified;
    const answers = await this.#post(trusted ? calls : [...calls, { method: 'getGenesisHash', params: [] }], timeoutMs);
    // A timeout shortened by the caller proves nothing about the node.
    if ('kind' in answers && timeoutMs === patienceMs) Node.#resting.set(this.url, RESTS_FOR_CALLS);
    if ('kind' in answers || trusted) return answers;
    const genesis = answers.pop();
    if (!genesis || !('result' in genesis) || typeof genesis.result !== 'string') return unavailable('no genesis hash');
    if (genesis.result !== this.#genesisHash) {
      Node.#foreign.set(this.url, true);
      return unavailable('the RPC serves another network');
    }
    Node.#foreign.delete(this.url);
    Node.#verified.set(this.url, true);
    return answers;
  }

  async #post(calls: readonly RpcCall[], timeoutMs: number): Promise<RpcAnswer[] | Unavailable> {
    try {
      const response = await fetch(this.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }))),
        signal: AbortSignal.timeout(timeoutMs),
      });
      if (response.ok) {
        const answers = (await response.json()) as ({ id: number } & RpcAnswer)[];
        return Array.isArray(answers) ? answers.sort((a, b) => a.id - b.id) : unavailable('the RPC does not answer batches');
      }
      await response.body?.cancel();
      return unavailable(`HTTP ${response.status}`);
    } catch (error) {
      return unavailable(error instanceof TypeError ? 'no connection' : error instanceof Error ? error.name : 'unknown');
    }
  }
}
