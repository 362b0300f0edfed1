import { type ChildProcess, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning } from '../../cli/processes.ts';

const READY_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 50;
const PATIENCE_MS = 10_000;

/** Of the kernel's clock that counts processor time; 100 a second on every Linux we know. */
const TICK_MS = 10;

/** What answers on a port, and the processes that work for it. */
export interface Server {
  port: number;
  pids(): number[];
}

/** Waits until a started process does what it is for; fails where it ends before, or takes longer than a minute. */
export async function until(name: string, child: ChildProcess, isReady: () => Promise<boolean>): Promise<void> {
  let failure: unknown = 'it could not be started';
  child.once('error', (error) => {
    failure = error;
  });
  for (const deadline = Date.now() + READY_WITHIN_MS; Date.now() < deadline; await sleep(LOOK_EVERY_MS)) {
    if (!isRunning(child)) break;
    try {
      if (await isReady()) return;
    } catch (error) {
      failure = error;
    }
  }
  throw new Error(`${name} does not become ready: ${failure}`);
}

/** Ends one process we started, by its id, and waits until it is gone. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (!isRunning(child)) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill(signal);
  const impatience = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  await gone;
  clearTimeout(impatience);
}

/** Processor time the processes have used so far, in milliseconds; NaN where there is no /proc to tell. */
export function cpuMsOf(pids: number[]): number {
  try {
    const ticks = pids.map((pid) => {
      const [, fields] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ') as [string, string];
      const [user, system] = fields.split(' ').slice(11, 13).map(Number) as [number, number];
      return user + system;
    });
    return ticks.reduce((sum, count) => sum + count, 0) * TICK_MS;
  } catch {
    return Number.NaN;
  }
}

/** What a command prints, without its last line break. */
export const outputOf = (command: string, args: string[]): string => execFileSync(command, args, { encoding: 'utf8' }).trim();
