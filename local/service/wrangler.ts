import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { childrenOf, isRunning } from '../cli/processes.ts';
import { WORKERD_FLAGS } from './workerd-flags.ts';

const ROOT = join(import.meta.dirname, '../..');
// Not its `bin`: that one starts this in a second process and does not pass a SIGTERM on to it.
const WRANGLER = fileURLToPath(import.meta.resolve('wrangler'));
const MIGRATE = join(import.meta.dirname, 'migrate.ts');
const MIGRATIONS = join(ROOT, 'migrations');
/** Only wrangler knows for sure which workerd it ships. */
export const workerdPath = (): string => createRequire(WRANGLER)('workerd').default;

const LINES_KEPT = 50;
const PATIENCE_MS = 5_000;
/** What wrangler says when one of its two runtimes has ended by itself: the worker's, or that of the proxy in front of it. */
const RUNTIME_ENDED = 'The Workers runtime crashed unexpectedly';
const REAP_LOOK_EVERY_MS = 5;

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
export const startWrangler = (args: string[], options?: WranglerOptions): RunningWrangler => start([WRANGLER, ...args], options);

/** Starts wrangler, or a script that uses it. */
function start(args: string[], { stateDir, onLine }: WranglerOptions = {}): RunningWrangler {
  const places = stateDir ? { WRANGLER_LOG_PATH: join(stateDir, 'logs'), WRANGLER_REGISTRY_PATH: join(stateDir, 'registry') } : {};
  const child = spawn(process.execPath, ['--no-warnings', ...args], {
    cwd: ROOT,
    env: { ...process.env, ...QUIET, ...WORKERD_FLAGS, ...places },
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
      // Wrangler starts another runtime, but never tells one of the proxy to let requests through: none is answered any more.
      if (line.includes(RUNTIME_ENDED)) void stopGroup(child);
    });
  }
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  // Whatever wrangler leaves behind goes with it. Only at this moment: later its number may belong to another process.
  child.once('exit', () => signalGroup(child, 'SIGKILL'));
  const killNow = () => isRunning(child) && signalGroup(child, 'SIGKILL');
  process.once('exit', killNow);
  child.once('exit', () => process.off('exit', killNow));
  return { exited, tail: () => lines.join('\n').trim(), stop: () => stopGroup(child) };
}

type OnceOptions = WranglerOptions & { onStart?: (run: RunningWrangler) => void };

/** Runs wrangler to its end; throws with what it printed where that end is not a good one. */
export const runWrangler = (args: string[], options?: OnceOptions): Promise<string> =>
  run(`wrangler ${args.slice(0, 3).join(' ')}`, [WRANGLER, ...args], options);

/** Brings the database in a directory of wrangler's up to date. */
export async function migrate(persistDir: string, options?: OnceOptions): Promise<void> {
  const all = readdirSync(MIGRATIONS).join('\n');
  // Beside the database, so that deleting it deletes this with it.
  const note = join(persistDir, 'v3/d1/migrated.txt');
  if (existsSync(note) && readFileSync(note, 'utf8') === all) return;
  await run('The migration', [MIGRATE, persistDir], options);
  writeFileSync(note, all);
}

async function run(name: string, args: string[], options: OnceOptions = {}): Promise<string> {
  const running = start(args, options);
  options.onStart?.(running);
  const code = await running.exited;
  if (code !== 0) throw new Error(`${name} failed (${code ?? 'killed'}):\n${running.tail()}`);
  return running.tail();
}

/**
 * Ends the children first, then wrangler; where that takes too long, the whole group. Where wrangler goes before its children
 * do, only process 1 is left to reap them, which in many containers it does not: they would stay as zombies.
 */
async function stopGroup(child: ChildProcess): Promise<void> {
  const impatience = setTimeout(() => signalGroup(child, 'SIGKILL'), PATIENCE_MS);
  let isTold = false;
  while (isRunning(child)) {
    // Also those it starts in the place of the ones that ended.
    const children = childrenOf(child.pid!);
    for (const pid of children) signalProcess(pid, 'SIGKILL');
    if (children.length === 0 && !isTold) isTold = child.kill('SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, REAP_LOOK_EVERY_MS));
  }
  clearTimeout(impatience);
}

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
