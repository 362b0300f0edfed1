import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  path: string;
  headers: Record<string, string>;
  body: string;
  at: number;
}

/**
 * Starts a webhook consumer with every failure mode. The first path part selects the answer, the second the box. `GET /_box/<name>` returns
 * its requests, and `GET /_flip/<name>/<status>` sets a `flip` box's answer.
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
  // Exceeds the time that workerd holds a connection. Otherwise a busy workerd misses the server's close, reuses the closed connection, and
  // a healthy endpoint fails with "connection failed".
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
