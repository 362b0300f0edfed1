import type { z } from '@hono/zod-openapi';
import { seal, unseal } from '#core/crypto.ts';
import { ApiError, formatErrorChain, planFull } from '#core/errors.ts';
import { type EndpointId, newId, type ProductId } from '#core/ids.ts';
import { planAlertFor } from '#features/accounts/auth/owner-emails.ts';
import { listOwnIds } from '#features/products/store.ts';
import type { Actor, Ctx, Scope } from '#platform/context.ts';
import { commitNew, isConstraint, transact, type Write } from '#platform/db/commit.ts';
import { type StoreAnswer, unchangedWithAnswer, withAnswer } from '#platform/db/once.ts';
import type { Endpoint, Maker } from '#platform/db/tables/webhooks.ts';
import { checkTarget, targetRules } from '#platform/providers/target-url.ts';
import type { NewEvent } from '#rules/events.ts';
import { PLANS } from '#rules/plans.ts';
import { ENDPOINT } from '#rules/states.ts';
import { cancelWaiting } from '../deliveries/breaker.store.ts';
import { newSecret, secretHint } from '../deliveries/signature.ts';
import { type CreateEndpointRequest, endpointEvent, type UpdateEndpointRequest } from '../resource.ts';
import { abortIfOverQuota, findEndpoint, getEnabledEndpointCount, getEndpoint, insertEndpoint, updateEndpoint } from '../store.ts';

function requireTarget(ctx: Ctx, url: string, field = 'url'): void {
  const checked = checkTarget(url, targetRules(ctx));
  if (checked.ok) return;
  const msg = 'Expected a public https URL: no credentials, no IP address, port 443 or 8443, not this service';
  throw new ApiError('validation_error', { problems: [{ loc: ['body', field], msg, type: checked.reason }] });
}

/** Throws 422 if a product is not this merchant's in this mode: the endpoint would never receive an event. */
async function requireOwnProducts(scope: Scope, productIds: ProductId[] = []): Promise<void> {
  const own = new Set(await listOwnIds(scope, productIds));
  const problems = [...productIds.entries()].flatMap(([index, id]) =>
    own.has(id)
      ? []
      : [{ loc: ['body', 'product_ids', index], msg: 'Expected a product of your account in this mode', type: 'unknown_product' }],
  );
  if (problems.length > 0) throw new ApiError('validation_error', { problems });
}

/** Returns the seal purpose, which binds a secret to its endpoint: a copied row does not open. */
export const secretPurpose = (endpointId: string): string => `webhook:${endpointId}`;
export const sealFor = (ctx: Ctx, endpointId: string, secret: string): Promise<string> =>
  seal(ctx.config.SEAL_KEYS, secretPurpose(endpointId), secret);

/** Thrown if the current secret cannot be opened because its key is missing from the configuration. */
export class SecretUnsealError extends Error {}

export const stillLive = ({ previousSealed }: Endpoint, now: number) => (previousSealed ?? []).filter(({ until }) => until > now);

export async function liveSecrets(ctx: Ctx, endpoint: Endpoint): Promise<string[]> {
  const open = (text: string) => unseal(ctx.config.SEAL_KEYS, secretPurpose(endpoint.id), text);
  const present = await open(endpoint.secretSealed).catch((error: unknown) => {
    throw new SecretUnsealError(`secret of endpoint ${endpoint.id}: ${formatErrorChain(error)}`);
  });
  // An older secret that cannot be opened must not prevent signing with the current one.
  const previous = await Promise.all(stillLive(endpoint, ctx.wallNow).map(({ sealed }) => open(sealed).catch(() => null)));
  return [present, ...previous.filter((secret) => secret !== null)];
}

export interface EndpointWithSecret {
  endpoint: Endpoint;
  rawSecret: string;
}

export const makerOf = ({ keyId, personId, accountId }: Actor): Maker =>
  keyId === null ? { kind: 'person', id: personId ?? accountId } : { kind: 'key', id: keyId };

/** Event for the merchant's other endpoints, so that a stranger's endpoint is noticed. */
const noticeOf = (type: 'webhook.endpoint_created' | 'webhook.endpoint_changed', endpoint: Endpoint, actor: Actor): NewEvent => ({
  ...endpointEvent(type, endpoint, endpoint.version),
  related: { by: makerOf(actor) },
});

/** Plans an email to the owner where a key, not a person, gives live events a URL or a secret. */
const planKeyAlert = async (ctx: Scope, { keyId }: Actor, url: string): Promise<Write[]> =>
  ctx.livemode && keyId !== null ? await planAlertFor(ctx, ctx.merchantId, { change: 'endpoint_added', named: url }) : [];

/** Fields of an endpoint in the audit log. */
export const recordedEndpoint = (endpoint: Endpoint) => {
  const { id, kind, url, description, status } = endpoint;
  const [event_types, product_ids, signed_payload] = [endpoint.eventTypes, endpoint.productIds, endpoint.signedPayload];
  return { id, kind, url, description, status, event_types, product_ids, signed_payload };
};

/** Creates an endpoint. Only this answer contains `rawSecret`. Throws 422 for the URL or a foreign product, 429 plan_limit_reached. */
export async function createEndpoint(
  ctx: Scope,
  actor: Actor,
  input: z.infer<typeof CreateEndpointRequest> & { kind: Endpoint['kind']; urlField?: string },
  storeAnswer: StoreAnswer<EndpointWithSecret>,
): Promise<EndpointWithSecret> {
  requireTarget(ctx, input.url, input.urlField);
  await requireOwnProducts(ctx, input.product_ids);
  const id = newId<EndpointId>(ctx.now, ctx.merchantId);
  const rawSecret = newSecret();
  const endpoint: Endpoint = {
    id,
    merchantId: ctx.merchantId,
    livemode: ctx.livemode,
    kind: input.kind,
    url: input.url,
    description: input.description ?? null,
    eventTypes: input.event_types ?? ['*'],
    productIds: input.product_ids ?? [],
    status: 'enabled',
    disabledReason: null,
    signedPayload: input.signed_payload ?? 'timestamp.body',
    secretSealed: await sealFor(ctx, id, rawSecret),
    secretHint: secretHint(rawSecret),
    previousSealed: null,
    previousUntil: null,
    lastSuccessAt: null,
    lastFailureAt: null,
    failureStreak: 0,
    failingSince: null,
    warningsSent: 0,
    createdBy: makerOf(actor),
    changedBy: null,
    changedAt: null,
    createdAt: ctx.now,
    updatedAt: ctx.now,
    version: 1,
  };
  const limit = PLANS[actor.plan].enabledEndpointsMax;
  const result = { endpoint, rawSecret };
  const alerts = await planKeyAlert(ctx, actor, input.url);
  const events = [noticeOf('webhook.endpoint_created', endpoint, actor)];
  const change = { events, writes: [abortIfOverQuota(ctx, endpoint, limit), insertEndpoint(ctx.db, endpoint), ...alerts], result };
  try {
    const stored = await withAnswer(change, storeAnswer(result));
    return await commitNew(ctx, stored, () => findEndpoint(ctx, id));
  } catch (error) {
    if (!isConstraint(error)) throw error;
    throw await overQuota(ctx, actor, limit);
  }
}

async function overQuota(ctx: Scope, actor: Actor, limit: number): Promise<ApiError> {
  const used = await getEnabledEndpointCount(ctx);
  return planFull('webhook endpoints', { limit, used, plan: actor.plan });
}

/** Updates the given fields. `status: enabled` re-enables a disabled endpoint within the plan's limit and resets its health. */
export async function changeEndpoint(
  ctx: Scope,
  actor: Actor,
  input: z.infer<typeof UpdateEndpointRequest> & { endpointId: EndpointId },
  storeAnswer: StoreAnswer<Endpoint>,
): Promise<Endpoint> {
  if (input.url !== undefined) requireTarget(ctx, input.url);
  if (input.product_ids) {
    await getEndpoint(ctx, input.endpointId);
    await requireOwnProducts(ctx, input.product_ids);
  }
  const limit = PLANS[actor.plan].enabledEndpointsMax;
  const named: Partial<Endpoint> = {
    url: input.url,
    description: input.description,
    eventTypes: input.event_types,
    productIds: input.product_ids,
    signedPayload: input.signed_payload,
  };
  const settings = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
  try {
    return await updateEndpointBy(ctx, actor, input.endpointId, {
      storeAnswer,
      decide: (endpoint) => {
        const isMoved = input.url !== undefined && input.url !== endpoint.url;
        const changed = { ...settings, ...(isMoved ? { changedBy: makerOf(actor), changedAt: ctx.now } : {}) };
        const moved = { isRedirected: isMoved };
        if (input.status === undefined || input.status === endpoint.status) return { patch: changed, revives: false, ...moved };
        const revives = input.status === 'enabled';
        const status = ENDPOINT.next(endpoint.status, revives ? 'enable' : 'disable');
        const health = revives ? { failureStreak: 0, failingSince: null, disabledReason: null } : { disabledReason: 'by_merchant' };
        return { patch: { ...changed, status, ...health }, revives, ...moved };
      },
    });
  } catch (error) {
    if (input.status !== 'enabled' || !(error instanceof ApiError && error.options.meta?.reason === 'contended')) throw error;
    const refused = await overQuota(ctx, actor, limit);
    throw (refused.options.meta?.used as number) >= limit ? refused : error;
  }
}

/** Disables an endpoint and retains its row. Idempotent. */
export const disableEndpoint = (ctx: Scope, actor: Actor, endpointId: EndpointId, storeAnswer: StoreAnswer<Endpoint>): Promise<Endpoint> =>
  updateEndpointBy(ctx, actor, endpointId, {
    storeAnswer,
    decide: (endpoint) =>
      endpoint.status === 'disabled'
        ? { patch: {}, revives: false }
        : { patch: { status: ENDPOINT.next(endpoint.status, 'disable'), disabledReason: 'by_merchant' }, revives: false },
  });

export interface Decision {
  patch: Partial<Endpoint>;
  revives: boolean;
  /** True for another URL or secret, which the merchant's other endpoints are notified of, and the owner like of a new endpoint. */
  isRedirected?: boolean;
}

export const updateEndpointBy = (
  ctx: Scope,
  actor: Actor,
  endpointId: EndpointId,
  { decide, storeAnswer }: { decide(endpoint: Endpoint): Decision; storeAnswer: StoreAnswer<Endpoint> },
): Promise<Endpoint> =>
  transact(ctx, { reload: () => getEndpoint(ctx, endpointId) }, async (endpoint) => {
    const { patch, revives, isRedirected = false } = decide(endpoint);
    // Resealing a secret changes its bytes, so a retry after a lost answer is recognized by comparing the sealed values too.
    if (Object.entries(patch).every(([name, value]) => JSON.stringify(endpoint[name as keyof Endpoint]) === JSON.stringify(value)))
      return unchangedWithAnswer(endpoint, storeAnswer);
    const quota = revives ? [abortIfOverQuota(ctx, endpoint, PLANS[actor.plan].enabledEndpointsMax)] : [];
    // Waiting deliveries are cancelled now: whether they are sent must not depend on when the endpoint is enabled again.
    const waiting = patch.status === 'disabled' ? [cancelWaiting(ctx, endpoint)] : [];
    const result = { ...endpoint, ...patch, updatedAt: ctx.now, version: endpoint.version + 1 };
    const writes = [
      ...quota,
      ...updateEndpoint(ctx, endpoint, patch),
      ...waiting,
      ...(isRedirected ? await planKeyAlert(ctx, actor, result.url) : []),
    ];
    const events = isRedirected ? [noticeOf('webhook.endpoint_changed', result, actor)] : [];
    return withAnswer({ events, writes, result }, storeAnswer(result, { before: endpoint }));
  });
