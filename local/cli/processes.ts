import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

export const isRunning = (child: ChildProcess): boolean => child.pid !== undefined && child.exitCode === null && child.signalCode === null;

/** The processes one started, by whichever of its threads. Empty on systems without /proc. */
export function childrenOf(pid: number): number[] {
  const threads = orNothing(() => readdirSync(`/proc/${pid}/task`), []);
  const lists = threads.map((thread) => orNothing(() => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'), ''));
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
}

/** A process or a thread may end while it is looked at. */
function orNothing<T>(read: () => T, nothing: T): T {
  try {
    return read();
  } catch {
    return nothing;
  }
}
