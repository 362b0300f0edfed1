import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../cli/options.ts';
import type { Teardown } from '../cli/teardown.ts';
import { startCron } from './cron.ts';
import { type RunningWrangler, startWrangler, type WranglerOptions } from './wrangler.ts';

const RESTARTS_MAX = 5;
const RESTARTS_WITHIN_MS = 60_000;
const HEALTH_EVERY_MS = 100;
const HEALTH_TIMEOUT_MS = 120_000;

interface SupervisedWorkerOptions extends WranglerOptions {
  /** Arguments of `wrangler dev`, identical at every start and therefore with the same state and port. */
  args: string[];
  baseUrl: string;
  teardown: Teardown;
  onProblem: (problem: string) => void;
}

interface Run {
  wrangler: RunningWrangler;
  over: AbortController;
  ended: Promise<string>;
}

/**
 * Starts the worker and its clock, and answers when both run. A worker that ends by itself is started again, at most five
 * times in a minute. Then `gaveUp` resolves with the reason and the last lines it printed. Where that comes before the worker
 * has answered at all, this throws it as a `Refusal`.
 */
export async function superviseWorker(options: SupervisedWorkerOptions): Promise<{ gaveUp: Promise<string> }> {
  let run = begin(options);
  options.teardown.defer(async () => {
    run.over.abort();
    await run.wrangler.stop();
  });
  const firstUp = Promise.withResolvers<void>();
  let restarts: number[] = [];
  const supervise = async (): Promise<string> => {
    for (;;) {
      const isUp = await serve(options, run);
      if (isUp) firstUp.resolve();
      const reason = await run.ended;
      if (options.teardown.hasBegun) return reason;
      // Before the first answer every start counts. Otherwise slow failures would repeat forever.
      if (isUp) restarts = restarts.filter((time) => Date.now() - time < RESTARTS_WITHIN_MS);
      if (restarts.push(Date.now()) > RESTARTS_MAX) {
        return `${reason}, and was started again ${RESTARTS_MAX} times in a minute. Its last lines:\n${run.wrangler.tail()}`;
      }
      const count = `${restarts.length} of at most ${RESTARTS_MAX} in a minute`;
      options.onProblem(`${reason} by itself; it is started again, with the same state and port (${count})`);
      run = begin(options);
    }
  };
  const gaveUp = supervise().catch((error: unknown) => `${error instanceof Error ? error.message : error}\n${run.wrangler.tail()}`);
  const neverUp = gaveUp.then((lastWords) => Promise.reject(new Refusal(lastWords)));
  await Promise.race([firstUp.promise, neverUp]);
  return { gaveUp };
}

function begin(options: SupervisedWorkerOptions): Run {
  const wrangler = startWrangler(['dev', ...options.args], options);
  const over = new AbortController();
  const ended = wrangler.exited.then((code) => `wrangler dev ended (${code ?? 'killed'})`, String);
  void ended.then(() => over.abort());
  return { wrangler, over, ended };
}

/** Waits until the worker answers, then starts its cron. Returns false if the worker ended first. */
async function serve({ baseUrl, onProblem }: SupervisedWorkerOptions, { wrangler, over: { signal } }: Run): Promise<boolean> {
  try {
    await untilItAnswers(baseUrl, signal);
  } catch (error) {
    await wrangler.stop();
    throw error;
  }
  if (!signal.aborted) await startCron(baseUrl, signal, (problem) => onProblem(`cron: ${problem}`));
  return !signal.aborted;
}

/**
 * Until the worker answers and says ok for the database and the chain, or its run is over. Gives up after two minutes. What else
 * health says is not waited for: work that is overdue from before the stop is degraded until the clock has done it, which this starts.
 */
export async function untilItAnswers(baseUrl: string, over: AbortSignal): Promise<void> {
  const deadline = Date.now() + HEALTH_TIMEOUT_MS;
  let last = 'no answer';
  while (!over.aborted) {
    try {
      const response = await fetch(`${baseUrl}/health`, { signal: AbortSignal.any([over, AbortSignal.timeout(10_000)]) });
      last = await response.text();
      const { checks } = JSON.parse(last) as { checks?: { database: string; rpc: string } };
      if (response.ok && checks?.database === 'ok' && checks.rpc === 'ok') return;
    } catch (error) {
      last = String(error);
    }
    if (Date.now() > deadline) throw new Error(`The service does not come up: ${last}`);
    await sleep(HEALTH_EVERY_MS);
  }
}
