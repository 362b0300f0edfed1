import { connect, type Socket } from 'node:net';

/** Keep-alive HTTP/1.1 connection for load: sends one prepared request at a time and reads only status and length. */
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

  /** Callbacks, because a promise per answer shows in the result at these rates. */
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

export function requestText(method: 'GET' | 'POST', path: string, headers: Record<string, string> = {}, body = ''): string {
  const sent: Record<string, string> = { Host: '127.0.0.1', ...headers };
  if (method === 'POST') Object.assign(sent, { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) });
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}
