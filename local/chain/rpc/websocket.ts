import type { Server } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Chain } from '../chain.ts';
import { invalidParams, RPC_CODE, RpcError } from '../ledger/errors.ts';
import { type Params, readCommitment, readConfig, readFlag, readSignature } from '../params.ts';
import { decodeJson, encodeJson } from './json.ts';
import { describeError, readEnvelope } from './rpc.ts';

/** Reads the chain once, notifies of changes and returns whether the subscription is over. */
type Watch = (notify: (result: unknown) => void) => 'waiting' | 'over';

const POLL_EVERY_MS = 20;
const MESSAGE_BYTES_MAX = 64_000;

// Subscriptions by method prefix.
const WATCHES = new Map<string, (chain: Chain, params: Params) => Watch>([
  ['signature', watchSignature],
  ['slot', watchSlot],
]);

/** Serves WebSocket subscriptions at each chain's address until the signal aborts. Public clients await them after sending. */
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

class Subscriber {
  readonly #socket: WebSocket;
  readonly #chain: Chain;
  readonly #watches = new Map<number, { kind: string; watch: Watch }>();
  readonly #timer: NodeJS.Timeout;

  constructor(socket: WebSocket, chain: Chain) {
    this.#socket = socket;
    this.#chain = chain;
    this.#timer = setInterval(() => this.#poll(), POLL_EVERY_MS).unref();
    socket.on('message', (text) => this.#notify(this.#answer(String(text))));
    socket.on('close', () => clearInterval(this.#timer));
    // A broken connection closes right after. The unhandled error alone would end the process.
    socket.on('error', () => {});
  }

  /** Answers a message. Undefined for a call without an id, which clients use as a heartbeat. */
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

  #poll(): void {
    for (const [subscription, { kind, watch }] of this.#watches) {
      const notify = (result: unknown) => this.#notify({ jsonrpc: '2.0', method: `${kind}Notification`, params: { result, subscription } });
      if (watch(notify) === 'over') this.#watches.delete(subscription);
    }
  }

  #notify(message: unknown): void {
    if (message !== undefined && this.#socket.readyState === this.#socket.OPEN) this.#socket.send(encodeJson(message));
  }
}

/** Notifies once when a transaction has the requested commitment, and before that, if requested, when the node has received it. */
function watchSignature(chain: Chain, [first, second]: Params): Watch {
  const signature = readSignature(first);
  const config = readConfig(second);
  const commitment = readCommitment(config);
  let sendsReceived = readFlag(config.enableReceivedNotification);
  return (notify) => {
    const record = chain.history.find(signature);
    if (record === null) return 'waiting';
    const inContext = (value: unknown) => ({ context: { slot: chain.clock.slot }, value });
    if (sendsReceived) notify(inContext('receivedSignature'));
    sendsReceived = false;
    if (record.slot > chain.slotAt(commitment)) return 'waiting';
    notify(inContext({ err: record.execution.err }));
    return 'over';
  };
}

/** Notifies of every slot, or of the newest after the clock was moved. */
function watchSlot(chain: Chain): Watch {
  let notifiedSlot = chain.clock.slot;
  return (notify) => {
    const { slot } = chain.clock;
    if (slot > notifiedSlot) notify({ parent: slot - 1, slot, root: chain.slotAt('finalized') });
    notifiedSlot = slot;
    return 'waiting';
  };
}
