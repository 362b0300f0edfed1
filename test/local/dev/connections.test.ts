import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DevProcess } from './dev-process.ts';
import { HABITS, misbehave } from './hostile-http.ts';

/** A soak takes its time; a test run only long enough for every hostile habit and a few pauses of every client. */
const DURATION_MS = process.env.SOAK ? 120_000 : 13_000;
const CLIENTS = 32;
const PAUSE_MS = { from: 1_000, to: 8_000 };
const HOSTILE_CLIENTS = 4;

const stateDir = mkdtempSync(join(tmpdir(), 'svc-connections-test-'));
let dev: DevProcess;
let baseUrl: string;
beforeAll(async () => {
  dev = new DevProcess(stateDir);
  baseUrl = (await dev.ready()).baseUrl;
}, 60_000);
afterAll(async () => {
  await dev.end();
  rmSync(stateDir, { recursive: true, force: true });
});

/** Opens a checkout; answers with the status, or with the error's code where the connection broke. */
function connect(agent: Agent): Promise<number | string> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': 2 };
    const sent = request(`${baseUrl}/v1/products/p/demo/connect`, { method: 'POST', agent, headers }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode!));
    });
    sent.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sent.end('{}');
  });
}

/** One client with one connection, which it keeps between its requests; answers what became of each of them. */
async function visit(end: number): Promise<(number | string)[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const outcomes: (number | string)[] = [];
  while (Date.now() < end) {
    outcomes.push(await connect(agent));
    const pause = PAUSE_MS.from + Math.random() * (PAUSE_MS.to - PAUSE_MS.from);
    await sleep(Math.min(pause, Math.max(0, end - Date.now())));
  }
  agent.destroy();
  return outcomes;
}

it('loses no request of clients that keep their connection, whatever others do to theirs', { timeout: DURATION_MS + 30_000 }, async () => {
  const end = Date.now() + DURATION_MS;
  const worker = dev.find('worker');
  // Each begins elsewhere in the list, so that all of it is done even where each gets only through its own part.
  const part = Math.ceil(HABITS.length / HOSTILE_CLIENTS);
  const [visits, acts] = await Promise.all([
    Promise.all(Array.from({ length: CLIENTS }, () => visit(end))),
    Promise.all(Array.from({ length: HOSTILE_CLIENTS }, (_, client) => misbehave(baseUrl, client * part, end))),
  ]);
  const outcomes = visits.flat();

  console.log(`${outcomes.length} requests over ${CLIENTS} kept connections in ${DURATION_MS / 1000} s, beside hostile ones: ${acts}`);
  expect(outcomes.filter((outcome) => outcome !== 200)).toEqual([]);
  expect(outcomes.length).toBeGreaterThanOrEqual((CLIENTS * DURATION_MS) / (PAUSE_MS.to + 1_000));
  expect(Math.min(...acts)).toBeGreaterThanOrEqual(part);
  // Not even started again: neither by `npm run dev` nor by wrangler itself.
  expect(dev.restarts).toBe(0);
  expect(dev.find('worker')).toBe(worker);
});
