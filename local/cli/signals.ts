import type { Teardown } from './teardown.ts';

const POLL_EVERY_MS = 500;

/** Exits with status 0 on a signal, and when npm, the parent, is gone: npm kills only the shell. */
export function endOnSignals(teardown: Teardown, status = 0): void {
  const end = async (): Promise<void> => {
    await teardown.run();
    process.exit(status);
  };
  // Ctrl-C arrives twice, from the terminal and from npm. The second one has no effect.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end());
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) void end();
  }, POLL_EVERY_MS).unref();
}
