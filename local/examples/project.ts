import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '../cli/directories.ts';
import { freePort } from '../cli/ports.ts';
import { isRunning } from '../cli/processes.ts';
import { writeEnvFile } from '../cli/secrets.ts';
import { check } from '../demo/narrator.ts';
import { startWrangler } from '../service/wrangler.ts';
import type { Stage } from './stage.ts';

type Variables = Record<string, string>;

const LISTENS_WITHIN_MS = 60_000;
const POLL_EVERY_MS = 100;
const PATIENCE_MS = 30_000;

export const folderOfExample = (name: string): string => join(ROOT, 'examples', name);

interface ExampleServer {
  url: string;
  /** Grows while the server prints. */
  lines: string[];
  stop(): Promise<void>;
}

/** Starts a server of an example under Node with `PORT` and `variables`. Resolves when it answers. */
export async function startServer(stage: Stage, example: string, args: string[], variables: Variables): Promise<ExampleServer> {
  const port = Number(variables.PORT ?? (await freePort(0, 'PORT')));
  const lines: string[] = [];
  const child = start(stage, example, args, { ...variables, PORT: String(port) }, (line) => lines.push(line));
  return { lines, url: await untilItListens(port, () => isRunning(child)), stop: () => end(child) };
}

/** Starts an example's Worker with `variables` as its secrets. Resolves with its URL when it answers. */
export async function startWorker(stage: Stage, example: string, variables: Variables): Promise<string> {
  const port = await freePort(0, 'PORT');
  const { narrator, teardown } = stage;
  const stateDir = join(stage.stateDir, example);
  mkdirSync(stateDir);
  const envFile = writeEnvFile(stateDir, variables);
  const config = ['--config', join(folderOfExample(example), 'wrangler.toml'), '--env-file', envFile];
  const address = ['--ip', '127.0.0.1', '--port', String(port), '--inspector-port', '0'];
  const lines: string[] = [];
  const wrangler = startWrangler(['dev', '--local', '--persist-to', join(stateDir, 'wrangler'), ...config, ...address], {
    stateDir,
    onLine: (line) => lines.push(line),
  });
  teardown.defer(() => wrangler.stop());
  let hasEnded = false;
  void wrangler.exited.finally(() => {
    hasEnded = true;
  });
  return untilItListens(port, () => !hasEnded).catch((error: unknown) => {
    for (const line of lines) narrator.say(line);
    throw error;
  });
}

type OnLine = (line: string) => unknown;

/** Runs a script of an example to its end. Returns the printed lines. Throws if the script fails. */
export async function runScript(
  stage: Stage,
  example: string,
  args: string[],
  variables: Variables,
  onLine: OnLine = () => {},
): Promise<string[]> {
  const lines: string[] = [];
  const child = start(stage, example, args, variables, (line) => {
    lines.push(line);
    onLine(line);
  });
  const [code] = await once(child, 'close');
  check(code === 0, `${example}: node ${args.join(' ')} ended with ${code}`);
  return lines;
}

function start({ narrator, teardown }: Stage, example: string, args: string[], variables: Variables, onLine: OnLine): ChildProcess {
  const { PATH, HOME, TMPDIR } = process.env;
  const child = spawn(process.execPath, ['--no-warnings', ...args], {
    cwd: folderOfExample(example),
    env: { PATH, HOME, TMPDIR, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      if (line.trim() !== '') narrator.fact(basename(args[0]!), line);
      onLine(line);
    });
  }
  teardown.defer(() => end(child));
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return;
  const ended = once(child, 'close');
  const impatience = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  child.kill('SIGTERM');
  await ended;
  clearTimeout(impatience);
}

async function untilItListens(port: number, isAlive: () => boolean): Promise<string> {
  const url = `http://127.0.0.1:${port}`;
  for (const deadline = Date.now() + LISTENS_WITHIN_MS; ; await sleep(POLL_EVERY_MS)) {
    check(isAlive() && Date.now() < deadline, `The project does not answer at ${url}`);
    const answer = await fetch(url).catch(() => null);
    await answer?.body?.cancel();
    if (answer) return url;
  }
}
