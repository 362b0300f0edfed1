import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf } from '../../../local/cli/processes.ts';

const ROOT = join(import.meta.dirname, '../../..');
const READY = /^ready (http:\/\/127\.0\.0\.1:\d+) chain (http:\/\/127\.0\.0\.1:\d+)$/m;

/** `wrangler dev`, the listening runtime, and the runtime behind it that runs the service. */
const PARTS = {
  wrangler: (command: string, _entry: string) => command.includes('/wrangler-dist/cli.js dev '),
  proxy: (command: string, entry: string) => command.includes('/workerd serve ') && command.includes(entry),
  worker: (command: string, entry: string) => command.includes('/workerd serve ') && !command.includes(entry),
};

/** `npm run dev` observed from outside: output, processes and end. */
export class DevProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  #output = '';

  constructor(stateDir: string, flags: string[] = [], env: NodeJS.ProcessEnv = {}) {
    const args = ['run', 'dev', '--', '--port', '0', '--chain-port', '0', '--state', stateDir, ...flags];
    this.#child = spawn('npm', args, { cwd: ROOT, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#output += chunk;
      });
    }
    // `close` fires only after every process has released the output, so a leftover child would block it.
    this.#ended = new Promise((resolve) => this.#child.once('close', (code) => resolve(code)));
  }

  get output(): string {
    return this.#output;
  }

  async ready(): Promise<{ baseUrl: string; rpcUrl: string }> {
    const [, baseUrl, rpcUrl] = await this.says(READY);
    return { baseUrl: baseUrl!, rpcUrl: rpcUrl! };
  }

  /** Waits for matching output. Throws if the process ends first. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    let hasEnded = false;
    void this.#ended.then(() => {
      hasEnded = true;
    });
    for (;;) {
      const found = pattern.exec(this.#output);
      if (found) return found;
      if (hasEnded) throw new Error(`npm run dev ended:\n${this.#output}`);
      await sleep(20);
    }
  }

  /** Descendant processes. Empty on systems without /proc. */
  descendants(pid = this.#child.pid!): number[] {
    const children = childrenOf(pid);
    return [...children, ...children.flatMap((child) => this.descendants(child))];
  }

  find(part: keyof typeof PARTS): number | undefined {
    const { host } = new URL(READY.exec(this.#output)![1]!);
    return this.descendants().find((pid) => PARTS[part](commandOf(pid), `entry=${host}`));
  }

  kill(part: keyof typeof PARTS): void {
    const pid = this.find(part);
    if (pid === undefined) throw new Error(`There is no ${part} to kill:\n${this.#output}`);
    process.kill(pid, 'SIGKILL');
  }

  get restarts(): number {
    return this.#output.split('is started again').length - 1;
  }

  /** Sends a signal to npm alone, as a process manager does. Returns the exit status. */
  end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.#child.kill(signal);
    return this.#ended;
  }

  ended(): Promise<number | null> {
    return this.#ended;
  }
}

/** Returns true for a running process. A zombie does not count. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
