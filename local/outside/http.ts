import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body: string;
}

/** Answer of a simulated service: JSON, a page (text) or a redirect. A status below 0 drops the connection. */
export interface Said {
  status: number;
  body?: unknown;
  location?: string;
}

export const say = (status: number, body?: unknown): Said => ({ status, body });
export const goTo = (location: string): Said => ({ status: 302, location });
export const fieldsOf = (text: string): Record<string, string> => Object.fromEntries(new URLSearchParams(text));

async function readAsked(request: IncomingMessage): Promise<Asked> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
  return { method: request.method ?? 'GET', url, headers, body: Buffer.concat(chunks).toString() };
}

function write(response: ServerResponse, { status, body, location }: Said): void {
  // Simulates a lost answer.
  if (status < 0) return void response.socket?.resetAndDestroy();
  const isPage = typeof body === 'string';
  const headers = location === undefined ? { 'content-type': isPage ? 'text/html; charset=utf-8' : 'application/json' } : { location };
  response.writeHead(status, headers).end(body === undefined ? '' : isPage ? body : JSON.stringify(body));
}

export async function serveParts(
  parts: Record<string, (asked: Asked) => Said | Promise<Said>>,
  port = 0,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const asked = await readAsked(request);
    const part = parts[asked.url.pathname.split('/')[1] ?? ''];
    write(response, part ? await part(asked) : say(404, { error: 'there is nothing here' }));
  });
  // Longer than workerd retains a connection: a busy workerd does not notice that this server closed one.
  server.keepAliveTimeout = 600_000;
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${taken}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
