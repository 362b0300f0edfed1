import { raise } from '#core/errors.ts';
import { iso } from '#core/time.ts';
import type { Ctx, Env } from '#platform/context.ts';
import { globalOf } from '#platform/db/directory.ts';
import type { ParkedMessage } from '#platform/db/tables/operations.ts';
import { deleteParked } from '#platform/queues/parked-messages.store.ts';
import { findDeadLetters, listDeadLetters } from './dead-letters.store.ts';

const SHOWN_MAX = 100;

/** The queue whose messages end there; sweeps send themselves again. */
const QUEUES: Record<string, (env: Env) => Pick<Queue, 'send'>> = {
  'svc-jobs-dead': ({ JOBS }) => JOBS,
  'svc-webhooks-dead': ({ WEBHOOKS }) => WEBHOOKS,
  'svc-webhooks-slow-dead': ({ WEBHOOKS_SLOW }) => WEBHOOKS_SLOW,
  'svc-mail-dead': ({ MAIL }) => MAIL,
  'svc-telegram-dead': ({ TELEGRAM }) => TELEGRAM,
  'svc-discord-dead': ({ DISCORD }) => DISCORD,
  'svc-sandbox-dead': ({ SANDBOX }) => SANDBOX,
};

/** What waits for a person, without what it says: customers' references are nothing for a terminal. */
const toResource = ({ id, queue, kind, parkedAt }: ParkedMessage) => ({ id, queue, kind, parked_at: iso(parkedAt) });

export async function readDeadLetters(ctx: Ctx) {
  return (await listDeadLetters(globalOf(ctx).db, SHOWN_MAX)).map(toResource);
}

/**
 * Sends messages into their queues again, and forgets them once they are there: a crash in between sends one twice, which every consumer
 * takes. `all` sends the newest hundred. 404 not_found for an id that does not wait.
 */
export async function resendDeadLetters(ctx: Ctx, asked: 'all' | string[]) {
  const { db } = globalOf(ctx);
  const letters = asked === 'all' ? await listDeadLetters(db, SHOWN_MAX) : await findDeadLetters(db, asked);
  if (asked !== 'all' && letters.length < asked.length) raise('not_found');
  const known = letters.filter(({ queue }) => Object.hasOwn(QUEUES, queue));
  for (const { queue, body } of known) await QUEUES[queue]!(ctx.env).send(body);
  if (known.length > 0)
    await deleteParked(
      db,
      known.map(({ id }) => id),
    );
  return known.map(toResource);
}
