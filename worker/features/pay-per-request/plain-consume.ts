/**
 * The short way of the plain consume: a body of our product id, a customer reference and units, under a key of ours. It is a second way to
 * say what the route says, so it takes only what the route would take in the same sense, answers successes alone, and gives everything
 * else to the route: what it does not know before it made a call, and what was refused together with the answer, so that nothing is
 * counted twice.
 * @module
 */

import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { IDEMPOTENCY_KEY } from '#core/limits.ts';
import { isoOrNull, SECOND } from '#core/time.ts';
import { type ParsedKey, parseRawKey } from '#features/accounts/keys/raw-key.ts';
import { type Config, checkedConfig, clocksOf, type Env } from '#platform/context.ts';
import { textOf } from '#platform/http/bodies/request-body.ts';
import { isKnownWhole } from '#platform/http/configuration.ts';
import { passOn } from '#platform/http/passed-on.ts';
import { rateHeaders } from '#platform/http/rate-limit.ts';
import { answerHeaders, NOT_KEPT, requestIdOf } from '#platform/http/request-id.ts';
import { logRequest } from '#platform/log.ts';
import { admissionObject } from '#platform/objects.ts';
import type { AdmissionRequest, PassedAnswer, PassedUse } from '#rules/admission.ts';
import type { ConsumeAnswer } from '#rules/entitlement-rpc.ts';

export const CONSUME_PATH = '/access/entitlements/consume';
const PATH = `/v1${CONSUME_PATH}`;
const BODY_BYTES_MAX = 4096;
const UNITS_MAX = 1_000_000_000;
/** What the objects do not answer by then, the route asks again under the same key, within the time a request has. */
const WAIT_MS = 8 * SECOND;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** Shorter than any secret key as text and without a blank, so that none of these can be one, nor a seed phrase. */
const REFERENCE = /^[\x21-\x7e]{1,85}$/;
const KEY = new RegExp(`^[\\x21-\\x7e]{${IDEMPOTENCY_KEY.min},${IDEMPOTENCY_KEY.max}}$`);

interface PlainBody {
  productId: string;
  customerRef: string;
  units: number;
  fingerprint: string;
}

/** The plain body, exactly; null for every other, also where the route would take it. */
export function plainBodyOf(text: string): PlainBody | null {
  const body = parsed(text);
  if (!isObject(body) || !isObject(body.customer)) return null;
  const { product_id: productId, customer, units = 1 } = body;
  const { customer_ref: customerRef } = customer;
  if (Object.keys(body).length !== (Object.hasOwn(body, 'units') ? 3 : 2) || Object.keys(customer).length !== 1) return null;
  if (typeof productId !== 'string' || !UUID.test(productId)) return null;
  if (typeof customerRef !== 'string' || !REFERENCE.test(customerRef)) return null;
  if (typeof units !== 'number' || !Number.isInteger(units) || units < 1 || units > UNITS_MAX) return null;
  // RFC 8785 of these fields: names in order, texts as JSON.stringify writes them, integers in digits.
  const head = `{"customer":{"customer_ref":${JSON.stringify(customerRef)}},"product_id":"${productId}"`;
  const fingerprint = sha256Hex(utf8(`${head}${body.units === undefined ? '' : `,"units":${units}`}}`));
  return { productId, customerRef, units, fingerprint };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether the request around a body is plain: no query, no length or encoding that something on the way would judge. */
function isPlainRequest({ method, url, headers }: Request): boolean {
  const length = Number(headers.get('Content-Length') ?? Number.NaN);
  return (
    method === 'POST' &&
    url.indexOf('/', 'https://'.length) === url.length - PATH.length &&
    url.endsWith(PATH) &&
    headers.get('Content-Type') === 'application/json' &&
    length <= BODY_BYTES_MAX &&
    !headers.has('Transfer-Encoding') &&
    KEY.test(headers.get('Idempotency-Key') ?? '')
  );
}

interface PlainConsume {
  config: Config;
  clocks: ReturnType<typeof clocksOf>;
  key: ParsedKey;
  body: PlainBody;
}

/** What can be told without the body; null: not plain. */
function plainRequestOf(request: Request, env: Env): Omit<PlainConsume, 'body'> | null {
  const rawKey = request.headers.get('X-Svc-Key');
  if (rawKey === null || !isPlainRequest(request)) return null;
  const { config } = checkedConfig(env);
  const clocks = config && clocksOf(config, WAIT_MS);
  if (!clocks || !isKnownWhole(config, clocks.wallNow)) return null;
  const key = parseRawKey({ config }, rawKey);
  // A key that its digits do not vouch for is looked up only for callers who have refusals left.
  return key?.isVouched && key.keyHashes.length === 1 ? { config, clocks, key } : null;
}

/** Whose answer it is, and how things stand after it. */
export const toConsumeResponse = (entitlementId: string, used: ConsumeAnswer & { ok: true }) => ({
  consumed: true as const,
  consumption_id: used.consumptionId,
  entitlement_id: entitlementId,
  units: used.units,
  remaining: used.remaining,
  paid_through: isoOrNull(used.paidThrough),
});

/**
 * Stands before the router, because that costs more than what is left to do here. Answers a response, or the request as the router is to
 * have it, with what was told about it.
 */
export async function answerPlainConsume(request: Request, env: Env): Promise<Response | Request> {
  const plain = plainRequestOf(request, env);
  if (!plain) return request;
  const bytes = await request.arrayBuffer();
  const text = textOf(bytes);
  const body = text === null || text.length > BODY_BYTES_MAX ? null : plainBodyOf(text);
  if (!body) return passOn(request, bytes, {});
  const requestId = requestIdOf(request.headers);
  const key = `consume:${request.headers.get('Idempotency-Key')}`;
  const answer = await askAccount(env, { ...plain, body }, { key, requestId });
  if (answer === null || (!answer.admission.ok && answer.admission.reason === 'unknown')) return passOn(request, bytes, { requestId });
  const { admission, used, entitlementId } = answer;
  if (!admission.ok || !used?.ok) return passOn(request, bytes, { requestId, told: { admission, ...(used && { used }) } });
  const { accountId, keyId } = admission.caller;
  logRequest({
    request_id: requestId,
    method: 'POST',
    endpoint: PATH,
    status: 200,
    ms: plain.clocks.elapsedMs(),
    account_id: accountId,
    ...(keyId === null ? {} : { key_id: keyId }),
  });
  return new Response(JSON.stringify(toConsumeResponse(entitlementId!, used)), {
    headers: {
      'Content-Type': 'application/json',
      ...rateHeaders(admission.rate),
      ...answerHeaders(requestId),
      ...NOT_KEPT,
      ...(used.replayed ? { 'Idempotent-Replayed': 'true' } : {}),
    },
  });
}

/** One call of the account's object. null where it is out of reach. */
async function askAccount(
  env: Env,
  { config, clocks, key, body }: PlainConsume,
  called: Pick<PassedUse, 'key'> & { requestId: string },
): Promise<PassedAnswer | null> {
  const { now, wallNow, leftMs } = clocks;
  const { productId, customerRef, ...use } = body;
  const admission: AdmissionRequest = {
    credential: { kind: 'key', keyHash: key.keyHashes[0]! },
    permission: 'execute',
    mode: null,
    bucket: 'metered',
    rateMultiplier: config.RATE_MULTIPLIER,
    now,
    wallNow,
  };
  const passed: PassedUse = {
    ...use,
    ...called,
    productId,
    customer: { customerRef },
    now,
    aheadMs: now - wallNow,
    leftMs: WAIT_MS,
    call: { method: 'POST', endpoint: PATH, requestId: called.requestId },
  };
  try {
    return await admissionObject({ env, leftMs }, `account:${key.admissionId}`).consume(admission, passed);
  } catch {
    return null;
  }
}
