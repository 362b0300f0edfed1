import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

export const isRunning = (child: ChildProcess): boolean => child.pid !== undefined && child.exitCode === null && child.signalCode === null;

/** Returns the child processes of all threads. Empty without /proc. */
export function childrenOf(pid: number): number[] {
  const threads = orNothing(() => readdirSync(`/proc/${pid}/task`), []);
  const lists = threads.map((thread) => orNothing(() => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'), ''));
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
}

/** A process or thread may end while it is read. */
function orNothing<T>(read: () => T, nothing: T): T {
  try {
    return read();
  } catch {
    return nothing;
  }
}
