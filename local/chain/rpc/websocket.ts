import type { Server } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Chain } from '../chain.ts';
import { invalidParams, RPC_CODE, RpcError } from '../ledger/errors.ts';
import { type Params, readCommitment, readConfig, readFlag, readSignature } from '../params.ts';
import { decodeJson, encodeJson } from './json.ts';
import { describeError, readEnvelope } from './rpc.ts';

/** Looks at the chain once: tells what is new, and says whether that was the last of it. */
type Watch = (notify: (result: unknown) => void) => 'waiting' | 'over';

const LOOK_EVERY_MS = 20;
const MESSAGE_BYTES_MAX = 64_000;

// What a client can subscribe to, by the word its methods begin with.
const WATCHES = new Map<string, (chain: Chain, params: Params) => Watch>([
  ['signature', watchSignature],
  ['slot', watchSlot],
]);

/** Serves subscriptions on a WebSocket at each chain's own address, until the signal. Public clients wait on them after sending. */
export function serveSubscriptions(server: Server, findChain: (id: string) => Chain, signal: AbortSignal): void {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_BYTES_MAX });
  server.on('upgrade', (request, connection, head) => {
    const path = (request.url ?? '').split('?')[0]!;
    const id = /^\/([A-Za-z0-9_-]{0,64})(?:\/[A-Za-z0-9_-]{1,16})?$/.exec(path)?.[1];
    if (id === undefined) connection.destroy();
    else sockets.handleUpgrade(request, connection, head, (socket) => new Subscriber(socket, findChain(id)));
  });
  signal.addEventListener('abort', () => {
    for (const socket of sockets.clients) socket.terminate();
  });
}

let subscriptionCount = 0;

/** One connection and what it subscribed to. */
class Subscriber {
  readonly #socket: WebSocket;
  readonly #chain: Chain;
  readonly #watches = new Map<number, { kind: string; watch: Watch }>();
  readonly #timer: NodeJS.Timeout;

  constructor(socket: WebSocket, chain: Chain) {
    this.#socket = socket;
    this.#chain = chain;
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
    socket.on('message', (text) => this.#tell(this.#answer(String(text))));
    socket.on('close', () => clearInterval(this.#timer));
    // A connection that breaks is closed right after; the error alone would end the process.
    socket.on('error', () => {});
  }

  /** The answer to a message; undefined where a call without an id wants none: clients keep the connection open with some. */
  #answer(text: string): unknown {
    let request: unknown;
    try {
      request = decodeJson(text);
    } catch {
      return describeError(null, new RpcError(RPC_CODE.parse, 'Parse error'));
    }
    const envelope = readEnvelope(request);
    if (envelope === null) return describeError(null, new RpcError(RPC_CODE.invalidRequest, 'Invalid request'));
    const { id, method, params } = envelope;
    if (id === undefined) return undefined;
    try {
      return { jsonrpc: '2.0', result: this.#perform(method, Array.isArray(params) ? params : []), id };
    } catch (error) {
      return describeError(id, error);
    }
  }

  #perform(method: string, params: Params): unknown {
    const [, kind = '', action] = /^([a-z]+)(Subscribe|Unsubscribe)$/.exec(method) ?? [];
    const start = WATCHES.get(kind);
    if (start === undefined) throw new RpcError(RPC_CODE.methodNotFound, 'Method not found');
    if (action === 'Unsubscribe') {
      if (!this.#watches.delete(Number(params[0]))) throw invalidParams('Invalid subscription id.');
      return true;
    }
    const watch = start(this.#chain, params);
    subscriptionCount += 1;
    this.#watches.set(subscriptionCount, { kind, watch });
    return subscriptionCount;
  }

  #look(): void {
    for (const [subscription, { kind, watch }] of this.#watches) {
      const notify = (result: unknown) => this.#tell({ jsonrpc: '2.0', method: `${kind}Notification`, params: { result, subscription } });
      if (watch(notify) === 'over') this.#watches.delete(subscription);
    }
  }

  #tell(message: unknown): void {
    if (message !== undefined && this.#socket.readyState === this.#socket.OPEN) this.#socket.send(encodeJson(message));
  }
}

/** Tells once when a transaction has reached a commitment, and before that, where it is asked for, that it arrived. */
function watchSignature(chain: Chain, [first, second]: Params): Watch {
  const signature = readSignature(first);
  const config = readConfig(second);
  const commitment = readCommitment(config);
  let tellsArrival = readFlag(config.enableReceivedNotification);
  return (notify) => {
    const record = chain.history.find(signature);
    if (record === null) return 'waiting';
    const inContext = (value: unknown) => ({ context: { slot: chain.clock.slot }, value });
    if (tellsArrival) notify(inContext('receivedSignature'));
    tellsArrival = false;
    if (record.slot > chain.slotAt(commitment)) return 'waiting';
    notify(inContext({ err: record.execution.err }));
    return 'over';
  };
}

/** Tells of every slot, or where the clock was moved, of the newest. */
function watchSlot(chain: Chain): Watch {
  let told = chain.clock.slot;
  return (notify) => {
    const { slot } = chain.clock;
    if (slot > told) notify({ parent: slot - 1, slot, root: chain.slotAt('finalized') });
    told = slot;
    return 'waiting';
  };
}
