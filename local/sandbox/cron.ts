import type { Teardown } from '../cli/teardown.ts';

const EVERY_MS = 5_000;

/** Runs the cron now and again five seconds after each run, until the teardown. Prints a repeated problem once. */
export function repeatCron(runOnce: () => Promise<void>, teardown: Teardown, onProblem: (problem: string) => void): void {
  let timer: NodeJS.Timeout | undefined;
  let lastProblem = '';
  teardown.defer(() => clearTimeout(timer));
  const repeat = async (): Promise<void> => {
    const problem = await runOnce().then(() => '', String);
    if (teardown.hasBegun) return;
    if (problem !== '' && problem !== lastProblem) onProblem(problem);
    lastProblem = problem;
    timer = setTimeout(repeat, EVERY_MS);
  };
  void repeat();
}
