import { connect, type Socket } from 'node:net';

/**
 * One keep-alive HTTP/1.1 connection that does nothing but what a load generator needs: one request at a time, already
 * written out as text, and of the answer the status and where it ends. Node's own client costs more than what is measured.
 */
export class Connection {
  readonly #socket: Socket;
  #onStatus: ((status: number) => void) | null = null;
  #onFailure: (error: Error) => void = () => {};
  #received: Buffer = Buffer.alloc(0);

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (error) => this.#onFailure(error));
    socket.on('close', () => this.#onFailure(new Error('the server closed a connection in the middle of a run')));
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.off('error', reject);
        resolve(new Connection(socket));
      });
      socket.once('error', reject);
    });
  }

  /** Callbacks, not promises: at these rates a promise per answer shows in the result. */
  send(request: string, onStatus: (status: number) => void, onFailure: (error: Error) => void): void {
    this.#onStatus = onStatus;
    this.#onFailure = onFailure;
    this.#socket.write(request, 'latin1');
  }

  close(): void {
    this.#onFailure = () => {};
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const head = this.#received.toString('latin1', 0, headEnd);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined) this.#onFailure(new Error(`an answer without a length: ${head}`));
    if (this.#received.length < headEnd + 4 + Number(length)) return;
    this.#received = Buffer.alloc(0);
    this.#onStatus?.(Number(head.slice(9, 12)));
  }
}

/** A request as it goes over the wire. */
export function requestText(method: 'GET' | 'POST', path: string, headers: Record<string, string> = {}, body = ''): string {
  const sent: Record<string, string> = { Host: '127.0.0.1', ...headers };
  if (method === 'POST') Object.assign(sent, { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) });
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}
