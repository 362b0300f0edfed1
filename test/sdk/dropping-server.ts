import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** Moments at which the connection ends: before or after the effect, within the answer, or after all of it. */
export const DROPS = ['before the effect', 'before the answer', 'in the answer', 'after the answer'] as const;
export type Drop = (typeof DROPS)[number] | null;

/**
 * Fake service that drops connections. A key has one effect, and so has a body of the paths that are idempotent by protocol.
 * Other paths have an effect for each request.
 */
export class DroppingServer {
  /** Number of effects of each call, by the name in its body. */
  readonly effects = new Map<string, number>();
  readonly requests = new Map<string, number>();
  readonly #stored = new Map<string, string>();
  readonly #dropOf: () => Drop;
  readonly #server: Server;

  constructor(dropOf: () => Drop) {
    this.#dropOf = dropOf;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  async listen(port = 0): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request).catch(() => '');
    const name = (JSON.parse(body || '{}') as { name?: string }).name ?? request.url!.split('/').at(-1)!;
    this.requests.set(name, (this.requests.get(name) ?? 0) + 1);
    const drop = this.#dropOf();
    if (drop === 'before the effect') return void request.socket.destroy();
    const answer = this.#act(request, name);
    if (drop === 'before the answer') return void request.socket.destroy();
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': answer.length });
    if (drop === 'in the answer') return void response.write(answer.slice(0, 9), () => request.socket.destroy());
    response.end(answer, () => drop === 'after the answer' && request.socket.destroy());
  }

  #act({ method, url, headers }: IncomingMessage, name: string): string {
    const answer = JSON.stringify({ name, filler: 'x'.repeat(200) });
    if (method === 'GET') return answer;
    const key = url!.includes('agent-bootstrap') ? null : url!.includes('facilitator') ? name : String(headers['idempotency-key']);
    const stored = key && this.#stored.get(key);
    if (stored) return stored;
    if (key) this.#stored.set(key, answer);
    this.effects.set(name, (this.effects.get(name) ?? 0) + 1);
    return answer;
  }
}
