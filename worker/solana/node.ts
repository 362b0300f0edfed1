import { Memory } from '#core/isolate/memory.ts';

/** An unreachable node is an answer like any other. */
export type Unavailable = { kind: 'unavailable'; reason: string };
export const unavailable = (reason: string): Unavailable => ({ kind: 'unavailable', reason });

export type RpcAnswer = { result: unknown } | { error: { code: number; message: string } };

export interface RpcCall {
  method: string;
  params: unknown[];
}

/** A node that did not answer is asked last for so many calls, so that not each of them waits for it first. */
const RESTS_FOR_CALLS = 20;

/** A request waits for it, so not for long; and a node that does not answer is left alone for a while. */
const GENESIS = { timeoutMs: 500, everyMs: 30_000 };

/** More than any configuration names. */
const NODES_MAX = 1_000;

/** JSON-RPC to one Solana node: the only place that talks to the chain. */
export class Node {
  readonly url: string;
  readonly #genesisHash: string;
  readonly #leftMs: () => number;
  /** The node's genesis was compared once; a node does not change networks under one URL. */
  static readonly #verified = new Memory<string, true>(NODES_MAX);
  static readonly #foreign = new Memory<string, true>(NODES_MAX);
  static readonly #resting = new Memory<string, number>(NODES_MAX);
  static readonly #askedAt = new Memory<string, number>(NODES_MAX);

  /** `leftMs` tells how long the caller has left: no call takes longer, and with nothing left no node is asked. */
  constructor(url: string, genesisHash: string, leftMs: () => number) {
    this.url = url;
    this.#genesisHash = genesisHash;
    this.#leftMs = leftMs;
  }

  /** It has shown the genesis hash of our network. */
  get isVerified(): boolean {
    return Node.#verified.has(this.url);
  }

  /** It has shown that of another one, lately. */
  get isForeign(): boolean {
    return Node.#foreign.has(this.url);
  }

  /** In the order to ask them: as configured, but those that lately did not answer come last. */
  static inOrder(nodes: readonly Node[]): Node[] {
    const isResting = ({ url }: Node) => {
      const calls = Node.#resting.get(url) ?? 0;
      if (calls > 0) Node.#resting.set(url, calls - 1);
      return calls > 0;
    };
    const resting = new Set(nodes.filter(isResting));
    return [...nodes.filter((node) => !resting.has(node)), ...resting];
  }

  /** `listForeign` would ask none of these now, and answer none. */
  static areKnownGood(urls: readonly string[], now: number): boolean {
    return urls.every((url) => Node.#verified.has(url) || (!Node.#foreign.has(url) && !Node.#isDue(url, now)));
  }

  static #isDue(url: string, now: number): boolean {
    return now >= (Node.#askedAt.get(url) ?? 0) + GENESIS.everyMs;
  }

  /**
   * Which of the nodes have shown that they serve another network, as numbers from 1. Those that have not shown any are asked; one that does
   * not answer counts as none of them, because it may be back in a moment. Of nodes, not of the chain: a wrong one is a wrong configuration.
   */
  static async listForeign(nodes: readonly Node[], now: number): Promise<number[]> {
    const unknown = nodes.filter(({ url, isVerified }) => !isVerified && Node.#isDue(url, now));
    for (const { url } of unknown) Node.#askedAt.set(url, now);
    await Promise.all(unknown.map((node) => node.call([], GENESIS.timeoutMs)));
    return nodes.flatMap(({ isForeign }, index) => (isForeign ? [index + 1] : []));
  }

  /**
   * One HTTP round trip for all `calls`, answers in their order, within `patienceMs` and what the caller has left. The first one to a URL
   * also asks for the genesis hash.
   */
  async call(calls: readonly RpcCall[], patienceMs: number): Promise<RpcAnswer[] | Unavailable> {
    const timeoutMs = Math.min(patienceMs, this.#leftMs());
    if (timeoutMs === 0) return unavailable('the deadline is over');
    const trusted = this.isVerified;
    const answers = await this.#post(trusted ? calls : [...calls, { method: 'getGenesisHash', params: [] }], timeoutMs);
    // A caller with little time left tells nothing about the node.
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
      // fetch throws a TypeError for every connection that fails.
      return unavailable(error instanceof TypeError ? 'no connection' : error instanceof Error ? error.name : 'unknown');
    }
  }
}
