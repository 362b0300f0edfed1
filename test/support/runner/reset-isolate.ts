import { reset } from 'cloudflare:test';
import { setTimeout as later } from 'node:timers';
import { afterAll, vi } from 'vitest';
import { chargedFetch } from '#core/isolate/budget.ts';
import { forgetAll } from '#core/isolate/memory.ts';
import { endSkips } from './clock.ts';

// One worker runs many files of stories, because its start takes longer than most of them do, and they share its modules, because to
// load the service anew would take as long again. Each file still begins as in a worker of its own: no row, no object, nothing that the
// service remembers, the clock of the machine and the network as it is. What one still waits for at its end ends with it, as it would
// with its worker. A timer that is not due at once is set without the test runner, which would walk the stack for each of them to find
// its own.
forgetAll();
const { setTimeout } = globalThis;
// The service charges each call of the network to the invocation that makes it, in every file.
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
