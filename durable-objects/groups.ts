import { formatErrorChain } from '#core/errors.ts';
import { isSampled, type LogLine, logRequest } from '#platform/log.ts';
import type { Called } from '#rules/entitlement-rpc.ts';

export interface Waiting {
  called: Called;
  arrivedAt: number;
  operation(): unknown;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}
export type Outcome = { ok: true; answer: unknown } | { ok: false; error: unknown };

/**
 * Group commit: operations that arrive during a commit go together in the next one, because a durable commit costs more than the work in
 * it.
 * `commit` returns an outcome per operation, in order, once durable. If it rejects, nothing of the group is stored.
 */
export class Groups {
  readonly #commit: (group: readonly Waiting[]) => Promise<Outcome[]>;
  #waiting: Waiting[] = [];
  #isCommitting = false;

  constructor(commit: (group: readonly Waiting[]) => Promise<Outcome[]>) {
    this.#commit = commit;
  }

  /** Commits at once when idle. During a commit, the operation waits and joins the next group, in order. */
  run<T>(called: Called, operation: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ called, arrivedAt: Date.now(), operation, resolve: (answer) => resolve(answer as T), reject });
      if (!this.#isCommitting) void this.#commitWaiting();
    });
  }

  async #commitWaiting(): Promise<void> {
    this.#isCommitting = true;
    while (this.#waiting.length > 0) {
      const group = this.#takeWaiting();
      try {
        const outcomes = await this.#commit(group);
        for (const [i, outcome] of outcomes.entries()) {
          if (outcome.ok) group[i]!.resolve(outcome.answer);
          else group[i]!.reject(outcome.error);
        }
        // Yields one turn, so that callers just answered can add their next operation to the group.
        if (group.length > 1 || this.#waiting.length > 0) await new Promise((resolve) => setImmediate(resolve));
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#isCommitting = false;
  }

  /** Takes all waiting operations except those abandoned by their callers, who retry under the same key. */
  #takeWaiting(): Waiting[] {
    const now = Date.now();
    const group: Waiting[] = [];
    for (const waiting of this.#waiting) {
      const { leftMs } = waiting.called;
      if (leftMs === undefined || now <= waiting.arrivedAt + leftMs) group.push(waiting);
      else waiting.reject(Object.assign(new Error('waited past the deadline of its caller'), { retryable: true }));
    }
    this.#waiting = [];
    return group;
  }
}

export interface LogName<State> {
  kind: NonNullable<LogLine['object']>;
  idOf(state: State): string;
}

export function logCommit<State>(
  { kind, idOf }: LogName<State>,
  state: State,
  { group, outcomes, startedAt }: { group: readonly Waiting[]; outcomes: readonly Outcome[]; startedAt: number },
): void {
  const notes = outcomes.flatMap((outcome) => (outcome.ok ? [] : [formatErrorChain(outcome.error)]));
  const isQuiet = ({ called: { isRoutine, requestId = '' } }: Waiting): boolean => isRoutine === true && !isSampled(requestId);
  if (notes.length === 0 && group.every(isQuiet)) return;
  logRequest({
    request_id: `${kind}_${idOf(state)}`,
    object: kind,
    causes: [...new Set(group.flatMap(({ called: { requestId } }) => requestId ?? []))],
    taken: group.length,
    ms: Date.now() - startedAt,
    ...(notes.length > 0 ? { notes } : {}),
  });
}
