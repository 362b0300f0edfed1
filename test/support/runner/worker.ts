import type { Env } from '#platform/context.ts';
import worker from '../../../worker/index.ts';

export * from '../../../worker/index.ts';

/** The service as the test runner starts it: what tests send to a queue they deliver themselves, so nobody else takes it in. */
export default { ...worker, queue: (batch: MessageBatch) => batch.ackAll() } satisfies ExportedHandler<Env>;
