import { reset } from 'cloudflare:test';
import { afterAll, vi } from 'vitest';

// One worker runs many files of stories, because its start takes longer than most of them do. Each file still begins as in a worker
// of its own: no row, no object, no module that another file has used, the clock of the machine and the network as it is.
const { fetch } = globalThis;
afterAll(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  globalThis.fetch = fetch;
  await reset();
  vi.resetModules();
});
