import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { PlacementMessage, SweepMessage } from '#platform/context.ts';
import { withinLimits } from './limits.ts';

/** Runs one invocation of the Worker to the end of its deferred work, within the platform's limits. */
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

export const holding = <M>(held: M[], delays?: number[]) =>
  ({
    sendBatch: async (messages: { body: M; delaySeconds?: number }[]) => {
      held.push(...messages.map(({ body }) => body));
      delays?.push(...messages.map(({ delaySeconds = 0 }) => delaySeconds));
    },
  }) as unknown as Queue<M>;
export type HeldPlacement = PlacementMessage & { queue: string };

/** Queues of the platforms by name. The third is the platform added by test/registries. */
export function platformQueues(held: HeldPlacement[]): Record<'TELEGRAM' | 'DISCORD' | 'TOY', Queue<PlacementMessage>> {
  const named = (queue: string) => ({
    sendBatch: async (messages: { body: PlacementMessage }[]) => void held.push(...messages.map(({ body }) => ({ ...body, queue }))),
  });
  const queues = { TELEGRAM: named('svc-telegram'), DISCORD: named('svc-discord'), TOY: named('svc-toy') };
  return queues as unknown as ReturnType<typeof platformQueues>;
}
