/**
 * Fast path of the plain consume: product id, customer reference and units. It accepts only requests that the route would treat the same,
 * answers only successes, and passes everything else to the route together with any answer received, so that nothing is counted twice.
 * @module
 */

import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { IDEMPOTENCY_KEY } from '#core/limits.ts';
import { isoOrNull, SECOND } from '#core/time.ts';
import { type ParsedKey, parseRawKey } from '#features/accounts/keys/raw-key.ts';
import { type Config, checkedConfig, clocksOf, type Env } from '#platform/context.ts';
import { textOf } from '#platform/http/bodies/request-body.ts';
import { isKnownComplete } from '#platform/http/configuration.ts';
import { forwardToRouter } from '#platform/http/forwarded.ts';
import { rateHeaders } from '#platform/http/rate-limit.ts';
import { answerHeaders, NO_STORE, requestIdOf } from '#platform/http/request-id.ts';
import { isSampled, logRequest } from '#platform/log.ts';
import { admissionObject } from '#platform/objects.ts';
import type { AdmissionRequest, Caller, PassedAnswer, PassedUse } from '#rules/admission.ts';
import type { ConsumeAnswer } from '#rules/entitlement-rpc.ts';

export const CONSUME_PATH = '/access/entitlements/consume';
export const CONSUME_ENDPOINT = `/v1${CONSUME_PATH}`;
const PATH = CONSUME_ENDPOINT;
const BODY_BYTES_MAX = 4096;
const UNITS_MAX = 1_000_000_000;
/** After this timeout the route asks the objects again under the same key, within the request's time limit. */
const WAIT_MS = 8 * SECOND;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** Shorter than any secret key as text and without blanks, so neither a secret key nor a seed phrase matches. */
const REFERENCE = /^[\x21-\x7e]{1,85}$/;
const KEY = new RegExp(`^[\\x21-\\x7e]{${IDEMPOTENCY_KEY.min},${IDEMPOTENCY_KEY.max}}$`);

interface PlainBody {
  productId: string;
  customerRef: string;
  units: number;
  fingerprint: string;
}

/** Parses the exact plain body. Returns null for every other body, even if the route would accept it. */
export function plainBodyOf(text: string): PlainBody | null {
  const body = parsed(text);
  if (!isObject(body) || !isObject(body.customer)) return null;
  const { product_id: productId, customer, units = 1 } = body;
  const { customer_ref: customerRef } = customer;
  if (Object.keys(body).length !== (Object.hasOwn(body, 'units') ? 3 : 2) || Object.keys(customer).length !== 1) return null;
  if (typeof productId !== 'string' || !UUID.test(productId)) return null;
  if (typeof customerRef !== 'string' || !REFERENCE.test(customerRef)) return null;
  if (typeof units !== 'number' || !Number.isInteger(units) || units < 1 || units > UNITS_MAX) return null;
  // RFC 8785 form of these fields: sorted names, JSON.stringify texts, decimal integers.
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

function plainRequestOf(request: Request, env: Env): Omit<PlainConsume, 'body'> | null {
  const rawKey = request.headers.get('X-Svc-Key');
  if (rawKey === null || !isPlainRequest(request)) return null;
  const { config } = checkedConfig(env);
  const clocks = config && clocksOf(config, WAIT_MS);
  if (!clocks || !isKnownComplete(env, config, clocks.wallNow)) return null;
  const key = parseRawKey({ config }, rawKey);
  // The database is asked for an unvouched key only if the caller has refusals left.
  return key?.isVouched && key.keyHashes.length === 1 ? { config, clocks, key } : null;
}

export const toConsumeResponse = (entitlementId: string, used: ConsumeAnswer & { ok: true }) => ({
  consumed: true as const,
  consumption_id: used.consumptionId,
  entitlement_id: entitlementId,
  units: used.units,
  remaining: used.remaining,
  paid_through: isoOrNull(used.paidThrough),
});

/**
 * Runs before the router, which would cost more than the remaining work. Returns a response, or the request for the router with the answers
 * received so far.
 */
export async function answerPlainConsume(request: Request, env: Env): Promise<Response | Request> {
  const plain = plainRequestOf(request, env);
  if (!plain) return request;
  const bytes = await request.arrayBuffer();
  const text = textOf(bytes);
  const body = text === null || text.length > BODY_BYTES_MAX ? null : plainBodyOf(text);
  if (!body) return forwardToRouter(request, bytes, {});
  const requestId = requestIdOf(request.headers);
  const key = `consume:${request.headers.get('Idempotency-Key')}`;
  const answer = await askAccount(env, { ...plain, body }, { key, requestId, ip: request.headers.get('CF-Connecting-IP') });
  if (answer === null || (!answer.admission.ok && answer.admission.reason === 'unknown'))
    return forwardToRouter(request, bytes, { requestId });
  const { admission, used, entitlementId } = answer;
  if (!admission.ok || !used?.ok) return forwardToRouter(request, bytes, { requestId, admitted: { admission, ...(used && { used }) } });
  if (isSampled(requestId)) logSuccess(plain, requestId, admission.caller);
  return new Response(JSON.stringify(toConsumeResponse(entitlementId!, used)), {
    headers: {
      'Content-Type': 'application/json',
      ...rateHeaders(admission.rate),
      ...answerHeaders(requestId),
      ...NO_STORE,
      ...(used.replayed ? { 'Idempotent-Replayed': 'true' } : {}),
    },
  });
}

function logSuccess({ clocks }: Pick<PlainConsume, 'clocks'>, requestId: string, { accountId, keyId }: Caller): void {
  logRequest({
    request_id: requestId,
    method: 'POST',
    endpoint: PATH,
    status: 200,
    ms: clocks.elapsedMs(),
    account_id: accountId,
    ...(keyId === null ? {} : { key_id: keyId }),
  });
}

async function askAccount(
  env: Env,
  { config, clocks, key, body }: PlainConsume,
  { ip, ...called }: Pick<PassedUse, 'key'> & { requestId: string; ip: string | null },
): Promise<PassedAnswer | null> {
  const { now, wallNow, leftMs } = clocks;
  const { productId, customerRef, ...use } = body;
  const admission: AdmissionRequest = {
    credential: { kind: 'key', keyHash: key.keyHashes[0]! },
    permission: 'execute',
    scope: 'consume:write',
    ip,
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
    call: { method: 'POST', endpoint: PATH, requestId: called.requestId, ip },
  };
  try {
    return await admissionObject({ env, leftMs }, `account:${key.admissionId}`).consume(admission, passed);
  } catch {
    return null;
  }
}
