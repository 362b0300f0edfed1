import type { Teardown } from './teardown.ts';

const LOOK_EVERY_MS = 500;

/**
 * Ends cleanly, with exit status 0, when asked to, and also when npm, which started us, is gone: npm kills only the shell
 * between us, and a forgotten service would keep its ports.
 */
export function endOnSignals(teardown: Teardown, status = 0): void {
  const end = async (): Promise<void> => {
    await teardown.run();
    process.exit(status);
  };
  // Ctrl-C reaches us twice, from the terminal and from npm; the second one finds the end under way.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end());
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) void end();
  }, LOOK_EVERY_MS).unref();
}
