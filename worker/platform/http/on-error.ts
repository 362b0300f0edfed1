import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { ApiError, docsUrl, ERRORS, formatErrorChain, objectAway } from '#core/errors.ts';
import type { Ctx } from '#platform/context.ts';
import type { AppEnv } from './openapi.ts';

/**
 * Converts any error to the error format. Details of a bug go only to the log, the caller gets the request id. No context exists if the
 * configuration is invalid.
 */
export function onError(error: Error, c: Context<AppEnv>): Response {
  const failure = toApiError(error, c);
  const baseUrl = (c.var.ctx as Ctx | undefined)?.baseUrl ?? new URL(c.req.url).origin;
  const { options, code } = failure;
  c.set('errorCode', code);
  for (const [name, value] of Object.entries(options.headers ?? {})) c.header(name, value);
  if (options.retryAfterSeconds !== undefined) c.header('Retry-After', String(Math.max(1, Math.ceil(options.retryAfterSeconds))));
  return c.json(
    {
      detail: options.problems ?? failure.message,
      code,
      request_id: c.var.requestId,
      docs_url: docsUrl(baseUrl, code),
      retryable: options.retryable ?? ERRORS[code].retryable,
      meta: options.meta ?? {},
    },
    failure.status,
  );
}

/** The platform sets these flags if an object is unreachable, restarting or overloaded. */
const isObjectAway = (error: Error & { retryable?: boolean; overloaded?: boolean }): boolean =>
  error.retryable === true || error.overloaded === true;

/** Any failure of a request without time left is reported as a timeout. */
const isOutOfTime = ({ status, code }: ApiError, c: Context<AppEnv>): boolean =>
  status === 503 && ERRORS[code].retryable && c.var.ctx.leftMs() === 0;

function toApiError(error: Error, c: Context<AppEnv>): ApiError {
  // The schema check of a database fails inside of a query.
  if (error.cause instanceof ApiError) return error.cause;
  if (error instanceof ApiError) return isOutOfTime(error, c) ? new ApiError('temporarily_unavailable', { retryAfterSeconds: 1 }) : error;
  if (error instanceof HTTPException && error.status === 400) {
    return new ApiError('validation_error', { problems: [{ loc: ['body'], msg: 'The body is not valid JSON', type: 'json_invalid' }] });
  }
  // An empty body with another content type passes to the route's parser.
  if (error instanceof HTTPException && error.status === 415) return new ApiError('unsupported_media_type');
  const errorText = formatErrorChain(error);
  c.var.ctx.note(errorText);
  // An outage of the database or an object is transient, not a bug.
  if (isObjectAway(error)) return objectAway(error);
  if (/D1_ERROR|Failed query/.test(errorText)) return new ApiError('temporarily_unavailable', { retryAfterSeconds: 1 });
  return new ApiError('internal_error');
}
