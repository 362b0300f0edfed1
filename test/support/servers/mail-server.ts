import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TakenMail {
  id: string;
  key: string;
  authorization: string;
  body: { from: string; to: string[]; subject: string; html: string; text: string };
}

type Habit = 'ok' | 'busy' | 'broken' | 'refuses' | 'forgets' | 'hangs';

/**
 * Starts a fake Resend as documented: `POST /<box>/emails` with an Idempotency-Key, which is stored. `POST /<box>/_habit` makes answers
 * fail: 429 with Retry-After, 500, 422, or a lost answer after acceptance. `GET /<box>/_taken` returns the accepted emails.
 */
export async function startMailServer(): Promise<{ url: string; close(): Promise<void> }> {
  const boxes = new Map<string, { taken: TakenMail[]; asked: number; habit: Habit }>();
  const boxOf = (name: string) => boxes.get(name) ?? boxes.set(name, { taken: [], asked: 0, habit: 'ok' }).get(name)!;

  function take(name: string, request: IncomingMessage, response: ServerResponse, text: string): void {
    const box = boxOf(name);
    box.asked++;
    const refuse = (status: number, error: string, headers = {}) =>
      response.writeHead(status, headers).end(JSON.stringify({ statusCode: status, name: error, message: error }));
    if (box.habit === 'busy') return void refuse(429, 'rate_limit_exceeded', { 'retry-after': '120' });
    if (box.habit === 'broken') return void refuse(500, 'internal_server_error');
    if (box.habit === 'refuses') return void refuse(422, 'validation_error');
    if (box.habit === 'hangs') return;
    const key = String(request.headers['idempotency-key']);
    const body = JSON.parse(text) as TakenMail['body'];
    const known = box.taken.find((one) => one.key === key);
    if (known && JSON.stringify(known.body) !== JSON.stringify(body)) return void refuse(409, 'invalid_idempotent_request');
    const mail = known ?? { id: `re_${box.taken.length + 1}`, key, authorization: String(request.headers.authorization), body };
    if (!known) box.taken.push(mail);
    if (box.habit === 'forgets') return void request.socket.resetAndDestroy();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: mail.id }));
  }

  const server = createServer(async (request, response) => {
    const [, name = '', what = ''] = (request.url ?? '').split('/');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    if (what === '_taken') return void response.end(JSON.stringify(boxOf(name)));
    if (what === '_habit') {
      boxOf(name).habit = text as Habit;
      return void response.end();
    }
    if (what === 'emails' && request.method === 'POST') return take(name, request, response, text);
    response.writeHead(404).end();
  });
  server.keepAliveTimeout = 600_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => void server.close(() => resolve()).closeAllConnections()) as Promise<void>,
  };
}
