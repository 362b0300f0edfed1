const EVERY_MS = 5_000;
const TIMEOUT_MS = 60_000;
const PATH = '/cdn-cgi/handler/scheduled?cron=*+*+*+*+*';

/**
 * Does what the platform's clock does in production, because crons never fire by themselves locally: now, and then every
 * five seconds, one call after another. Answers once the first call is through; `stop` ends the calls.
 */
export async function startCron(baseUrl: string, onProblem: (problem: string) => void): Promise<{ stop(): void }> {
  const stopping = new AbortController();
  let lastProblem = '';
  const callOnce = async (): Promise<void> => {
    const problem = await fetch(`${baseUrl}${PATH}`, { signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(TIMEOUT_MS)]) }).then(
      async (response) => (response.ok ? '' : `HTTP ${response.status}: ${(await response.text()).slice(0, 400)}`),
      (error: unknown) => String(error),
    );
    // The same trouble every five seconds is told once.
    if (problem !== lastProblem && problem !== '' && !stopping.signal.aborted) onProblem(problem);
    lastProblem = problem;
  };
  let timer: NodeJS.Timeout | undefined;
  const repeat = async (): Promise<void> => {
    await callOnce();
    if (!stopping.signal.aborted) timer = setTimeout(repeat, EVERY_MS);
  };
  await repeat();
  return {
    stop: () => {
      stopping.abort();
      clearTimeout(timer);
    },
  };
}
