import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { PlacementMessage, SweepMessage } from '#platform/context.ts';
import { withinLimits } from './limits.ts';

/** One invocation of the worker, to the end of all it left behind, within the limits of the platform. */
export const invoked = <T>(
  name: string,
  invoke: (execution: ExecutionContext) => Promise<T> | T,
  options?: { countsReads: boolean; rowsMax?: number },
): Promise<T> =>
  withinLimits(
    name,
    async () => {
      const execution = createExecutionContext();
      const answer = await invoke(execution);
      await waitOnExecutionContext(execution);
      return answer;
    },
    options,
  );

/** The queue of sweeps gives back to each invocation what it sent. */
const outbox = new AsyncLocalStorage<SweepMessage[]>();
export const SWEEPS = {
  send: async (body: SweepMessage) => void outbox.getStore()?.push(body),
  sendBatch: async (messages: Iterable<{ body: SweepMessage }>) => void outbox.getStore()?.push(...[...messages].map(({ body }) => body)),
} as unknown as Queue<SweepMessage>;

export async function sweepsSent(
  name: string,
  invoke: (execution: ExecutionContext) => Promise<void>,
  rowsMax?: number,
): Promise<SweepMessage[]> {
  const sent: SweepMessage[] = [];
  await outbox.run(sent, () => invoked(name, invoke, { countsReads: true, rowsMax }));
  return sent;
}

/** A queue whose messages wait until a test delivers them, whatever their delay. */
export const holding = <M>(held: M[], delays?: number[]) =>
  ({
    sendBatch: async (messages: { body: M; delaySeconds?: number }[]) => {
      held.push(...messages.map(({ body }) => body));
      delays?.push(...messages.map(({ delaySeconds = 0 }) => delaySeconds));
    },
  }) as unknown as Queue<M>;
/** A place that waits in the queue of its platform. */
export type HeldPlacement = PlacementMessage & { queue: string };

/** The queues of platforms, each under its own name; the third is the one that test/registries adds. */
export function platformQueues(held: HeldPlacement[]): Record<'TELEGRAM' | 'DISCORD' | 'TOY', Queue<PlacementMessage>> {
  const named = (queue: string) => ({
    sendBatch: async (messages: { body: PlacementMessage }[]) => void held.push(...messages.map(({ body }) => ({ ...body, queue }))),
  });
  const queues = { TELEGRAM: named('svc-telegram'), DISCORD: named('svc-discord'), TOY: named('svc-toy') };
  return queues as unknown as ReturnType<typeof platformQueues>;
}
