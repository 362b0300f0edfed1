// @module-tag volume
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DevProcess } from './dev-process.ts';
import { HABITS, misbehave } from './hostile-http.ts';

/** Duration of a soak. A test run ends after every habit and two pauses of every client. */
const SOAK_MS = process.env.SOAK ? 120_000 : 0;
const CLIENTS = 32;
const PAUSE_MS = { from: 1_000, to: 8_000 };
const HOSTILE_CLIENTS = 8;

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

async function visit(client: number, end: number): Promise<(number | string)[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { from, to } = PAUSE_MS;
  // All clients pause equally long in total, with the short and the long pause in varying order.
  const first = from + ((to - from) * client) / (CLIENTS - 1);
  const outcomes = [await connect(agent)];
  do {
    for (const pause of [first, from + to - first]) {
      await sleep(pause);
      outcomes.push(await connect(agent));
    }
  } while (Date.now() < end);
  agent.destroy();
  return outcomes;
}

it('clients with persistent connections lose no request while others misuse theirs', { timeout: SOAK_MS + 60_000 }, async () => {
  const end = Date.now() + SOAK_MS;
  const worker = dev.find('worker');
  let isOver = false;
  const visiting = Promise.all(Array.from({ length: CLIENTS }, (_, client) => visit(client, end))).finally(() => {
    isOver = true;
  });
  // Each client starts at a different habit, so that all habits run even if each client finishes only its part.
  const part = Math.ceil(HABITS.length / HOSTILE_CLIENTS);
  const hostile = Array.from({ length: HOSTILE_CLIENTS }, (_, client) => misbehave(baseUrl, client * part, part, () => isOver));
  const [visits, acts] = await Promise.all([visiting, Promise.all(hostile)]);
  const outcomes = visits.flat();

  console.log(`${outcomes.length} requests over ${CLIENTS} kept connections, beside hostile ones: ${acts}`);
  expect(outcomes.filter((outcome) => outcome !== 200)).toEqual([]);
  // Neither `npm run dev` nor wrangler restarted the worker.
  expect(dev.restarts).toBe(0);
  expect(dev.find('worker')).toBe(worker);
});
