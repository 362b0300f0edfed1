import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
const READY = /^ready (http:\/\/127\.0\.0\.1:\d+) chain (http:\/\/127\.0\.0\.1:\d+)$/m;

/** `npm run dev` as a person starts it, seen from outside: its output, its processes, its end. */
export class DevProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  #output = '';

  constructor(stateDir: string, ...flags: string[]) {
    const args = ['run', 'dev', '--', '--port', '0', '--chain-port', '0', '--state', stateDir, ...flags];
    this.#child = spawn('npm', args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#output += chunk;
      });
    }
    // `close` comes only once nobody holds the output any more: a child left behind would keep it from coming.
    this.#ended = new Promise((resolve) => this.#child.once('close', (code) => resolve(code)));
  }

  get output(): string {
    return this.#output;
  }

  async ready(): Promise<{ baseUrl: string; rpcUrl: string }> {
    let hasEnded = false;
    void this.#ended.then(() => {
      hasEnded = true;
    });
    for (;;) {
      const found = READY.exec(this.#output);
      if (found) return { baseUrl: found[1]!, rpcUrl: found[2]! };
      if (hasEnded) throw new Error(`npm run dev ended:\n${this.#output}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Every process below it. Empty on systems without /proc. */
  descendants(pid = this.#child.pid!): number[] {
    const children = childrenOf(pid);
    return [...children, ...children.flatMap((child) => this.descendants(child))];
  }

  /** Sends a signal to npm alone, as a process manager does, and answers the exit status. */
  end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.#child.kill(signal);
    return this.#ended;
  }

  ended(): Promise<number | null> {
    return this.#ended;
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** A process that is there and has not ended: one that only waits to be reaped does not count. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
