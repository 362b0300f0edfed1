import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { childrenOf, isRunning } from '../cli/processes.ts';
import { WORKERD_FLAGS } from './workerd-flags.ts';

const ROOT = join(import.meta.dirname, '../..');
// Not wrangler's `bin`, which starts a second process and does not forward SIGTERM.
const WRANGLER = fileURLToPath(import.meta.resolve('wrangler'));
const MIGRATE = join(import.meta.dirname, 'migrate.ts');
const MIGRATIONS = join(ROOT, 'migrations');
export const workerdPath = (): string => createRequire(WRANGLER)('workerd').default;

const LINES_MAX = 50;
const PATIENCE_MS = 5_000;
/** Message of wrangler when the worker's or the proxy's runtime has crashed. */
const RUNTIME_ENDED = 'The Workers runtime crashed unexpectedly';
const REAP_POLL_EVERY_MS = 5;

/** Disables usage reports, update checks, request metadata and prompts. */
const QUIET = {
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_SEND_ERROR_REPORTS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  CI: '1',
};

export interface WranglerOptions {
  stateDir?: string;
  onLine?: (line: string, stream: 'stdout' | 'stderr') => void;
}

export interface RunningWrangler {
  /** Resolves with the exit code, or null after a signal. */
  exited: Promise<number | null>;
  tail(): string;
  stop(): Promise<void>;
}

/** Starts wrangler under the current Node in its own process group. */
export const startWrangler = (args: string[], options?: WranglerOptions): RunningWrangler => start([WRANGLER, ...args], options);

function start(args: string[], { stateDir, onLine }: WranglerOptions = {}): RunningWrangler {
  const paths = stateDir ? { WRANGLER_LOG_PATH: join(stateDir, 'logs'), WRANGLER_REGISTRY_PATH: join(stateDir, 'registry') } : {};
  const child = spawn(process.execPath, ['--no-warnings', ...args], {
    cwd: ROOT,
    env: { ...process.env, ...QUIET, ...WORKERD_FLAGS, ...paths },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Own process group: Ctrl-C signals only this process, which then ends wrangler, esbuild and workerd together.
    detached: true,
  });
  const lines: string[] = [];
  for (const stream of ['stdout', 'stderr'] as const) {
    createInterface({ input: child[stream] }).on('line', (line) => {
      lines.push(line);
      if (lines.length > LINES_MAX) lines.shift();
      onLine?.(line, stream);
      // After a crash of the proxy wrangler starts another one that never forwards requests.
      if (line.includes(RUNTIME_ENDED)) void stopGroup(child);
    });
  }
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  // Kills leftover children. Only now: later the group id may belong to another process.
  child.once('exit', () => signalGroup(child, 'SIGKILL'));
  const killNow = () => isRunning(child) && signalGroup(child, 'SIGKILL');
  process.once('exit', killNow);
  child.once('exit', () => process.off('exit', killNow));
  return { exited, tail: () => lines.join('\n').trim(), stop: () => stopGroup(child) };
}

type OnceOptions = WranglerOptions & { onStart?: (run: RunningWrangler) => void };

/** `WRANGLER_SCRIPT`: script that tests run instead of wrangler. */
export const runWrangler = (args: string[], options?: OnceOptions): Promise<string> =>
  run(`wrangler ${args.slice(0, 3).join(' ')}`, [process.env.WRANGLER_SCRIPT ?? WRANGLER, ...args], options);

export async function migrate(persistDir: string, configPath?: string, options?: OnceOptions): Promise<void> {
  const bound =
    configPath === undefined
      ? ''
      : readFileSync(configPath, 'utf8')
          .match(/^binding = "(?:DB|DIRECTORY).*$/gm)!
          .join('\n');
  const all = [...readdirSync(MIGRATIONS), bound].join('\n');
  // Next to the database, so that both are deleted together.
  const note = join(persistDir, 'v3/d1/migrated.txt');
  if (existsSync(note) && readFileSync(note, 'utf8') === all) return;
  await run('The migration', [MIGRATE, persistDir, ...(configPath === undefined ? [] : [configPath])], options);
  writeFileSync(note, all);
}

async function run(name: string, args: string[], options: OnceOptions = {}): Promise<string> {
  const running = start(args, options);
  options.onStart?.(running);
  const code = await running.exited;
  if (code !== 0) throw new Error(`${name} failed (${code ?? 'killed'}):\n${running.tail()}`);
  return running.tail();
}

/** Ends the children, then wrangler, and after a time-out the process group. If wrangler exits first, its children are ended too. */
async function stopGroup(child: ChildProcess): Promise<void> {
  const impatience = setTimeout(() => signalGroup(child, 'SIGKILL'), PATIENCE_MS);
  let isSignalled = false;
  while (isRunning(child)) {
    // Includes children that replaced ended ones.
    const children = childrenOf(child.pid!);
    for (const pid of children) signalProcess(pid, 'SIGKILL');
    if (children.length === 0 && !isSignalled) isSignalled = child.kill('SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, REAP_POLL_EVERY_MS));
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
    // Already gone.
  }
}
