/** Longest delay of a timer. A longer one would fire at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;

interface Limits<E> {
  signals: AbortSignal[];
  timeoutMs: number;
  /** Makes the error of a timeout. */
  late: () => E;
}

/** Runs work until it ends, a signal aborts it or its time is over. Rejects at once, even if the work ignores its signal. */
export async function abortable<T, E>(work: (signal: AbortSignal) => Promise<T>, { signals, timeoutMs, late }: Limits<E>): Promise<T> {
  const timeout = new AbortController();
  const signal = signals.length === 0 ? timeout.signal : AbortSignal.any([...signals, timeout.signal]);
  const timer = setTimeout(() => timeout.abort(late()), Math.min(timeoutMs, TIMER_MAX_MS));
  try {
    return await until(signal, work(signal));
  } finally {
    clearTimeout(timer);
  }
}

/** Waits. Rejects with the reason of the first signal that aborts. */
export async function sleep(ms: number, signals: AbortSignal[] = []): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const waited = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await (signals.length === 0 ? waited : until(AbortSignal.any(signals), waited));
  } finally {
    clearTimeout(timer);
  }
}

function until<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Resolves with the work, or after `ms` if it takes longer. */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
