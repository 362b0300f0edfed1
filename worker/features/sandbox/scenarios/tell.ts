import { postAttempt } from '#features/webhooks/deliveries/post.ts';
import type { EventType } from '#rules/events.ts';
import { listSessionDeliveries } from '../sessions/store.ts';
import { done, later, type Step } from './script.ts';

/** Its endpoints were tried with this event; at once where none wants it. */
export const untilTold = (type: EventType): Step => ({
  action: 'deliver',
  run: async ({ scope, session }) => {
    const deliveries = await listSessionDeliveries(scope.db, session, type);
    return deliveries.some(({ delivery }) => delivery.attempt === 0 && delivery.status === 'pending') ? later : done();
  },
});

/** What happens where a sender dies between sending and recording: the same attempt comes again, with the same bytes. */
export const tellAgain = (type: EventType): Step => ({
  action: 'deliver_again',
  run: async ({ scope, session }) => {
    const deliveries = await listSessionDeliveries(scope.db, session, type);
    for (const { delivery, endpoint, event } of deliveries)
      if (endpoint.status === 'enabled')
        await postAttempt(scope, { delivery: { ...delivery, attempt: delivery.attempt - 1 }, endpoint, event });
    return done('sent');
  },
});

/** Lets the events go that were held back. */
export const release: Step = {
  action: 'deliver',
  run: async ({ notes }) => {
    notes.released = 'true';
    return done('sent');
  },
};
