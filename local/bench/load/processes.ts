import { type ChildProcess, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning } from '../../cli/processes.ts';

const READY_WITHIN_MS = 60_000;
const POLL_EVERY_MS = 50;
const PATIENCE_MS = 10_000;

/** Kernel clock tick of CPU time: 100 per second on common Linux systems. */
const TICK_MS = 10;

export interface Server {
  port: number;
  pids(): number[];
}

/** Waits until a started process is ready. Throws if it exits before or takes longer than a minute. */
export async function until(name: string, child: ChildProcess, isReady: () => Promise<boolean>): Promise<void> {
  let failure: unknown = 'it could not be started';
  child.once('error', (error) => {
    failure = error;
  });
  for (const deadline = Date.now() + READY_WITHIN_MS; Date.now() < deadline; await sleep(POLL_EVERY_MS)) {
    if (!isRunning(child)) break;
    try {
      if (await isReady()) return;
    } catch (error) {
      failure = error;
    }
  }
  throw new Error(`${name} does not become ready: ${failure}`);
}

export async function endProcess(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (!isRunning(child)) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill(signal);
  const impatience = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  await gone;
  clearTimeout(impatience);
}

/** Returns the CPU time used by the processes in milliseconds. NaN without /proc. */
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

export const outputOf = (command: string, args: string[]): string => execFileSync(command, args, { encoding: 'utf8' }).trim();
