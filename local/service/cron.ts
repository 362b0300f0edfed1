const EVERY_MS = 5_000;
const TIMEOUT_MS = 60_000;
const PATH = '/cdn-cgi/handler/scheduled?cron=*+*+*+*+*';

/**
 * Does what the platform's clock does in production, because crons never fire by themselves locally: now, and then every
 * five seconds, one call after another, until `over` is aborted. Answers once the first call is through.
 */
export async function startCron(baseUrl: string, over: AbortSignal, onProblem: (problem: string) => void): Promise<void> {
  let lastProblem = '';
  const callOnce = async (): Promise<void> => {
    const problem = await fetch(`${baseUrl}${PATH}`, { signal: AbortSignal.any([over, AbortSignal.timeout(TIMEOUT_MS)]) }).then(
      async (response) => (response.ok ? '' : `HTTP ${response.status}: ${(await response.text()).slice(0, 400)}`),
      (error: unknown) => String(error),
    );
    // Prints a repeated failure once.
    if (problem !== lastProblem && problem !== '' && !over.aborted) onProblem(problem);
    lastProblem = problem;
  };
  let timer: NodeJS.Timeout | undefined;
  over.addEventListener('abort', () => clearTimeout(timer));
  const repeat = async (): Promise<void> => {
    await callOnce();
    if (!over.aborted) timer = setTimeout(repeat, EVERY_MS);
  };
  await repeat();
}
