import type { EndpointId } from '#core/ids.ts';
import { HOUR } from '#core/time.ts';
import type { Actor, Scope } from '#platform/context.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import type { Endpoint } from '#platform/db/tables/webhooks.ts';
import { newSecret, secretHint } from '../deliveries/signature.ts';
import { type Decision, type EndpointWithSecret, makerOf, sealFor, stillLive, updateEndpointBy } from './endpoint.ts';

const PREVIOUS_MAX = 5;

/** Rotates the secret. Previous secrets also sign until their overlap ends. Without an overlap only the new secret signs. */
export async function rotateSecret(
  ctx: Scope,
  actor: Actor,
  { endpointId, overlapHours, storeAnswer }: { endpointId: EndpointId; overlapHours: number; storeAnswer: StoreAnswer<EndpointWithSecret> },
): Promise<EndpointWithSecret> {
  const rawSecret = newSecret();
  const secretSealed = await sealFor(ctx, endpointId, rawSecret);
  const decide = (before: Endpoint): Decision => {
    // An earlier try stored it and only the answer was lost. Rotating again would store the wrong secret as the previous one.
    if (before.secretSealed === secretSealed) return { patch: {}, revives: false };
    const until = ctx.wallNow + overlapHours * HOUR;
    // Earlier secrets remain live, so that a second rotation within the overlap, or a retry after a lost answer, does not break
    // verification.
    const previous =
      overlapHours > 0 ? [{ sealed: before.secretSealed, until }, ...stillLive(before, ctx.wallNow)].slice(0, PREVIOUS_MAX) : [];
    const previousUntil = previous.length > 0 ? Math.max(...previous.map((one) => one.until)) : null;
    const sealed = { secretSealed, secretHint: secretHint(rawSecret), previousSealed: previous, previousUntil };
    return { patch: { ...sealed, changedBy: makerOf(actor), changedAt: ctx.now }, revives: false, isRedirected: true };
  };
  const endpoint = await updateEndpointBy(ctx, actor, endpointId, {
    decide,
    storeAnswer: (after, effect) => storeAnswer({ endpoint: after, rawSecret }, effect?.isUnchanged ? { isUnchanged: true } : {}),
  });
  return { endpoint, rawSecret };
}
