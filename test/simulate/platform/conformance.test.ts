import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CASES } from './cases/cases.ts';
import { QUEUE_CASES } from './cases/queues.ts';
import { simulated } from './in-node.ts';
import { startWorkerd } from './in-workerd.ts';

let workerd: Awaited<ReturnType<typeof startWorkerd>>;
const node = simulated();
/** Cases that wait for time to pass, which in workerd all wait together. */
const waiting = new Map<string, Promise<string>>();
const isSlow = (name: string): boolean => name in QUEUE_CASES || name.startsWith('alarm');

beforeAll(async () => {
  workerd = await startWorkerd();
  for (const name of Object.keys(CASES).filter(isSlow)) waiting.set(name, workerd.run(name));
});
afterAll(() => workerd.stop());

describe('simulated platform', () => {
  it.for(Object.keys(CASES))('agrees with workerd: %s', async (name) => {
    const [real, own] = await Promise.all([waiting.get(name) ?? workerd.run(name), node.run(name)]);
    expect(real).not.toMatch(/^\{\s*"(?:\$undefined|threw)"/);
    expect(JSON.parse(own)).toEqual(JSON.parse(real));
  });
});
