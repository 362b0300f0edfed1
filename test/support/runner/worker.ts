import type { Env } from '#platform/context.ts';
import worker from '../../../worker/index.ts';

export * from '../../../worker/index.ts';

/** Service as started by the test runner. Tests deliver queue messages themselves, so the queue handler only acknowledges. */
export default { ...worker, queue: (batch: MessageBatch) => batch.ackAll() } satisfies ExportedHandler<Env>;
