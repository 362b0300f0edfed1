import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { Chain } from '../chain.ts';
import { RPC_CODE, RpcError } from '../ledger/errors.ts';
import { decodeJson, encodeJson } from './json.ts';
import { answerRequest, describeError, type Outcome } from './rpc.ts';
import { serveSubscriptions } from './websocket.ts';

export interface ChainServer {
  /** Base URL without a trailing slash: the dev chain. `<url>/<id>` are other chains, `<url>/<id>/<name>` their further nodes. */
  url: string;
  port: number;
  close(): Promise<void>;
  chain(id: string): Chain;
}

const BODY_BYTES_MAX = 1_000_000;
const KEEP_ALIVE_MS = 600_000;
const DEV_CHAIN = '';
const FINALIZED_AFTER_SLOTS = 32;
const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'POST, OPTIONS',
  'access-control-allow-headers': 'content-type, solana-client',
  'access-control-max-age': '86400',
};

export async function startChainServer({ port = 0, host = '127.0.0.1' }: { port?: number; host?: string } = {}): Promise<ChainServer> {
  const chains = new Map<string, Chain>();
  const closing = new AbortController();
  const findChain = (id: string): Chain => {
    const existing = chains.get(id);
    if (existing !== undefined) return existing;
    if (id !== DEV_CHAIN && !/^[A-Za-z0-9_-]{1,64}$/.test(id)) throw new Error(`not a chain id: ${id}`);
    // Payments on the dev chain confirm visibly. Test chains confirm at once.
    const created = new Chain(id, { confirmedAfterSlots: id === DEV_CHAIN ? 1 : 0, finalizedAfterSlots: FINALIZED_AFTER_SLOTS });
    chains.set(id, created);
    return created;
  };
  const server = createServer((request, response) => {
    respond(request, response, findChain, closing.signal).catch(() => request.socket.destroy());
  });
  serveSubscriptions(server, findChain, closing.signal);
  // Clients reuse connections. Closing an idle one would resemble a fault that no test requested.
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const bound = server.address() as AddressInfo;
  return {
    url: `http://${host}:${bound.port}`,
    port: bound.port,
    chain: findChain,
    close: () =>
      new Promise((resolve) => {
        closing.abort();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  findChain: (id: string) => Chain,
  signal: AbortSignal,
): Promise<void> {
  const path = (request.url ?? '').split('?')[0]!;
  const [, id, node = ''] = /^\/([A-Za-z0-9_-]{0,64})(?:\/([A-Za-z0-9_-]{1,16}))?$/.exec(path) ?? [];
  if (request.method === 'OPTIONS') return reply(response, 204, '');
  if (id === undefined) return reply(response, 404, 'no such chain');
  if (request.method === 'GET' && id === 'health') return reply(response, 200, 'ok');
  if (request.method !== 'POST') return reply(response, 405, 'POST a JSON-RPC request');
  const body = await readBody(request);
  if (body === null) return reply(response, 413, 'request body too large');
  const outcome = await answerBody(findChain(id), node, body, signal);
  if (outcome === 'broken') request.socket.destroy();
  else if (outcome === 'silent') reply(response, 200, '');
  else if ('status' in outcome) reply(response, outcome.status, `the chain answers ${outcome.status}`);
  else reply(response, 200, encodeJson(outcome.answer), 'application/json; charset=utf-8');
}

/** Answers the body of one HTTP request, a batch included. */
export async function answerBody(chain: Chain, nodeName: string, body: string, signal: AbortSignal): Promise<Outcome> {
  const node = chain.node(nodeName);
  let requests: unknown;
  try {
    requests = decodeJson(body);
  } catch {
    return { answer: describeError(null, new RpcError(RPC_CODE.parse, 'Parse error')) };
  }
  if (!Array.isArray(requests) || requests.length === 0) return answerRequest(chain, node, requests, signal);
  const answers: unknown[] = [];
  // Sequential: a batch that sends and then reads must see its own transaction.
  for (const request of requests) {
    const outcome = await answerRequest(chain, node, request, signal);
    if (outcome === 'broken' || (outcome !== 'silent' && 'status' in outcome)) return outcome;
    if (outcome !== 'silent') answers.push(outcome.answer);
  }
  return answers.length === 0 ? 'silent' : { answer: answers };
}

async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
  }
  return bytes > BODY_BYTES_MAX ? null : Buffer.concat(chunks).toString('utf8');
}

function reply(response: ServerResponse, status: number, body: string, contentType = 'text/plain; charset=utf-8'): void {
  const type = body === '' ? {} : { 'content-type': contentType };
  response.writeHead(status, { ...CORS_HEADERS, ...type });
  response.end(body);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { url, close } = await startChainServer({ port: Number(process.argv[2] ?? 8899) });
  console.log(`chain ${url}`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void close().then(() => process.exit(0)));
}
