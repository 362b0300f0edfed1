import { spawn } from 'node:child_process';

/** A check of the package. `run` returns what it measured, and throws on failure. */
export interface Check {
  group: string;
  name: string;
  run(): Promise<string> | string;
}
interface Result {
  check: Check;
  detail: string;
  isPassed: boolean;
  ms: number;
}

const PARALLEL = 2;

/** Runs a program and returns its output. Rejects with all output if it fails, is missing or exceeds the time. */
export function exec(program: string, args: string[], { cwd, env = {}, timeoutMs = 120_000 }: ExecOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve(output.trim());
      else reject(new Error(`${program} ended with ${signal ?? code}\n${output.slice(-4_000)}`));
    });
  });
}
interface ExecOptions {
  cwd?: string;
  env?: Record<string, string>;
  timeoutMs?: number;
}

export function require(isTrue: boolean, message: string): asserts isTrue {
  if (!isTrue) throw new Error(message);
}

async function measure(check: Check): Promise<Result> {
  const start = performance.now();
  const outcome = await Promise.resolve()
    .then(() => check.run())
    .then(
      (detail) => ({ detail, isPassed: true }),
      (error) => ({ detail: error instanceof Error ? error.message : String(error), isPassed: false }),
    );
  const ms = performance.now() - start;
  const seconds = (ms / 1000).toFixed(1).padStart(5);
  console.log(`${outcome.isPassed ? 'ok  ' : 'FAIL'} ${seconds} s  ${check.group}: ${check.name}`);
  if (!outcome.isPassed) console.log(outcome.detail.replace(/^/gm, '     '));
  return { check, ms, ...outcome };
}

/** Runs checks two at a time, because each compiler and each runtime fills one processor. */
export async function runChecks(checks: Check[]): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const work = async () => {
    while (next < checks.length) {
      const index = next++;
      results[index] = await measure(checks[index]!);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return results;
}

export function printTable(results: Result[]): void {
  const rows = results.map(({ check, detail, isPassed, ms }) => [
    check.group,
    check.name,
    isPassed ? detail.split('\n')[0]! : 'FAILED',
    `${(ms / 1000).toFixed(1)} s`,
  ]);
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  console.log('');
  for (const row of rows)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    );
}
