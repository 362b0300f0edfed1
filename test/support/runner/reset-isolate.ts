import { reset } from 'cloudflare:test';
import { setTimeout as later } from 'node:timers';
import { afterAll, vi } from 'vitest';
import { chargedFetch } from '#core/isolate/budget.ts';
import { forgetAll } from '#core/isolate/memory.ts';
import { endSkips } from './clock.ts';

// A worker runs many files and shares its modules, because a start or reload takes longer than most files.
// Each file still begins fresh: no rows, objects, memory or moved clock. Pending timers end with the file.
// Delayed timers bypass the test runner, which would walk the stack for each of them.
forgetAll();
const { setTimeout } = globalThis;
// Charges each network call to its invocation, in every file.
globalThis.fetch = chargedFetch;
const timers: ReturnType<typeof setTimeout>[] = [];
globalThis.setTimeout = ((...timer: Parameters<typeof setTimeout>) => {
  const id = timer[1] ? later(...timer) : setTimeout(...timer);
  timers.push(id);
  return id;
}) as typeof setTimeout;
afterAll(async () => {
  globalThis.setTimeout = setTimeout;
  timers.forEach(clearTimeout);
  vi.useRealTimers();
  endSkips();
  vi.unstubAllGlobals();
  globalThis.fetch = chargedFetch;
  await reset();
});
