// @module-tag volume
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DevProcess } from './dev-process.ts';
import { HABITS, misbehave } from './hostile-http.ts';

/** Until then a soak goes on; a test run ends with every habit had once and two pauses of every client. */
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
async function visit(client: number, end: number): Promise<(number | string)[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { from, to } = PAUSE_MS;
  // As long for all clients together: of some the first pause is short and the second long, of some the other way round.
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

it('loses no request of clients that keep their connection, whatever others do to theirs', { timeout: SOAK_MS + 60_000 }, async () => {
  const end = Date.now() + SOAK_MS;
  const worker = dev.find('worker');
  let isOver = false;
  const visiting = Promise.all(Array.from({ length: CLIENTS }, (_, client) => visit(client, end))).finally(() => {
    isOver = true;
  });
  // Each begins elsewhere in the list, so that all of it is done even where each gets only through its own part.
  const part = Math.ceil(HABITS.length / HOSTILE_CLIENTS);
  const hostile = Array.from({ length: HOSTILE_CLIENTS }, (_, client) => misbehave(baseUrl, client * part, part, () => isOver));
  const [visits, acts] = await Promise.all([visiting, Promise.all(hostile)]);
  const outcomes = visits.flat();

  console.log(`${outcomes.length} requests over ${CLIENTS} kept connections, beside hostile ones: ${acts}`);
  expect(outcomes.filter((outcome) => outcome !== 200)).toEqual([]);
  // Not even started again: neither by `npm run dev` nor by wrangler itself.
  expect(dev.restarts).toBe(0);
  expect(dev.find('worker')).toBe(worker);
});
