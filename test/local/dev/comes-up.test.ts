import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { untilItAnswers } from '../../../local/service/supervised-worker.ts';

const WELL = { database: 'ok', queue: 'ok', rpc: 'ok', price_source: 'ok', processor: 'not_configured' };

/** Answers health checks with these values, repeating the last one. Returns the number of checks. */
async function askedUntilUp(...answers: { status: 'ok' | 'degraded'; checks: Partial<typeof WELL>; code?: number }[]): Promise<number> {
  let asked = 0;
  const server = createServer((_, response) => {
    const { code = 200, status, checks } = answers[Math.min(asked++, answers.length - 1)]!;
    response.writeHead(code, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ status, checks: { ...WELL, ...checks } }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await untilItAnswers(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, AbortSignal.timeout(5_000));
    return asked;
  } finally {
    server.close();
  }
}

it.each([
  ['money from before the stop that is overdue, which the clock alone looks for', { queue: 'failing' }],
  ['a price source that is away', { price_source: 'failing' }],
])('the clock of the local worker starts despite %s', async (_, checks) => {
  expect(await askedUntilUp({ status: 'degraded', checks })).toBe(1);
});

it('the clock of the local worker waits for the database and the chain', async () => {
  const away = [
    { status: 'degraded', checks: { database: 'failing' }, code: 503 },
    { status: 'degraded', checks: { rpc: 'failing' } },
  ] as const;
  expect(await askedUntilUp(...away, { status: 'ok', checks: {} })).toBe(3);
});
