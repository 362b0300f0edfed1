import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request a receiver got. */
export interface Received {
  path: string;
  headers: Record<string, string>;
  body: string;
  at: number;
}

/**
 * A consumer of webhooks on loopback, with every bad habit: the first part of the path says how it answers, the second names
 * the box its requests are kept in. `GET /_box/<name>` gives them back; `GET /_flip/<name>/<status>` makes a `flip` box answer so.
 */
export async function startReceiver(): Promise<{ url: string; close(): Promise<void> }> {
  const boxes = new Map<string, Received[]>();
  const flips = new Map<string, number>();
  const behave: Record<string, (response: ServerResponse, request: IncomingMessage, box: string) => void> = {
    ok: (response) => response.writeHead(200).end('thanks'),
    flip: (response, _, box) => response.writeHead(flips.get(box) ?? 500).end('flip'),
    fail: (response) => response.writeHead(500).end('no token=abcdef123456 here'),
    gone: (response) => response.writeHead(410).end(),
    redirect: (response, request, box) => response.writeHead(302, { location: `http://${request.headers.host}/ok/${box}-followed` }).end(),
    pause: (response) => {
      setTimeout(() => response.writeHead(200).end('in a moment'), 1000).unref();
    },
    broken: (response, request) => {
      response.writeHead(200, { 'content-length': '1000' }).write('thanks, and');
      setTimeout(() => request.socket.resetAndDestroy(), 50).unref();
    },
    later: (response) => response.writeHead(503, { 'retry-after': '7200' }).end(),
    big: (response) => response.writeHead(200).end('x'.repeat(100_000)),
    reset: (_, request) => request.socket.resetAndDestroy(),
    hang: (response) => {
      setTimeout(() => response.writeHead(200).end('at last'), 30_000).unref();
    },
    slow: (response) => {
      setTimeout(() => response.writeHead(200).end('late'), 16_000).unref();
    },
  };
  const server = createServer(async (request, response) => {
    const [, habit = '', box = '', status] = (request.url ?? '').split('/');
    if (habit === '_box') return void response.end(JSON.stringify(boxes.get(box) ?? []));
    if (habit === '_flip') {
      flips.set(box, Number(status));
      return void response.end();
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const received = { path: request.url ?? '', headers, body: Buffer.concat(chunks).toString(), at: Date.now() };
    boxes.set(box, [...(boxes.get(box) ?? []), received]);
    (behave[habit] ?? ((answer) => answer.writeHead(404).end()))(response, request, box);
  });
  // Longer than workerd keeps a connection: while it is busy it does not see that we closed one, sends the next request on it,
  // and the healthiest endpoint has "connection failed". Sickness here is a habit asked for, never an accident.
  server.keepAliveTimeout = 600_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
