import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const ROOT = join(import.meta.dirname, '..');
// Not its `bin`: that one starts this in a second process and does not pass a SIGTERM on to it.
const WRANGLER = fileURLToPath(import.meta.resolve('wrangler'));
const LINES_KEPT = 80;
const PATIENCE_MS = 5_000;
const REAP_LOOKS_MAX = 40;
const REAP_LOOK_EVERY_MS = 25;

/** Keeps wrangler on this machine: no usage reports, no update check, no request metadata, no questions asked. */
const QUIET = {
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_SEND_ERROR_REPORTS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  CI: '1',
};

export interface WranglerOptions {
  /** Where wrangler keeps its logs and its list of running workers; its own default is the home directory. */
  stateDir?: string;
  onLine?: (line: string, stream: 'stdout' | 'stderr') => void;
}

export interface RunningWrangler {
  /** Resolves when the process is gone, with its exit code; null where a signal ended it. */
  exited: Promise<number | null>;
  /** The last lines it printed, for when it fails. */
  tail(): string;
  /** Ends it and everything it started. */
  stop(): Promise<void>;
}

/** Starts wrangler under this very Node, in a process group of its own. */
export function startWrangler(args: string[], { stateDir, onLine }: WranglerOptions = {}): RunningWrangler {
  const places = stateDir ? { WRANGLER_LOG_PATH: join(stateDir, 'logs'), WRANGLER_REGISTRY_PATH: join(stateDir, 'registry') } : {};
  const child = spawn(process.execPath, ['--no-warnings', WRANGLER, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...QUIET, ...places },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: Ctrl-C reaches only us, and we end wrangler, esbuild and workerd together.
    detached: true,
  });
  const lines: string[] = [];
  for (const stream of ['stdout', 'stderr'] as const) {
    createInterface({ input: child[stream] }).on('line', (line) => {
      lines.push(line);
      if (lines.length > LINES_KEPT) lines.shift();
      onLine?.(line, stream);
    });
  }
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  // Whatever wrangler leaves behind goes with it. Only at this moment: later its number may belong to somebody else.
  child.once('exit', () => signalGroup(child, 'SIGKILL'));
  const killNow = () => isRunning(child) && signalGroup(child, 'SIGKILL');
  process.once('exit', killNow);
  child.once('exit', () => process.off('exit', killNow));
  return { exited, tail: () => lines.join('\n').trim(), stop: () => stopGroup(child) };
}

/** Runs wrangler to its end; throws with what it printed where that end is not a good one. */
export async function runWrangler(
  args: string[],
  options: WranglerOptions & { onStart?: (run: RunningWrangler) => void } = {},
): Promise<string> {
  const run = startWrangler(args, options);
  options.onStart?.(run);
  const code = await run.exited;
  if (code !== 0) throw new Error(`wrangler ${args.slice(0, 3).join(' ')} failed (${code ?? 'killed'}):\n${run.tail()}`);
  return run.tail();
}

/** Ends the children first, while wrangler is there to reap them, then wrangler; where that takes too long, the whole group. */
async function stopGroup(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const impatience = setTimeout(() => signalGroup(child, 'SIGKILL'), PATIENCE_MS);
  for (let looks = 0; looks < REAP_LOOKS_MAX && isRunning(child); looks++) {
    const children = childrenOf(child);
    if (children.length === 0) break;
    for (const pid of children) signalProcess(pid, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, REAP_LOOK_EVERY_MS));
  }
  child.kill('SIGTERM');
  await gone;
  clearTimeout(impatience);
}

/**
 * Where wrangler goes before its children do, nobody reaps them but process 1, which in many containers does not: they would
 * stay as zombies. Empty on systems without /proc, where process 1 can be relied on.
 */
function childrenOf({ pid }: ChildProcess): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

const isRunning = (child: ChildProcess): boolean => child.pid !== undefined && child.exitCode === null && child.signalCode === null;

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid !== undefined) signalProcess(-pid, signal);
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already.
  }
}
