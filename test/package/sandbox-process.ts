import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf } from '../../local/cli/processes.ts';
import { isAlive } from '../local/dev/dev-process.ts';
import { require } from './checks.ts';

const PATIENCE_MS = 60_000;

/** Sandbox of the packed package, in a process group of its own as under a terminal. */
export class SandboxProcess {
  static readonly #started: SandboxProcess[] = [];
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  output = '';

  constructor(command: string[], cwd: string, env: Record<string, string> = {}) {
    const { PATH, HOME, TMPDIR } = process.env;
    this.#child = spawn(command[0]!, command.slice(1), { cwd, env: { PATH, HOME, TMPDIR, ...env }, detached: true });
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream!.on('data', (chunk) => (this.output += chunk));
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve));
    SandboxProcess.#started.push(this);
  }

  /** Ends what a failed check left running. */
  static killAll(): void {
    for (const sandbox of SandboxProcess.#started) sandbox.#signal('SIGKILL');
  }

  /** Waits for the first lines. Throws if the process ends first. */
  async ready(): Promise<{ baseUrl: string; seconds: string; key: string; curl: string }> {
    for (const deadline = Date.now() + PATIENCE_MS; ; await sleep(50)) {
      const [, baseUrl, seconds] = /^ready (\S+) in ([\d.]+) s$/m.exec(this.output) ?? [];
      const [, key] = /Sandbox key +(svc_test_\w+)/.exec(this.output) ?? [];
      const [, curl] = /^ +(curl .*)\n/m.exec(this.output) ?? [];
      if (baseUrl && seconds && key && curl) return { baseUrl, seconds, key, curl };
      require(this.#child.exitCode === null && Date.now() < deadline, `the sandbox does not start:\n${this.output}`);
    }
  }

  /** Ends the process group as Ctrl-C in a terminal does. Returns the exit code once no process is left. */
  async end(signal: NodeJS.Signals = 'SIGINT'): Promise<number | null> {
    const children = childrenOf(this.#child.pid!);
    this.#signal(signal);
    const code = await this.#ended;
    require(children.every((pid) => !isAlive(pid)), `a process is left of ${children.join(', ')}`);
    return code;
  }

  ended(): Promise<number | null> {
    return this.#ended;
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#child.exitCode === null && this.#child.signalCode === null) process.kill(-this.#child.pid!, signal);
  }
}
