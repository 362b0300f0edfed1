import { BODY_KB, IDEMPOTENCY_KEY } from './limits.ts';

/** Closed list of errors with their status. Codes are stable. Messages may change. */
interface ErrorEntry {
  readonly status: 400 | 401 | 402 | 403 | 404 | 405 | 409 | 410 | 413 | 415 | 422 | 429 | 500 | 503;
  readonly message: string;
  readonly retryable: boolean;
}

const entry = (status: ErrorEntry['status'], message: string, { retryable = false } = {}): ErrorEntry => ({ status, message, retryable });

export const ERRORS = {
  idempotency_key_required: entry(
    400,
    `Send an Idempotency-Key header of ${IDEMPOTENCY_KEY.min} to ${IDEMPOTENCY_KEY.max} visible ASCII characters.`,
  ),
  idempotency_key_too_long: entry(400, `The Idempotency-Key is longer than ${IDEMPOTENCY_KEY.max} characters. Send a shorter one.`),
  idempotency_key_invalid: entry(400, 'The Idempotency-Key has other than visible ASCII characters. Send a UUID, for example.'),
  invalid_rpc_payload: entry(400, 'The body is not a list of enhanced transactions. Select the enhanced webhook at the provider.'),
  invalid_state: entry(400, 'The sign-in state belongs to another browser, has expired, or was used. Start the sign-in again.'),
  invalid_product_type: entry(400, 'The product_type is not supported. Send api, link, telegram or discord.'),
  invalid_authorization: entry(
    401,
    'The credential is missing or not valid. Send an API key (svc_…) in X-Svc-Key, or a session token in Authorization: Bearer.',
  ),
  invalid_credentials: entry(401, 'The email address or the password is wrong.'),
  factor_required: entry(401, 'The sign-in needs a second factor. Send meta.ticket with one of meta.methods to POST /v1/auth/factor.'),
  connector_secret_invalid: entry(401, 'The connector secret is missing or wrong. Send it in X-Svc-Connector-Secret.'),
  webhook_signature_failed: entry(401, 'The signature does not match the raw body. Check the shared secret and sign the exact bytes.'),
  payment_required: entry(402, 'Pay the challenge in the PAYMENT-REQUIRED header, then repeat the request with PAYMENT-SIGNATURE.'),
  handoff_secret_mismatch: entry(403, 'The hand-off token was not issued by this deployment. Create a new hand-off.'),
  account_suspended: entry(403, 'The account is suspended. Contact the operator.'),
  account_deleted: entry(403, 'The account is deleted. Register a new one.'),
  admin_requires_staff: entry(403, 'Only staff may create a key with the admin permission. Request read or execute.'),
  entitlement_missing: entry(403, 'The customer has no units left. Answer 402 with the PAYMENT-REQUIRED header of this response.'),
  subscription_expired: entry(403, 'The customer’s paid time has ended. Answer 402 with the PAYMENT-REQUIRED header of this response.'),
  spend_limit_exceeded: entry(403, 'The payment exceeds the spend limits of the setup. Raise spend_limits in the manifest.'),
  not_found: entry(404, 'The object does not exist, or belongs to another account or mode. Check the id and the credential.'),
  method_not_allowed: entry(405, 'The path does not support this method. Use one of the methods in Allow.'),
  email_registered: entry(409, 'An account has, or had before it was deleted, this email address. Use another address.'),
  payment_transaction_conflict: entry(409, 'Another transaction has already paid this payment. Read the payment.'),
  payment_failed: entry(409, 'The payment did not complete. Start a new one.'),
  ticket_closed: entry(409, 'The ticket is closed. Open a new one.'),
  idempotency_in_progress: entry(409, 'The same request is still being processed. Retry with the same key.', { retryable: true }),
  idempotency_conflict: entry(409, 'The Idempotency-Key was used with a different request. Send a new key.'),
  idempotency_race: entry(409, 'A concurrent request with this key is not readable yet. Retry with the same key.', { retryable: true }),
  setup_not_ready: entry(409, 'The account or the product is not ready for this call. Call meta.fix, or check readiness.'),
  duplicate_settlement: entry(
    409,
    'The payment was already used for another purchase. Check that purchase before you pay a new challenge.',
  ),
  subscription_cancelled: entry(409, 'The subscription is cancelled. Access continues until the end of the paid time.'),
  subscription_requires_reapproval: entry(409, 'The subscription cannot be collected. The buyer must approve it again.'),
  state_conflict: entry(409, 'The state of the object does not allow this call. Read the object first.'),
  session_expired: entry(410, 'The checkout session has expired. Start a new one, and do not sign the old transaction.'),
  handoff_expired: entry(410, 'The hand-off was used or has expired. Create a new one.'),
  channel_closed: entry(410, 'The session and its payment channel are closed. Open a new session.'),
  identity_expired: entry(410, 'The identity session has expired. Start a new one.'),
  link_expired: entry(410, 'The link was used, withdrawn or has expired. Ask for a new one.'),
  payload_too_large: entry(
    413,
    `The body is larger than ${BODY_KB.usual} KB. A provider’s webhook may have ${BODY_KB.provider} KB, a manifest and invoice metadata ${BODY_KB.long / 1024} MB.`,
  ),
  unsupported_media_type: entry(415, 'The body is not JSON. Send it as application/json.'),
  validation_error: entry(422, 'The request is not valid. Correct the listed fields.'),
  unknown_field: entry(422, 'The body or the query has an unknown field. Check its spelling.'),
  no_change: entry(422, 'The request changes nothing. Send at least one new value.'),
  password_too_short: entry(422, 'A password has 8 to 128 characters.'),
  password_too_common: entry(422, 'The password is among the commonest ones. Choose another.'),
  invalid_permissions: entry(422, 'The permissions are not valid. Send a non-empty list of read, execute and admin.'),
  identity_verification_required: entry(422, 'The buyer’s identity is not proven. Start an identity check, then connect again.'),
  invalid_wallet_address: entry(422, 'The address is not a Solana wallet. Copy the address that the wallet shows.'),
  payment_mismatch: entry(422, 'The transaction does not pay this session. Check the transaction.'),
  rate_limited: entry(429, 'Too many requests. Wait for Retry-After seconds.', { retryable: true }),
  plan_limit_reached: entry(429, 'The plan’s limit is reached. Remove an object or upgrade.'),
  payer_limit_reached: entry(
    429,
    'This payment would exceed the daily limit of its payer for this product. Payments are accepted again tomorrow (UTC).',
  ),
  internal_error: entry(500, 'The service failed. Retry, or send the request id to the operator.', { retryable: true }),
  misconfigured: entry(503, 'The deployment is not fully configured, and nothing was done. Contact the operator.'),
  billing_not_configured: entry(503, 'Card payments are not configured on this deployment. Pay by x402.'),
  oauth_not_configured: entry(503, 'This sign-in provider is not configured on this deployment. Use another one.'),
  fee_wallet_missing: entry(503, 'The operator configured a service fee without a fee wallet. Contact the operator.'),
  mail_not_configured: entry(503, 'Email is not configured on this deployment. Contact the operator.'),
  handoff_not_configured: entry(503, 'This feature is not configured on this deployment. Contact the operator.'),
  price_unavailable: entry(503, 'The SOL price source is unavailable. Retry in a minute, or pay in the price’s own asset.', {
    retryable: true,
  }),
  rpc_unavailable: entry(503, 'The Solana node does not respond. Nothing was lost. Retry.', { retryable: true }),
  temporarily_unavailable: entry(503, 'The service is temporarily unavailable. Retry.', { retryable: true }),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;
export type ErrorStatus = ErrorEntry['status'];

const LISTED = ['validation_error', 'unknown_field'] as const satisfies ErrorCode[];
/** Code with a list of problems in `detail`. */
export type ListedCode = (typeof LISTED)[number];
export const isListed = (code: ErrorCode): code is ListedCode => (LISTED as readonly ErrorCode[]).includes(code);

/** Page that explains a code. */
export const docsUrl = (baseUrl: string, code: ErrorCode): string => `${baseUrl}/docs/errors/${code}`;

export interface ValidationProblem {
  loc: (string | number)[];
  msg: string;
  type: string;
  ctx?: { nearest?: string };
}

interface ApiErrorOptions {
  detail?: string;
  /** For validation_error and unknown_field: becomes the list in `detail`. */
  problems?: ValidationProblem[];
  meta?: Record<string, unknown>;
  /** Overrides the status of a code with two: invalid_authorization is 401 for a bad credential and 403 for a missing permission. */
  status?: ErrorStatus;
  retryable?: boolean;
  retryAfterSeconds?: number;
  headers?: Record<string, string>;
  /** With not_found: answers like an unknown path, because the object's existence is secret. */
  hidesPath?: true;
}

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

export function raise(code: ErrorCode, options?: ApiErrorOptions): never {
  throw new ApiError(code, options);
}

const FREED_BY = { products: 'Archive one', keys: 'Revoke one', 'webhook endpoints': 'Disable one' };

/** Error 429 plan_limit_reached with the limit, the usage and how to free capacity. */
export const planFull = (what: keyof typeof FREED_BY, meta: { limit: number; used: number; plan: string }): ApiError =>
  new ApiError('plan_limit_reached', {
    detail: `The plan ${meta.plan} allows ${meta.limit} active ${what} per mode, and ${meta.used} are active. ${FREED_BY[what]}, or upgrade.`,
    meta,
  });

export const sessionEnded = (): ApiError =>
  new ApiError('invalid_authorization', { detail: 'The session has ended. Sign in again.', meta: { reason: 'session_ended' } });

export const notAMember = (): ApiError =>
  new ApiError('invalid_authorization', {
    detail: 'You are not a member of the account. Sign in again.',
    meta: { reason: 'not_a_member' },
  });

const OVERLOAD_SECONDS = { least: 2, spread: 8 };

/**
 * 503 for work refused because too much runs at once. Retry-After is random within some seconds, so that callers do not return together.
 */
export function overloaded(): ApiError {
  const { least, spread } = OVERLOAD_SECONDS;
  const retryAfterSeconds = least + (crypto.getRandomValues(new Uint8Array(1))[0]! % spread);
  return new ApiError('temporarily_unavailable', { retryAfterSeconds });
}

export const isOverloaded = (error: unknown): boolean =>
  error instanceof Error && (error as Error & { overloaded?: boolean }).overloaded === true;

/**
 * 503 for a Durable Object that did not answer, whether or not the call arrived. An overloaded object must not be retried here. Any other
 * may be retried at once.
 */
export function objectAway(error: unknown): ApiError {
  return isOverloaded(error) ? overloaded() : new ApiError('temporarily_unavailable', { retryAfterSeconds: 1 });
}

/** Throws if an invariant of the code is broken: a bug, answered 500, never the caller's fault. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`);
}

/** Formats an error for the log: name and message of the error and its causes, without the values that a database driver adds. */
export function formatErrorChain(error: unknown): string {
  if (!(error instanceof Error)) return String(error).slice(0, 200);
  const text = `${error.name}: ${error.message}`.split(/\n?params:/)[0]!.slice(0, 240);
  return error.cause === undefined ? text : `${text} <- ${formatErrorChain(error.cause)}`.slice(0, 480);
}

export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}

export type Result<T, R extends string> = { ok: true; value: T } | { ok: false; reason: R };
export const ok = <T>(value: T): { ok: true; value: T } => ({ ok: true, value });
export const err = <R extends string>(reason: R): { ok: false; reason: R } => ({ ok: false, reason });
