import { raise } from '#core/errors.ts';
import { iso } from '#core/time.ts';
import type { Ctx, Env } from '#platform/context.ts';
import { globalOf } from '#platform/db/directory.ts';
import type { ParkedMessage } from '#platform/db/tables/operations.ts';
import { deleteParked } from '#platform/queues/parked-messages.store.ts';
import { findDeadLetters, listDeadLetters } from './dead-letters.store.ts';

const SHOWN_MAX = 100;

/** Queues with dead letters. Sweeps enqueue themselves again. */
const QUEUES: Record<string, (env: Env) => Pick<Queue, 'send'>> = {
  'svc-jobs-dead': ({ JOBS }) => JOBS,
  'svc-webhooks-dead': ({ WEBHOOKS }) => WEBHOOKS,
  'svc-webhooks-slow-dead': ({ WEBHOOKS_SLOW }) => WEBHOOKS_SLOW,
  'svc-mail-dead': ({ MAIL }) => MAIL,
  'svc-telegram-dead': ({ TELEGRAM }) => TELEGRAM,
  'svc-discord-dead': ({ DISCORD }) => DISCORD,
  'svc-sandbox-dead': ({ SANDBOX }) => SANDBOX,
};

/** Omits the message body: customers' references must not appear on a terminal. */
const toResource = ({ id, queue, kind, parkedAt }: ParkedMessage) => ({ id, queue, kind, parked_at: iso(parkedAt) });

export async function readDeadLetters(ctx: Ctx) {
  return (await listDeadLetters(globalOf(ctx).db, SHOWN_MAX)).map(toResource);
}

/**
 * Sends dead letters into their queues again and deletes them after that. A crash in between sends one twice, which every consumer
 * tolerates. `all` sends the newest hundred. Throws 404 not_found for an unknown id.
 */
export async function resendDeadLetters(ctx: Ctx, asked: 'all' | string[]) {
  const { db } = globalOf(ctx);
  const messages = asked === 'all' ? await listDeadLetters(db, SHOWN_MAX) : await findDeadLetters(db, asked);
  if (asked !== 'all' && messages.length < asked.length) raise('not_found');
  const known = messages.filter(({ queue }) => Object.hasOwn(QUEUES, queue));
  for (const { queue, body } of known) await QUEUES[queue]!(ctx.env).send(body);
  if (known.length > 0)
    await deleteParked(
      db,
      known.map(({ id }) => id),
    );
  return known.map(toResource);
}
