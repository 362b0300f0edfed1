import { BODY_KB, IDEMPOTENCY_KEY } from './limits.ts';

/** The closed list of what can go wrong, with a status each. Codes are durable; messages may become clearer. */
interface ErrorEntry {
  readonly status: 400 | 401 | 402 | 403 | 404 | 405 | 409 | 410 | 413 | 415 | 422 | 429 | 500 | 503;
  readonly message: string;
  /** True where the same request, sent again unchanged, may succeed. */
  readonly retryable: boolean;
}

const entry = (status: ErrorEntry['status'], message: string, { retryable = false } = {}): ErrorEntry => ({ status, message, retryable });

export const ERRORS = {
  idempotency_key_required: entry(
    400,
    `Send an Idempotency-Key header of ${IDEMPOTENCY_KEY.min} to ${IDEMPOTENCY_KEY.max} visible ASCII characters.`,
  ),
  idempotency_key_too_long: entry(400, `The Idempotency-Key is longer than ${IDEMPOTENCY_KEY.max} characters.`),
  idempotency_key_invalid: entry(400, 'The Idempotency-Key may hold visible ASCII characters only.'),
  invalid_rpc_payload: entry(400, 'The body is not a list of enhanced transactions.'),
  invalid_state: entry(400, 'This sign-in was begun elsewhere, is over, or was used. Begin it again.'),
  invalid_product_type: entry(400, 'This product_type is not supported.'),
  invalid_authorization: entry(
    401,
    'Put an API key (svc_…) into the header X-Svc-Key, or the token of a sign-in into Authorization: Bearer.',
  ),
  invalid_credentials: entry(401, 'E-mail or password is wrong.'),
  connector_secret_invalid: entry(401, 'Send the secret of this connector in X-Svc-Connector-Secret.'),
  webhook_signature_failed: entry(401, 'The signature does not match the raw body. Check the shared secret and sign the exact bytes.'),
  payment_required: entry(402, 'Pay the challenge in the PAYMENT-REQUIRED header, then repeat the request with PAYMENT-SIGNATURE.'),
  handoff_secret_mismatch: entry(403, 'This was not made with a secret of ours for this purpose.'),
  account_suspended: entry(403, 'This account is suspended. Contact support.'),
  account_deleted: entry(403, 'This account was deleted.'),
  admin_requires_staff: entry(403, 'Only staff may create a key with the admin permission.'),
  entitlement_missing: entry(
    403,
    'This customer has nothing left to use here. Answer 402 with the PAYMENT-REQUIRED header of this response.',
  ),
  subscription_expired: entry(
    403,
    'The time this customer paid for is over. Answer 402 with the PAYMENT-REQUIRED header of this response.',
  ),
  spend_limit_exceeded: entry(403, 'This is more than the spend limits of this setup allow.'),
  not_found: entry(404, 'There is no such object, or it is not one of yours in this mode.'),
  method_not_allowed: entry(405, 'This path exists, but not with this method.'),
  email_registered: entry(409, 'An account has this e-mail, or had it before it was deleted. Use another address.'),
  payment_transaction_conflict: entry(409, 'This payment is already settled by another transaction.'),
  payment_failed: entry(409, 'This payment did not complete. Start a new one.'),
  ticket_closed: entry(409, 'This ticket is closed. Open a new one.'),
  idempotency_in_progress: entry(409, 'The same request is still being processed. Retry with the same key.', { retryable: true }),
  idempotency_conflict: entry(409, 'This Idempotency-Key was used with a different request.'),
  idempotency_race: entry(409, 'A concurrent request with this key is not readable yet. Retry with the same key.', { retryable: true }),
  setup_not_ready: entry(409, 'Something this needs is not set up yet.'),
  duplicate_settlement: entry(409, 'This payment was already used for something else.'),
  subscription_cancelled: entry(409, 'The buyer has cancelled this subscription. Access lasts to the end of what is paid.'),
  subscription_requires_reapproval: entry(409, 'Nothing can be collected of this subscription until the buyer approves it again.'),
  state_conflict: entry(409, 'The current state does not allow this.'),
  session_expired: entry(410, 'This checkout session has expired. Start a new one; do not sign this one again.'),
  handoff_expired: entry(410, 'This hand-off was used or has expired. Send the buyer here again.'),
  channel_closed: entry(410, 'This session is closed, and so is its payment channel. Open a new one.'),
  identity_expired: entry(410, 'This identity session has expired. Start a new one.'),
  payload_too_large: entry(
    413,
    `The body is larger than ${BODY_KB.usual} KB. A provider’s webhook may have ${BODY_KB.provider} KB, a manifest and invoice metadata ${BODY_KB.long / 1024} MB.`,
  ),
  unsupported_media_type: entry(415, 'Send the body as application/json.'),
  validation_error: entry(422, 'The request is not valid.'),
  unknown_field: entry(422, 'The body or the query has a field that this route does not know. Check its spelling.'),
  no_change: entry(422, 'Nothing would change.'),
  password_too_short: entry(422, 'A password has 8 to 128 characters.'),
  invalid_permissions: entry(422, 'Permissions are a non-empty list of read, execute and admin.'),
  identity_verification_required: entry(422, 'The buyer has to say who they are first.'),
  invalid_wallet_address: entry(422, 'This is not the address of a Solana wallet.'),
  payment_mismatch: entry(422, 'This transaction does not pay this session.'),
  rate_limited: entry(429, 'Too many requests. Wait for Retry-After seconds.', { retryable: true }),
  plan_limit_reached: entry(429, 'The plan allows no more of these. Remove one or upgrade.'),
  internal_error: entry(500, 'Something broke on our side. The request id helps us find it.', { retryable: true }),
  misconfigured: entry(503, 'This deployment is not complete: its operator has to finish it. Nothing was done.'),
  billing_not_configured: entry(503, 'This deployment takes no cards: the payment processor is not configured.'),
  oauth_not_configured: entry(503, 'This deployment has not configured sign-in with this provider.'),
  fee_wallet_missing: entry(503, 'A service fee is configured without a fee wallet.'),
  mail_not_configured: entry(503, 'This deployment sends no mail: its operator has not configured it.'),
  handoff_not_configured: entry(503, 'This deployment has not configured what this needs.'),
  price_unavailable: entry(503, 'There is no trustworthy SOL price right now. Nothing was lost; retry, or pay in the other asset.', {
    retryable: true,
  }),
  rpc_unavailable: entry(503, 'The Solana RPC does not answer right now. Nothing was lost; retry.', { retryable: true }),
  temporarily_unavailable: entry(503, 'The service could not store this right now. Retry.', { retryable: true }),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;
export type ErrorStatus = ErrorEntry['status'];

/** One problem of a 422, in FastAPI's shape: where, what, and a stable type. */
export interface ValidationProblem {
  loc: (string | number)[];
  msg: string;
  type: string;
  /** Of an unknown field: the known one whose name is nearest. */
  ctx?: { nearest?: string };
}

interface ApiErrorOptions {
  detail?: string;
  /** With validation_error and unknown_field: becomes the list in `detail`. */
  problems?: ValidationProblem[];
  meta?: Record<string, unknown>;
  /** One code, two statuses: invalid_authorization is 401 for a bad credential and 403 for a good one out of scope. */
  status?: ErrorStatus;
  /** Where this case differs from what the code says in general. */
  retryable?: boolean;
  retryAfterSeconds?: number;
  headers?: Record<string, string>;
  /** With not_found: answered as a path that does not exist, because its existence is a secret. */
  hidesPath?: true;
}

/** An expected failure on its way to the wire. Thrown only in verbs, in stores' get* and in http. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly options: ApiErrorOptions;
  constructor(code: ErrorCode, options: ApiErrorOptions = {}) {
    super(options.detail ?? ERRORS[code].message);
    this.name = 'ApiError';
    this.code = code;
    this.options = options;
  }
  get status(): ErrorStatus {
    return this.options.status ?? ERRORS[this.code].status;
  }
}

/** `find() ?? raise('not_found')` reads better than an if. */
export function raise(code: ErrorCode, options?: ApiErrorOptions): never {
  throw new ApiError(code, options);
}

const FREED_BY = { products: 'Archive one', keys: 'Revoke one', 'webhook endpoints': 'Disable one' };

/** 429 where a plan allows no more of something: of what, how many, and what makes room. */
export const planFull = (what: keyof typeof FREED_BY, meta: { limit: number; used: number; plan: string }): ApiError =>
  new ApiError('plan_limit_reached', {
    detail: `The plan ${meta.plan} allows ${meta.limit} active ${what} in each mode, and ${meta.used} are there. ${FREED_BY[what]}, or choose a larger plan.`,
    meta,
  });

const OVERLOAD_SECONDS = { least: 2, spread: 8 };

/** 503 for work refused because too much runs at once. Retry-After is random within some seconds, so that callers do not come back together. */
export function overloaded(): ApiError {
  const { least, spread } = OVERLOAD_SECONDS;
  const retryAfterSeconds = least + (crypto.getRandomValues(new Uint8Array(1))[0]! % spread);
  return new ApiError('temporarily_unavailable', { retryAfterSeconds });
}

/** True of what the platform throws for an object with too much to do. */
export const isOverloaded = (error: unknown): boolean =>
  error instanceof Error && (error as Error & { overloaded?: boolean }).overloaded === true;

/**
 * 503 for a Durable Object that did not answer, whether the call arrived or not. One that is overloaded is not asked again from in here;
 * any other may be asked again at once.
 */
export function objectAway(error: unknown): ApiError {
  return isOverloaded(error) ? overloaded() : new ApiError('temporarily_unavailable', { retryAfterSeconds: 1 });
}

/** Throws where an invariant of our own code is broken: a bug, answered 500, and never the caller's fault. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`);
}

/** An error as text for the log: its name and message, and its cause's, but never the values a database driver prints with them. */
export function storyOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error).slice(0, 200);
  const words = `${error.name}: ${error.message}`.split(/\n?params:/)[0]!.slice(0, 240);
  return error.cause === undefined ? words : `${words} <- ${storyOf(error.cause)}`.slice(0, 480);
}

/** The compiler proves that every case of a union was handled. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}

export type Result<T, R extends string> = { ok: true; value: T } | { ok: false; reason: R };
export const ok = <T>(value: T): { ok: true; value: T } => ({ ok: true, value });
export const err = <R extends string>(reason: R): { ok: false; reason: R } => ({ ok: false, reason });
